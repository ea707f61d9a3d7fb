// Matrix products in plain C, the judge of every faster one: a row of weights is expanded to floats
// once and meets every token of the step.
#ifndef LEVEL2_MATMUL_H
#define LEVEL2_MATMUL_H

#include "level2-operator/kernels/weight.h"

// sum over i of a[i] * b[i]. 16 partial sums: element i goes to sum i % 16, in ascending i; then
// the halves are added (8 to 8, 4 to 4, 2 to 2, 1 to 1). The order depends on n alone.
float dot_f32(const float *a, const float *b, int n);

// y[t,o] = sum over i of w[o,i] * x[t,i], for o_begin <= o < o_end and all t.
// Each sum is in the order of dot_f32, whatever n_tokens is. A bias is added by who asked.
void matmul(float *y,               // (n_tokens, n_out)  out: columns o_begin .. o_end
            const float *x,         // (n_tokens, n_in)
            const struct weight *w, // (n_out, n_in)
            int n_tokens, int o_begin, int o_end,
            float *row); // (n_in)  scratch, one per worker

#endif
