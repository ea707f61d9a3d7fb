// SentencePiece's byte-pair encoding: start with single characters, then always merge the neighbours
// whose joined text is the token with the highest score, the leftmost of equals, until no two join.
// Kudo & Richardson 2018, arXiv:1808.06226. Unlike bpe.h there is no list of merges: the vocabulary
// itself says what joins. "▁" in it is a space here already.
//
//   " the cat"   ──spm_next──▶ " the" | " cat"   ──spm_encode──▶   ids
//
// O(n log n): a heap of candidates, stale ones skipped, as in bpe.h.
//
// do:    cut a text by spm_next first: no merge reaches over a cut, and short words can be cached
// don't: allocate, or keep anything between two words
#ifndef LEVEL2_SPM_H
#define LEVEL2_SPM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"
#include "common/token.h"

struct spm {
    struct table by_text;     // the text of a normal token -> id
    uint32_t *ranks;          // (n_vocab); merged first: the lowest. See spm_rank
    token_id byte_token[256]; // what spells a byte of an unknown character; -1: none
    token_id unknown; // stands for a run of characters that nothing spells; -1: dropped
    bool joins_space[256]; // bytes that some token has in front of a space
};

// One link of the chain that a word is while it merges.
struct spm_symbol {
    uint32_t begin, n_bytes; // in the word
    int prev, next;          // positions in the chain, -1: none
    token_id id;             // what it was merged to; -1: still a character
    token_id joined;         // what it makes with the next one; -1: nothing
};

// Room for one word; see bpe_work.
struct spm_work {
    struct spm_symbol *symbols; // (max_symbols)
    uint64_t *candidates;       // (2 * max_symbols): the heap
    size_t max_symbols;
};

// The byte that a token spells: "<0x0A>" is 10. -1: not spelled so.
int spm_byte_of(const char *text, size_t n_bytes);

// Numbers in the opposite order of scores: the highest score has the lowest rank. NaN has none.
uint32_t spm_rank(float score);

// Where the first part of text ends that merges cannot leave: n_bytes, or before a space.
size_t spm_next(const struct spm *s, const char *text, size_t n_bytes);

// The characters of a word: the symbols that it starts as. A byte that is no UTF-8 is one of its own.
size_t spm_count(const char *word, size_t n_bytes);

// Ids of the word, at most n_bytes of them; returns how many. word may hold any bytes; its characters
// fit work->max_symbols, n_bytes is below INT_MAX / 2.
int spm_encode(const struct spm *s, const char *word, size_t n_bytes,
               token_id *ids, // (n_bytes)  out
               struct spm_work *work);

#endif
