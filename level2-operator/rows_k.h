// Rows of K blocks as floats. A block has 256 values in 8 groups g of 32, and two levels of scales: f16
// numbers d and m for the block (low byte first), and for each group small integers that say how much of
// them it gets, a scale s and a minimum t.
//
//   byte     0   1   2   3   4          16                    48                   144        176
//   Q4_K   |   d   |   m   | s and t    | p: 128 bytes                           |
//   Q5_K   |   d   |   m   | s and t    | f: 32 bytes         | p: 128 bytes                  |
//
//   byte     0                 128             192            208     210
//   Q6_K   | p: 128 bytes      | h: 64 bytes   | s: 16 bytes  |   d   |
//
// Value j of group g (0 <= j < 32, 0 <= g < 8) is value 32 * g + j of its block.
//
//   Q4_K     q = 4 bits of p[32 * (g / 2) + j]: the low ones if g is even, else the high ones
//            x = d * s * q - m * t
//   Q5_K     q = the 4 bits of Q4_K, and above them bit g of f[j];  x as in Q4_K
//   Q6_K     q = 4 bits of p[64 * (g / 4) + 32 * (g % 2) + j]: the low ones if g % 4 < 2, else the high
//            ones; and above them 2 bits of h[32 * (g / 4) + j]: bits 2 * (g % 4) and the next
//            x = d * s * (q - 32), and s is a signed byte, one for each 16 values: of value i of the
//            block s[i / 16]
//
// s and t of Q4_K and Q5_K are numbers of 6 bits, 0 to 63, sixteen of them in 12 bytes. The first four
// groups have whole ones; the others lie in two pieces, 2 bits of them above the whole ones:
//
//   byte        bits 7 6    bits 5 4 3 2 1 0            bits 7 6    bits 5 4 3 2 1 0
//   0 .. 3      s[4] high   s[0]           4 .. 7       t[4] high   t[0]
//               ...                                     ...
//               s[7] high   s[3]                        t[7] high   t[3]
//   8 .. 11     bits 7 6 5 4: t[4] low     bits 3 2 1 0: s[4] low
//               ...
//               bits 7 6 5 4: t[7] low     bits 3 2 1 0: s[7] low
#ifndef LEVEL2_ROWS_K_H
#define LEVEL2_ROWS_K_H

#include "common/dtype.h"

// y[i] = value i of the row, 0 <= i < n. n >= 0 is a whole number of blocks; only these blocks are read,
// only these n floats written, and they do not overlap. A row may begin at any address: it is read as
// bytes, never through a pointer to a wider type.
// Computed in f32, where d * s * q and m * t are exact and only their difference rounds, so every right
// way gives the same number; a zero may have either sign.
void rows_q4_k(float *y, const void *row, int n); // n % 256 == 0
void rows_q5_k(float *y, const void *row, int n); // n % 256 == 0
void rows_q6_k(float *y, const void *row, int n); // n % 256 == 0

#endif
