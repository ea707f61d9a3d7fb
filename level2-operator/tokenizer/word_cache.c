// One entry for each hash, no search: a text made so that all its words collide loses the cache's
// help and no more.
#include "level2-operator/tokenizer/word_cache.h"

#include <string.h>
#include <xxhash.h>

enum {
    MIN_ENTRIES = 64,  // below this the words of a text hardly repeat
    MAX_ENTRIES = 8192 // 512 KiB: what a core's cache holds
};

_Static_assert(sizeof(struct cached_word) == 64, "a cached word is one cache line");

bool word_cache_init(struct word_cache *c, size_t n_text, struct arena *arena) {
    size_t n_entries = MIN_ENTRIES;
    *c = (struct word_cache){0};
    if (n_text < MIN_ENTRIES * sizeof(struct cached_word)) return true;
    while (n_entries < MAX_ENTRIES && 2 * n_entries * sizeof(struct cached_word) <= n_text)
        n_entries *= 2;
    c->entries = ARENA_NEW(arena, struct cached_word, n_entries);
    if (c->entries) c->n_entries = n_entries;
    return c->entries != NULL;
}

static struct cached_word *entry_of(const struct word_cache *c, const char *word,
                                    size_t n_bytes) {
    return &c->entries[XXH3_64bits(word, n_bytes) & (c->n_entries - 1)];
}

int word_cache_get(const struct word_cache *c, const char *word, size_t n_bytes,
                   token_id *ids) {
    if (!c->entries || n_bytes > WORD_CACHE_BYTES) return 0;
    const struct cached_word *e = entry_of(c, word, n_bytes);
    if (e->n_bytes != n_bytes || memcmp(e->bytes, word, n_bytes) != 0) return 0;
    memcpy(ids, e->ids, e->n_ids * sizeof(*ids));
    return e->n_ids;
}

void word_cache_put(struct word_cache *c, const char *word, size_t n_bytes,
                    const token_id *ids, int n_ids) {
    if (!c->entries || n_bytes > WORD_CACHE_BYTES || n_ids > WORD_CACHE_IDS) return;
    struct cached_word *e = entry_of(c, word, n_bytes);
    e->n_bytes = (uint8_t)n_bytes;
    e->n_ids = (uint8_t)n_ids;
    memcpy(e->bytes, word, n_bytes);
    memcpy(e->ids, ids, (size_t)n_ids * sizeof(*ids));
}
