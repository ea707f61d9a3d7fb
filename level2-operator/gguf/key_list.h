// Metadata made in memory, as a GGUF file would hold it: for models whose own files say it otherwise.
// Each key is given once; a failure (no memory, too many) is remembered and asked for once, at the end.
#ifndef LEVEL2_KEY_LIST_H
#define LEVEL2_KEY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "level2-operator/gguf/gguf.h"

struct key_list {
    // borrowed
    struct arena *arena;
    // owned by the arena
    struct gguf_key *keys; // (max_keys)
    uint64_t n_keys, max_keys;
    bool failed;
};

// Room for max_keys: a file's own number, or what its reader has names for.
void key_list_init(struct key_list *l, uint64_t max_keys, struct arena *arena);

// name and spelled (struct gguf_key) are copied. spelled may be NULL.
void key_list_u64(struct key_list *l, const char *name, uint64_t x, const char *spelled);
void key_list_f64(struct key_list *l, const char *name, double x, const char *spelled);
void key_list_bool(struct key_list *l, const char *name, bool x, const char *spelled);
void key_list_string(struct key_list *l, const char *name, const char *text, size_t n_bytes,
                     const char *spelled);

// An array whose items are written by the caller, as the file format has them (gguf.h): n_items of
// item_type in n_bytes.
void key_list_array(struct key_list *l, const char *name, enum gguf_type item_type,
                    uint64_t n_items, const unsigned char *items, uint64_t n_bytes,
                    const char *spelled);

// Hands the keys to g, with their table. false: a failure, or a key twice.
bool key_list_finish(struct key_list *l, struct gguf *g);

// A number of n bytes as the format writes it: little-endian.
void store_le(unsigned char *bytes, uint64_t x, int n);

#endif
