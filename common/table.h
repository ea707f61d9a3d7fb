// A fixed-capacity hash table from byte strings to 32-bit numbers. Never grows, never moves:
// its memory is taken once from an arena. Open addressing, at most half full, xxhash.
//
// do:    keep the key bytes alive: the table borrows them
// don't: delete; there is no removal
#ifndef COMMON_TABLE_H
#define COMMON_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/status.h"

struct table_slot {
    const void *key; // borrowed
    uint32_t key_bytes;
    uint32_t value;
};

struct table {
    // owned by the arena
    struct table_slot *slots; // (n_slots), a power of two
    unsigned char *marks;     // (n_slots); 0: free, else some bits of the key's hash
    size_t n_slots, n_entries;
    // fixed at init
    size_t max_entries;
    uint64_t seed; // of the hash: a file cannot be made so that all its names collide
};

// Bytes that table_init takes from its arena; SIZE_MAX when no memory could hold it.
size_t table_bytes(size_t max_entries);

enum status table_init(struct table *t, struct arena *arena, size_t max_entries,
                       struct error *err);

// false, and nothing changes, when the key is already there or the table is full.
bool table_put(struct table *t, const void *key, size_t key_bytes, uint32_t value);

// false when the key is not there; value may be NULL. Safe on a zeroed table.
bool table_get(const struct table *t, const void *key, size_t key_bytes, uint32_t *value);

#endif
