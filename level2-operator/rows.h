// Rows of a stored matrix as floats. Each type is a part of the exercise
// (solutions/level2-operator/rows.c). Block formats: common/dtype.h.
#ifndef LEVEL2_ROWS_H
#define LEVEL2_ROWS_H

#include "common/dtype.h"

// y[i] = value i of the row. n is a whole number of blocks. The source may be unaligned.
void rows_f32(float *y, const void *row, int n);
void rows_f16(float *y, const void *row, int n);
void rows_bf16(float *y, const void *row, int n);
void rows_q8_0(float *y, const void *row, int n); // n % 32 == 0
void rows_q4_0(float *y, const void *row, int n); // n % 32 == 0
void rows_q4_1(float *y, const void *row, int n); // n % 32 == 0

typedef void rows_fn(float *y, const void *row, int n);

// The function for a type, NULL when there is none.
rows_fn *rows_for(enum dtype t);

#endif
