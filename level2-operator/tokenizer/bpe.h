// Byte-pair encoding of one word: start with single symbols, then always merge the
// neighbouring pair with the lowest rank, the leftmost of equals, until no pair is in the list.
// Sennrich et al. 2016, arXiv:1508.07909; byte-level variant of Radford et al. 2019.
//
// O(n log n): a heap of candidate pairs, stale ones skipped. A word of 200,000 letters takes
// little more than twice as long as one of 100,000, not four times: a word is as long as its
// sender likes, and a server must not stand still for it.
//
// do:    use one struct bpe for many words at once, each with its own work
// don't: allocate, or keep anything between two words
#ifndef LEVEL2_BPE_H
#define LEVEL2_BPE_H

#include <stddef.h>
#include <stdint.h>

#include "common/table.h"
#include "common/token.h"

struct bpe_merge {
    token_id left, right; // the key in the table
    token_id merged;      // two merges may make the same token
};

struct bpe {
    struct bpe_merge *merges; // (n_merges); index = rank, 0 is merged first
    int n_merges;
    struct table pairs;       // key: two token_id in a row, left and right -> rank
    token_id byte_token[256]; // the single symbol of each byte, -1: the vocabulary lacks it
};

// One link of the chain that a word is while it merges.
struct bpe_symbol {
    token_id id;    // -1: merged into its left neighbour
    int prev, next; // positions in the chain, -1: none
};

// Room for one word. The caller sizes it and may use it for one word after the other; what
// stands in it before and after does not matter. Other ways than chain and heap are as right.
struct bpe_work {
    struct bpe_symbol *symbols; // (max_bytes)
    uint64_t *candidates;       // (2 * max_bytes): the heap
    size_t max_bytes;
};

// Ids of the word, at most n_bytes of them; returns how many, 0 for an empty word.
// word may hold any bytes, zero among them; n_bytes <= work->max_bytes, below INT_MAX / 2.
// Bytes without a symbol are dropped first: their neighbours become neighbours.
int bpe_encode(const struct bpe *b, const char *word, size_t n_bytes,
               token_id *ids, // (n_bytes)  out
               struct bpe_work *work);

#endif
