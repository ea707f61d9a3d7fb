// Yours to write. Contract: level2-operator/kernels/rows_k.h. Explained: docs/level2/rows-k.md.
// Red or green: make test EX=rows-k
//
// Rows of K blocks as floats. As in rows.c the inner loops are for the vectoriser: equal steps, no branch,
// and everything that a group shares is worked out before its values.
#include "level2-operator/kernels/rows_k.h"

#include "common/exercise.h"

void rows_q4_k(float *restrict y, const void *restrict row, int n) {
    EXERCISE("rows-k.q4");
}

void rows_q5_k(float *restrict y, const void *restrict row, int n) {
    EXERCISE("rows-k.q5");
}

void rows_q6_k(float *restrict y, const void *restrict row, int n) {
    EXERCISE("rows-k.q6");
}
