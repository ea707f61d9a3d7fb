// A hash table with linear probing: look from hash % n_slots on until the key or a free slot. It is
// at most half full, so a free slot always comes, and soon.
#include "common/table.h"

#include <string.h>
#include <xxhash.h>

// A power of two, at least twice max_entries; 0 when there is none.
static size_t slot_count(size_t max_entries) {
    size_t n_slots = 2;
    while (n_slots / 2 < max_entries) {
        if (n_slots > SIZE_MAX / 2) return 0;
        n_slots *= 2;
    }
    return n_slots;
}

size_t table_bytes(size_t max_entries) {
    size_t n_slots = slot_count(max_entries);
    if (n_slots == 0 || n_slots > (SIZE_MAX - ARENA_ALIGN) / sizeof(struct table_slot))
        return SIZE_MAX;
    return arena_bytes(n_slots, sizeof(struct table_slot));
}

enum status table_init(struct table *t, struct arena *arena, size_t max_entries,
                       struct error *err) {
    *t = (struct table){0};
    size_t n_slots = slot_count(max_entries);
    struct table_slot *slots =
        n_slots ? ARENA_NEW(arena, struct table_slot, n_slots) : NULL;
    if (!slots)
        return error_set(err, ERR_MEMORY, "a table of %zu entries does not fit in memory",
                         max_entries);

    *t = (struct table){.slots = slots, .n_slots = n_slots, .max_entries = max_entries};
    t->seed = (uint64_t)(uintptr_t)slots; // nobody outside knows where the system put it
    return OK;
}

// The slot that holds the key, or the free one where it belongs.
static struct table_slot *find_slot(const struct table *t, const void *key,
                                    size_t key_bytes) {
    size_t mask = t->n_slots - 1;
    size_t i = (size_t)XXH3_64bits_withSeed(key, key_bytes, t->seed) & mask;
    while (t->slots[i].key) {
        const struct table_slot *slot = &t->slots[i];
        if (slot->key_bytes == key_bytes && memcmp(slot->key, key, key_bytes) == 0) break;
        i = (i + 1) & mask;
    }
    return &t->slots[i];
}

bool table_put(struct table *t, const void *key, size_t key_bytes, uint32_t value) {
    if (t->n_entries == t->max_entries || key_bytes > UINT32_MAX) return false;
    if (key_bytes == 0) key = ""; // NULL would mark the slot as free
    struct table_slot *slot = find_slot(t, key, key_bytes);
    if (slot->key) return false;
    *slot = (struct table_slot){key, (uint32_t)key_bytes, value};
    t->n_entries++;
    return true;
}

bool table_get(const struct table *t, const void *key, size_t key_bytes, uint32_t *value) {
    if (t->n_entries == 0) return false;
    if (key_bytes == 0) key = "";
    const struct table_slot *slot = find_slot(t, key, key_bytes);
    if (!slot->key) return false;
    if (value) *value = slot->value;
    return true;
}
