// Rows of K blocks as floats. A block has 256 values in 8 groups g of 32, and scales on two
// levels: f16 numbers d and m for all of it, low byte first, and for each group a small
// integer that says how many d a step of it is worth (s), and how many m it lies below (t).
//
//   byte     0       2       4            16            48                   144    176
//   Q4_K   |   d   |   m   | s and t    | p: 128 bytes                     |
//   Q5_K   |   d   |   m   | s and t    | f: 32 bytes | p: 128 bytes              |
//
//   byte     0                128            192           208     210
//   Q6_K   | p: 128 bytes   | h: 64 bytes  | s: 16 bytes |   d   |
//
// Value j of group g (0 <= j < 32, 0 <= g < 8) is value 32 * g + j of its block.
//
//   Q4_K   q: 4 bits of p[32 * (g / 2) + j], the low ones if g is even, else the high ones
//          x = d * s * q - m * t
//   Q5_K   q: the same 4 bits, and above them bit g of f[j];  x as in Q4_K
//   Q6_K   q: 4 bits of p[64 * (g / 4) + 32 * (g % 2) + j], the low ones if g % 4 < 2, else
//          the high ones, and above them 2 bits of h[32 * (g / 4) + j]: 2 * (g % 4) and the
//          next
//          x = d * s * (q - 32), and s is a signed byte for 16 values: value i of its
//          block has s[i / 16]
//
// The s and t of Q4_K and Q5_K are numbers from 0 to 63, sixteen of them in 12 bytes. Those
// of groups 0 to 3 lie in one piece of 6 bits, those of groups 4 to 7 in a piece of 2 and
// one of 4. The bytes from bit 7 down to bit 0, for i from 0 to 3:
//
//   byte i       | s[i+4] bits 5 4 | s[i] bits 5 4 3 2 1 0        |
//   byte i + 4   | t[i+4] bits 5 4 | t[i] bits 5 4 3 2 1 0        |
//   byte i + 8   | t[i+4] bits 3 2 1 0   | s[i+4] bits 3 2 1 0    |
#ifndef LEVEL2_ROWS_K_H
#define LEVEL2_ROWS_K_H

#include "common/dtype.h"

// y[i] = value i of the row, 0 <= i < n. n >= 0 is a whole number of blocks; only these
// blocks are read, only these n floats written, and they do not overlap. A row may begin at
// any address: it is read as bytes, never through a pointer to a wider type. An f16 is read
// so by f16_load of common/half.h.
// Computed in f32, where d * s * q and m * t are exact and only their difference rounds, so
// every right way gives the same number; a zero may have either sign.
void rows_q4_k(float *y, const void *row, int n); // n % 256 == 0
void rows_q5_k(float *y, const void *row, int n); // n % 256 == 0
void rows_q6_k(float *y, const void *row, int n); // n % 256 == 0

#endif
