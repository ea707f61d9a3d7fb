// A hash table with linear probing: look from hash % n_slots on until the key or a free slot. It is
// at most half full, so a free slot always comes, and soon. A tokenizer often looks for what is not
// there: one byte of each key's hash answers nearly all of that, and these bytes lie close together
// where slots and keys are spread over more than a core's cache.
#include "common/table.h"

#include <string.h>
#define XXH_INLINE_ALL // keys are a few bytes: a call costs as much as the hash
#include <xxhash.h>

enum { FREE = 0 };

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
    if (n_slots == 0 || n_slots > SIZE_MAX / (2 * sizeof(struct table_slot)))
        return SIZE_MAX;
    return arena_bytes(n_slots, sizeof(struct table_slot)) + arena_bytes(n_slots, 1);
}

enum status table_init(struct table *t, struct arena *arena, size_t max_entries,
                       struct error *err) {
    *t = (struct table){0};
    size_t n_slots = slot_count(max_entries);
    struct table_slot *slots =
        n_slots ? ARENA_NEW(arena, struct table_slot, n_slots) : NULL;
    unsigned char *marks = slots ? ARENA_NEW(arena, unsigned char, n_slots) : NULL;
    if (!marks)
        return error_set(err, ERR_MEMORY, "a table of %zu entries does not fit in memory",
                         max_entries);

    *t = (struct table){
        .slots = slots, .marks = marks, .n_slots = n_slots, .max_entries = max_entries};
    t->seed = (uint64_t)(uintptr_t)slots; // nobody outside knows where the system put it
    return OK;
}

// Where a key is, or the free slot where it belongs.
struct place {
    size_t i_slot;
    unsigned char mark; // of the key, whether it is there or not
};

static struct place find_place(const struct table *t, const void *key, size_t key_bytes) {
    size_t mask = t->n_slots - 1;
    uint64_t hash = XXH3_64bits_withSeed(key, key_bytes, t->seed);
    unsigned char mark = (unsigned char)(hash >> 56) | 1; // never FREE
    size_t i = (size_t)hash & mask;
    for (; t->marks[i] != FREE; i = (i + 1) & mask) {
        const struct table_slot *slot = &t->slots[i];
        if (t->marks[i] == mark && slot->key_bytes == key_bytes &&
            memcmp(slot->key, key, key_bytes) == 0)
            break;
    }
    return (struct place){i, mark};
}

bool table_put(struct table *t, const void *key, size_t key_bytes, uint32_t value) {
    if (t->n_entries == t->max_entries || key_bytes > UINT32_MAX) return false;
    if (key_bytes == 0) key = ""; // a hash and a comparison want no NULL
    struct place place = find_place(t, key, key_bytes);
    if (t->marks[place.i_slot] != FREE) return false;
    t->marks[place.i_slot] = place.mark;
    t->slots[place.i_slot] = (struct table_slot){key, (uint32_t)key_bytes, value};
    t->n_entries++;
    return true;
}

bool table_get(const struct table *t, const void *key, size_t key_bytes, uint32_t *value) {
    if (t->n_entries == 0) return false;
    if (key_bytes == 0) key = "";
    size_t i_slot = find_place(t, key, key_bytes).i_slot;
    if (t->marks[i_slot] == FREE) return false;
    if (value) *value = t->slots[i_slot].value;
    return true;
}
