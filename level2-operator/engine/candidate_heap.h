// Tokens that may come next, kept so that the best is always at hand and the rest is never
// sorted: the best 40 of 49,152 cost less than 100,000 comparisons, a full sort about 700,000.
//
//   | taken, best first |  heap, standing on its head  |
//   0                n_taken       ... children  root  n
#ifndef LEVEL2_CANDIDATE_HEAP_H
#define LEVEL2_CANDIDATE_HEAP_H

#include "common/token.h"

struct candidate {
    token_id token;
    float logit;   // decides who is better; equals: the smaller id
    double weight; // its part of the sum of all weights is its probability
};

// c[0 .. n) becomes a heap.
void candidate_heap_build(struct candidate *c, int n);

// Moves the best of the heap c[n_taken .. n) to c[n_taken]; the rest, from n_taken + 1 on,
// is a heap again. n_taken < n.
void candidate_heap_take(struct candidate *c, int n_taken, int n);

#endif
