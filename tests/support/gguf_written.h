// Keys and tensors with drawn names and values, remembered as they were written into the file of a rig:
// so it is known what must be read from it.
#ifndef TESTS_SUPPORT_GGUF_WRITTEN_H
#define TESTS_SUPPORT_GGUF_WRITTEN_H

#include "tests/support/gguf_rig.h"
#include "tests/support/suite.h"

enum {
    WRITTEN_KEYS = 64,
    WRITTEN_TENSORS = DTYPE_COUNT
}; // a tensor of each type that a file can have

struct written_key {
    char name[NAME_SPACE];
    enum gguf_type type, item_type;
    uint64_t n_items;
    size_t begin, end; // of the items, in the file
};

struct written_tensor {
    char name[NAME_SPACE];
    struct tensor_view view; // without data
    uint64_t offset;
};

struct gguf_written {
    struct gguf_rig *rig; // borrowed
    struct draw draw;
    int n_keys;
    struct written_key keys[WRITTEN_KEYS];
    struct written_tensor tensors[WRITTEN_TENSORS];
};

// A file begins with its header; name is where the draws come from.
struct gguf_written written_start(struct gguf_rig *rig, const char *name,
                                  uint64_t n_tensors, uint64_t n_keys);

// The next key. n_items counts for arrays; the numbers, the strings and the sizes inside are drawn.
void written_add_key(struct gguf_written *w, enum gguf_type type, enum gguf_type item_type,
                     int n_items);

// One tensor of each type, the first of size 1.
void written_add_tensors(struct gguf_written *w, int n_dims);

// What the stage `call` of the rig found is what was written, and it stopped where the file ends.
void assert_keys(const char *call, const struct gguf_written *w);
void assert_tensors(const char *call, const struct gguf_written *w);

#endif
