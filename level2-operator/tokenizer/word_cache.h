// The ids of words that came before in the same text. Most words of a long text repeat, and looking
// one up costs a tenth of merging it. It changes no result: the ids of a word depend on nothing else.
//
//   hash of the word ──▶ one entry: kept if it is the word, overwritten if it is another
//
// do:    make one per text, sized by it: a short one needs none
// don't: share it between threads
#ifndef LEVEL2_WORD_CACHE_H
#define LEVEL2_WORD_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/token.h"

enum { WORD_CACHE_BYTES = 22, WORD_CACHE_IDS = 10 }; // longer words are not kept

struct cached_word {        // a cache line
    uint8_t n_bytes, n_ids; // n_bytes 0: free
    char bytes[WORD_CACHE_BYTES];
    token_id ids[WORD_CACHE_IDS];
};

struct word_cache {
    struct cached_word *entries; // (n_entries), a power of two; NULL: nothing is kept
    size_t n_entries;
};

// Takes at most n_text bytes from the arena, and none for a short text. false: no memory.
bool word_cache_init(struct word_cache *c, size_t n_text, struct arena *arena);

// Copies the ids of the word to ids; how many, or 0: not known.
int word_cache_get(const struct word_cache *c, const char *word, size_t n_bytes,
                   token_id *ids);

void word_cache_put(struct word_cache *c, const char *word, size_t n_bytes,
                    const token_id *ids, int n_ids);

#endif
