// A GGUF file, versions 2 and 3, from bytes in memory. The bytes are hostile: every length is
// checked against what is left before it is used, and nothing is allocated that the file's own
// size does not justify. The arrays and strings found are views into the file.
//
//   | "GGUF" | version u32 | n_tensors u64 | n_keys u64 |
//   | key: string, type u32, value | ... n_keys
//   | tensor: name string, n_dims u32, dims u64..., type u32, offset u64 | ... n_tensors
//   | padding to alignment | tensor data, each at an aligned offset |
//   string = length u64, bytes. All numbers little-endian.
// Specification: github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// gguf_parse is an exercise: solutions/level2-operator/gguf.c. The rest is in gguf_value.c.
#ifndef LEVEL2_GGUF_H
#define LEVEL2_GGUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/dtype.h"
#include "common/status.h"
#include "common/table.h"

enum gguf_type { // numbers of the format
    GGUF_U8 = 0,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_STRING,
    GGUF_ARRAY,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_TYPE_COUNT
};

struct gguf_string {
    const char *bytes; // into the file, not terminated
    uint64_t n_bytes;
};

struct gguf_value {
    enum gguf_type type;
    enum gguf_type item_type;   // GGUF_ARRAY
    uint64_t n_items;           // GGUF_ARRAY; else 1
    const unsigned char *bytes; // first item, unaligned, into the file
    uint64_t n_bytes;           // of all items
};

struct gguf_key {
    struct gguf_string name;
    struct gguf_value value;
};

struct gguf_tensor {
    struct gguf_string name;
    uint64_t offset;         // of its data, counted from data_offset
    struct tensor_view view; // data points into the file
};

struct gguf {
    const unsigned char *bytes; // the file; borrowed
    uint32_t version;
    uint32_t alignment; // bytes, a power of two
    uint64_t n_keys, n_tensors;
    struct gguf_key *keys;                // (n_keys), file order
    struct gguf_tensor *tensors;          // (n_tensors), file order
    struct table key_table, tensor_table; // name -> index
    uint64_t data_offset;                 // where tensor data begins
};

// Reads header and tables of bytes[0 .. n_bytes). Memory comes from arena; bytes must outlive g.
// name is for messages only. Every error (ERR_FORMAT, ERR_UNSUPPORTED, ERR_LIMIT, ERR_MEMORY) names
// the file, the field and the offset. Refused among others: wrong magic, an HTML page, a key or
// tensor twice, alignment that is not a power of two, a dimension of 0, an unknown type, an offset
// that is not aligned or overlaps, data past the end, any part of a split file. On failure *g is zeroed.
enum status gguf_parse(struct gguf *g, const unsigned char *bytes, size_t n_bytes,
                       const char *name, struct arena *arena, struct error *err);

// NULL when there is none.
const struct gguf_value *gguf_find(const struct gguf *g, const char *key);
const struct gguf_tensor *gguf_find_tensor(const struct gguf *g, const char *name);

// One value as the wanted kind. false: NULL, not of that kind or out of its range. Integers of any
// width convert; a float does not become an integer.
bool gguf_get_u64(const struct gguf_value *v, uint64_t *out);
bool gguf_get_f64(const struct gguf_value *v, double *out); // F32, F64 and integers
bool gguf_get_bool(const struct gguf_value *v, bool *out);
bool gguf_get_string(const struct gguf_value *v, struct gguf_string *out);

// Item i of an array, as a value of its own. false: not an array, or i is past the end. Strings
// have no fixed width: walk them with gguf_next_string.
bool gguf_item(const struct gguf_value *array, uint64_t i, struct gguf_value *item);

// Walks an array of strings: *pos starts at 0. false at the end.
bool gguf_next_string(const struct gguf_value *array, uint64_t *pos,
                      struct gguf_string *out);

const char *gguf_type_name(enum gguf_type t);
int gguf_type_bytes(enum gguf_type t); // of one item; 0: no fixed width (strings, arrays)

#endif
