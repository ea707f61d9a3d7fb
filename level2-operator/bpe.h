// Byte-pair encoding of one word: start with single symbols, then always merge the neighbouring
// pair with the lowest rank, the leftmost of equals, until no pair is in the list.
// Sennrich et al. 2016, arXiv:1508.07909; byte-level variant of Radford et al. 2019.
//
// O(n log n): a heap of candidate pairs, stale ones skipped. A word of 200,000 letters takes
// twice as long as one of 100,000, not four times.
// An exercise: solutions/level2-operator/bpe.c.
#ifndef LEVEL2_BPE_H
#define LEVEL2_BPE_H

#include "common/arena.h"
#include "common/status.h"
#include "common/table.h"
#include "common/token.h"
#include <stddef.h>

struct bpe_merge {
    token_id left, right; // the key in the table
    token_id merged;
};

struct bpe {
    struct bpe_merge *merges; // (n_merges); index = rank
    int n_merges;
    struct table pairs;       // (left, right) -> rank
    token_id byte_token[256]; // the single symbol of each byte, -1: the vocabulary lacks it
};

// Ids of the word, at most n_bytes of them; returns how many, or -1 when scratch is exhausted.
// Bytes without a symbol are dropped. scratch: see tokenizer.h; given back by the caller.
int bpe_encode(const struct bpe *b, const char *word, size_t n_bytes, token_id *ids,
               struct arena *scratch);

#endif
