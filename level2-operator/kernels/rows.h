// Rows of a stored matrix as floats. A row of Q8_0, Q4_0 or Q4_1 is a run of blocks without
// gaps; a block holds 32 values and what they share: the scale d, in Q4_1 also the minimum
// m, both f16, low byte first.
//
//   byte     0   1   2   3   4   ...           17      19          33
//   Q8_0   |   d   | q0| q1| q2| q3| ...                         |q31|   x = d * q
//   Q4_0   |   d   | p0| p1| p2| p3| ...     |p15|                       x = d * (q - 8)
//   Q4_1   |   d   |   m   | p0| p1| ...             |p15|               x = d * q + m
//
// A q of Q8_0 is a signed byte, -128 to 127. A byte p of the 4-bit types holds two q from 0
// to 15, half a block apart:
//
//   p[j]   | high 4 bits: q of value j + 16 | low 4 bits: q of value j |    0 <= j < 16
#ifndef LEVEL2_ROWS_H
#define LEVEL2_ROWS_H

#include "common/dtype.h"

// y[i] = value i of the row, 0 <= i < n. n >= 0 is a whole number of blocks; only these
// blocks are read, only these n floats written, and they do not overlap. A row may begin at
// any address: it is read as bytes, or by memcpy, never through a pointer to a wider type.
// Computed in f32, where d * q is exact and only the sum with m rounds, so every right way
// gives the same number; a zero may have either sign.
void rows_f32(float *y, const void *row, int n);
void rows_f16(float *y, const void *row, int n);
void rows_bf16(float *y, const void *row, int n);
void rows_q8_0(float *y, const void *row, int n); // n % 32 == 0
void rows_q4_0(float *y, const void *row, int n); // n % 32 == 0
void rows_q4_1(float *y, const void *row, int n); // n % 32 == 0

#endif
