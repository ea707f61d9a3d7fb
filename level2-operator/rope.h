// Rotary position embedding: pair i of a head turns by position * base^(-2i / d_head). A pair (a, b)
// that turns by an angle becomes
//
//   a' = a cos(angle) - b sin(angle)
//   b' = a sin(angle) + b cos(angle)
//
// Su et al. 2021, arXiv:2104.09864, eq. 34. An exercise: solutions/level2-operator/rope.c.
#ifndef LEVEL2_ROPE_H
#define LEVEL2_ROPE_H

#include "level2-operator/config.h"

// freq[i] = base^(-2i / d_head), 0 <= i < d_head / 2; computed in double.
void rope_frequencies(float *freq, // (d_head / 2)  out
                      int d_head, float base);

// Turns every head of one token in place, all by the same angles. The angle of pair i is
// position * freq[i]; angle, sine and cosine are in double, because in float the result is off by
// more than 1e-6 at position 100 already. A head alone gets the same bits as among others.
//   ROPE_NEIGHBOURS: pairs (2i, 2i + 1)      ROPE_HALVES: pairs (i, i + d_head / 2)
void rope(float *x,          // (n_heads, d_head)  in and out
          const float *freq, // (d_head / 2)
          int position, int n_heads, int d_head, enum rope_pairing pairing);

#endif
