// Writes what gguf.c reads, and shares no line with it.
#include "tests/support/gguf_file.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mapped_file.h"

static void *grow(void *old, size_t n) {
    void *p = realloc(old, n ? n : 1);
    ck_assert_msg(p != NULL, "no memory for a test file of %zu bytes", n);
    return p;
}

static char *copy_text(const char *text, size_t n) {
    char *copy = grow(NULL, n + 1);
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

// ---- byte by byte -------------------------------------------------------------------------------

void put_raw(struct bytes *b, const void *data, size_t n) {
    if (n == 0) return;
    b->data = grow(b->data, b->n + n);
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static void put_number(struct bytes *b, uint64_t x, int n_bytes) {
    unsigned char le[8];
    for (int i = 0; i < n_bytes; i++) le[i] = (unsigned char)(x >> (8 * i));
    put_raw(b, le, (size_t)n_bytes);
}

void put_u8(struct bytes *b, unsigned x) {
    put_number(b, x, 1);
}

void put_u32(struct bytes *b, uint32_t x) {
    put_number(b, x, 4);
}

void put_u64(struct bytes *b, uint64_t x) {
    put_number(b, x, 8);
}

void put_f32(struct bytes *b, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    put_u32(b, bits);
}

void put_string(struct bytes *b, const char *s) {
    put_u64(b, strlen(s));
    put_raw(b, s, strlen(s));
}

void put_header(struct bytes *b, uint32_t version, uint64_t n_tensors, uint64_t n_keys) {
    put_raw(b, "GGUF", 4);
    put_u32(b, version);
    put_u64(b, n_tensors);
    put_u64(b, n_keys);
}

void put_padding(struct bytes *b, size_t alignment) {
    while (b->n % alignment) put_u8(b, 0);
}

void put_only_key(struct bytes *b, const char *name, uint32_t type) {
    put_header(b, 3, 0, 1);
    put_string(b, name);
    put_u32(b, type);
}

void put_tensor(struct bytes *b, const char *name, uint32_t n_dims, const uint64_t *dims,
                uint32_t type, uint64_t offset) {
    put_string(b, name);
    put_u32(b, n_dims);
    for (uint32_t i = 0; i < n_dims; i++) put_u64(b, dims[i]);
    put_u32(b, type);
    put_u64(b, offset);
}

void bytes_free(struct bytes *b) {
    free(b->data);
    *b = (struct bytes){0};
}

struct bytes bytes_of_file(const char *path) {
    struct mapped_file file;
    struct error err;
    struct bytes b = {0};
    ck_assert_msg(mapped_file_open(&file, path, &err) == OK, "%s", err.text);
    put_raw(&b, file.bytes, file.n_bytes);
    mapped_file_close(&file);
    return b;
}

// ---- as lists -----------------------------------------------------------------------------------

static struct file_key *find_key(struct gguf_file *f, const char *name) {
    for (size_t i = 0; i < f->n_keys; i++)
        if (strcmp(f->keys[i].name, name) == 0) return &f->keys[i];
    return NULL;
}

// Empties the key, or adds an empty one.
static struct bytes *clear_key(struct gguf_file *f, const char *name) {
    struct file_key *key = find_key(f, name);
    if (!key) {
        f->keys = grow(f->keys, (f->n_keys + 1) * sizeof(*f->keys));
        key = &f->keys[f->n_keys++];
        *key = (struct file_key){.name = copy_text(name, strlen(name))};
    }
    bytes_free(&key->value);
    return &key->value;
}

void file_set(struct gguf_file *f, const char *name, enum gguf_type type, const void *value,
              size_t n) {
    struct bytes *b = clear_key(f, name);
    put_u32(b, type);
    put_raw(b, value, n);
}

void file_set_u32(struct gguf_file *f, const char *name, uint32_t x) {
    struct bytes *b = clear_key(f, name);
    put_u32(b, GGUF_U32);
    put_u32(b, x);
}

void file_set_f32(struct gguf_file *f, const char *name, float x) {
    struct bytes *b = clear_key(f, name);
    put_u32(b, GGUF_F32);
    put_f32(b, x);
}

void file_set_string(struct gguf_file *f, const char *name, const char *s) {
    struct bytes *b = clear_key(f, name);
    put_u32(b, GGUF_STRING);
    put_string(b, s);
}

void file_set_array(struct gguf_file *f, const char *name, enum gguf_type item_type,
                    uint64_t n_items, const void *items, size_t n) {
    struct bytes *b = clear_key(f, name);
    put_u32(b, GGUF_ARRAY);
    put_u32(b, item_type);
    put_u64(b, n_items);
    put_raw(b, items, n);
}

void file_drop(struct gguf_file *f, const char *name) {
    struct file_key *key = find_key(f, name);
    ck_assert_msg(key != NULL, "the test file has no key %s", name);
    free(key->name);
    bytes_free(&key->value);
    *key = f->keys[--f->n_keys];
}

struct file_tensor *file_tensor(struct gguf_file *f, const char *name) {
    for (size_t i = 0; i < f->n_tensors; i++)
        if (strcmp(f->tensors[i].name, name) == 0) return &f->tensors[i];
    return NULL;
}

struct file_tensor *file_add_tensor(struct gguf_file *f, const char *name) {
    f->tensors = grow(f->tensors, (f->n_tensors + 1) * sizeof(*f->tensors));
    struct file_tensor *t = &f->tensors[f->n_tensors++];
    *t = (struct file_tensor){.name = copy_text(name, strlen(name))};
    return t;
}

void file_copy_tensor(struct gguf_file *f, const char *from, const char *to) {
    struct file_tensor *copy = file_add_tensor(f, to); // may move the others
    const struct file_tensor *t = file_tensor(f, from);
    ck_assert_ptr_nonnull(t);
    copy->type = t->type;
    copy->n_dims = t->n_dims;
    memcpy(copy->dim, t->dim, sizeof(copy->dim));
    put_raw(&copy->data, t->data.data, t->data.n);
}

void file_drop_tensor(struct gguf_file *f, const char *name) {
    struct file_tensor *t = file_tensor(f, name);
    ck_assert_msg(t != NULL, "the test file has no tensor %s", name);
    free(t->name);
    bytes_free(&t->data);
    *t = f->tensors[--f->n_tensors];
}

static void load_key(struct gguf_file *f, const struct gguf_key *key) {
    char *name = copy_text(key->name.bytes, (size_t)key->name.n_bytes);
    const struct gguf_value *v = &key->value;
    if (v->type == GGUF_ARRAY) {
        file_set_array(f, name, v->item_type, v->n_items, v->bytes, (size_t)v->n_bytes);
    } else {
        file_set(f, name, v->type, v->bytes, (size_t)v->n_bytes);
    }
    free(name);
}

static void load_tensor(struct gguf_file *f, const struct gguf_tensor *tensor) {
    char *name = copy_text(tensor->name.bytes, (size_t)tensor->name.n_bytes);
    struct file_tensor *t = file_add_tensor(f, name);
    t->type = dtype_info(tensor->view.dtype)->gguf_type;
    t->n_dims = (uint32_t)tensor->view.n_dims;
    memcpy(t->dim, tensor->view.dim, sizeof(t->dim));
    put_raw(&t->data, tensor->view.data, (size_t)tensor->view.n_bytes);
    free(name);
}

void file_load(struct gguf_file *f, const char *path) {
    struct bytes b = bytes_of_file(path);
    struct arena arena;
    struct error err;
    struct gguf g;

    *f = (struct gguf_file){0};
    arena_init(&arena, 1 << 20);
    ck_assert_msg(gguf_parse(&g, b.data, b.n, path, &arena, &err) == OK, "%s", err.text);
    for (uint64_t i = 0; i < g.n_keys; i++) load_key(f, &g.keys[i]);
    for (uint64_t i = 0; i < g.n_tensors; i++) load_tensor(f, &g.tensors[i]);
    arena_free(&arena);
    bytes_free(&b);
}

void file_free(struct gguf_file *f) {
    while (f->n_keys) file_drop(f, f->keys[0].name);
    while (f->n_tensors) file_drop_tensor(f, f->tensors[0].name);
    free(f->keys);
    free(f->tensors);
    *f = (struct gguf_file){0};
}

static void put_tensor_data(struct bytes *b, const struct gguf_file *f, size_t alignment) {
    for (size_t i = 0; i < f->n_tensors; i++) {
        put_padding(b, alignment);
        put_raw(b, f->tensors[i].data.data, f->tensors[i].data.n);
    }
}

struct bytes file_bytes(const struct gguf_file *f) {
    size_t alignment = f->alignment ? f->alignment : 32;
    uint64_t offset = 0;
    struct bytes b = {0}, data = {0};

    put_header(&b, 3, f->n_tensors, f->n_keys + (f->alignment != 0));
    if (f->alignment) {
        put_string(&b, "general.alignment");
        put_u32(&b, GGUF_U32);
        put_u32(&b, (uint32_t)f->alignment);
    }
    for (size_t i = 0; i < f->n_keys; i++) {
        put_string(&b, f->keys[i].name);
        put_raw(&b, f->keys[i].value.data, f->keys[i].value.n);
    }
    for (size_t i = 0; i < f->n_tensors; i++) {
        const struct file_tensor *t = &f->tensors[i];
        put_string(&b, t->name);
        put_u32(&b, t->n_dims);
        for (uint32_t d = 0; d < t->n_dims; d++) put_u64(&b, t->dim[d]);
        put_u32(&b, t->type);
        put_u64(&b, offset);
        offset = (offset + t->data.n + alignment - 1) / alignment * alignment;
    }
    put_padding(&b, alignment);
    put_tensor_data(&data, f, alignment);
    put_raw(&b, data.data, data.n);
    bytes_free(&data);
    return b;
}
