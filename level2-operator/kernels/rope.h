// Rotary position embedding: a position is written into a head by turning pairs of its
// elements, the first pair fast, the last one slowly. A dot product of two turned heads then
// knows only how far apart they stand. A pair (a, b) that turns by an angle becomes
//
//   a' = a cos(angle) - b sin(angle)
//   b' = a sin(angle) + b cos(angle)
//
// Su et al. 2021, arXiv:2104.09864, eq. 34.
#ifndef LEVEL2_ROPE_H
#define LEVEL2_ROPE_H

// Which two elements of a head are pair i, 0 <= i < d_head / 2.
enum rope_pairing {
    ROPE_NEIGHBOURS, // (2i, 2i + 1)         | a0 b0 | a1 b1 | a2 b2 | ...
    ROPE_HALVES      // (i, i + d_head / 2)  | a0 a1 a2 ... | b0 b1 b2 ... |
};

// freq[i] = base^(-2i / d_head), the radians that pair i turns per position. Computed in
// double and rounded to float once. d_head is even, base > 0.
void rope_frequencies(float *freq, // (d_head / 2)  out
                      int d_head, float base);

// Turns every head of one token in place, all by the same angles: pair i by
// position * freq[i], for whatever freq holds (models with a long context stretch it).
// Angle, sine and cosine are in double, because in float the result is off by more than
// 1e-6 at position 100 already; the products may be in float. A head alone gets the same
// bits as among others. position >= 0, n_heads >= 0, d_head is even.
void rope(float *x,          // (n_heads, d_head)  in and out
          const float *freq, // (d_head / 2)
          int position, int n_heads, int d_head, enum rope_pairing pairing);

#endif
