// Rows of Q5_0 and Q5_1: as in rows.h, but the highest of the five bits of a q lies apart from the others.
//
//   byte     0   1   2   3   4   5   6   7   8          21      23
//   Q5_0   |   d   |    fifth bits | p0| p1| ...      |p15|            x = d * (q - 16)
//   Q5_1   |   d   |   m   |    fifth bits | p0| p1| ...      |p15|    x = d * q + m
//
// A byte p is that of Q4_0: the low bits of values j and j + 16. The fifth bits are 32, lowest first:
// bit j % 8 of byte j / 8 belongs to value j, 0 <= j < 32.
#ifndef LEVEL2_ROWS_Q5_H
#define LEVEL2_ROWS_Q5_H

#include "common/dtype.h"

// y[i] = value i of the row, 0 <= i < n, n % 32 == 0. The row may begin at any address.
void rows_q5_0(float *y, const void *row, int n);
void rows_q5_1(float *y, const void *row, int n);

#endif
