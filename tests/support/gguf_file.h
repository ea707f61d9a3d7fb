// GGUF files for tests, in two ways: byte by byte, for files that are wrong, and as lists of keys and
// tensors that can be changed, for files that are right except for one thing.
#ifndef TESTS_SUPPORT_GGUF_FILE_H
#define TESTS_SUPPORT_GGUF_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "level2-operator/gguf/gguf.h"

// ---- byte by byte. Everything little-endian; memory failure ends the test. ----------------------
struct bytes {
    unsigned char *data; // owned, exactly n bytes, so that ASan sees one read too many
    size_t n;
};

void put_raw(struct bytes *b, const void *data, size_t n);
void put_u8(struct bytes *b, unsigned x);
void put_u32(struct bytes *b, uint32_t x);
void put_u64(struct bytes *b, uint64_t x);
void put_f32(struct bytes *b, float x);
void put_string(struct bytes *b, const char *s); // length, letters
void put_header(struct bytes *b, uint32_t version, uint64_t n_tensors, uint64_t n_keys);
// The header of a file with one key, and the key up to its value.
void put_only_key(struct bytes *b, const char *name, uint32_t type);
// An entry of the tensor table.
void put_tensor(struct bytes *b, const char *name, uint32_t n_dims, const uint64_t *dims,
                uint32_t type, uint64_t offset);
void put_padding(struct bytes *b, size_t alignment);
void bytes_free(struct bytes *b);
struct bytes bytes_of_file(const char *path);

// ---- as lists. ----------------------------------------------------------------------------------
struct file_key {
    char *name;
    struct bytes value; // type number and all that follows
};
struct file_tensor {
    char *name;
    uint32_t type, n_dims;
    uint64_t dim[4];
    struct bytes data;
};
struct gguf_file {
    struct file_key *keys;
    struct file_tensor *tensors;
    size_t n_keys, n_tensors;
    size_t alignment; // 0: 32, and no key says so
};

// All-zero is an empty file. Loads a copy of a good file.
void file_load(struct gguf_file *f, const char *path);
void file_free(struct gguf_file *f);

// A new key, or another value for an old one. value is what follows the type number.
void file_set(struct gguf_file *f, const char *name, enum gguf_type type, const void *value,
              size_t n);
void file_set_u32(struct gguf_file *f, const char *name, uint32_t x);
void file_set_f32(struct gguf_file *f, const char *name, float x);
void file_set_string(struct gguf_file *f, const char *name, const char *s);
void file_set_array(struct gguf_file *f, const char *name, enum gguf_type item_type,
                    uint64_t n_items, const void *items, size_t n);
void file_drop(struct gguf_file *f, const char *name);

// NULL when there is none. A new one has no dimensions and no data yet.
struct file_tensor *file_tensor(struct gguf_file *f, const char *name);
struct file_tensor *file_add_tensor(struct gguf_file *f, const char *name);
void file_copy_tensor(struct gguf_file *f, const char *from, const char *to);
void file_drop_tensor(struct gguf_file *f, const char *name);

// The file, packed as the format asks. The caller frees it.
struct bytes file_bytes(const struct gguf_file *f);

#endif
