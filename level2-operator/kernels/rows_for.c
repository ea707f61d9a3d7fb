// One table. Types that get a file of their own are added to it; rows.c stays as it is.
#include "level2-operator/kernels/rows_for.h"

#include <stddef.h>

#include "level2-operator/kernels/rows.h"
#include "level2-operator/kernels/rows_k.h"
#include "level2-operator/kernels/rows_q5.h"

rows_fn *rows_for(enum dtype t) {
    static rows_fn *const functions[DTYPE_COUNT] = {
        [DTYPE_F32] = rows_f32,   [DTYPE_F16] = rows_f16,   [DTYPE_BF16] = rows_bf16,
        [DTYPE_Q8_0] = rows_q8_0, [DTYPE_Q4_0] = rows_q4_0, [DTYPE_Q4_1] = rows_q4_1,
        [DTYPE_Q5_0] = rows_q5_0, [DTYPE_Q5_1] = rows_q5_1, [DTYPE_Q4_K] = rows_q4_k,
        [DTYPE_Q5_K] = rows_q5_k, [DTYPE_Q6_K] = rows_q6_k,
    };
    return (unsigned)t < DTYPE_COUNT ? functions[t] : NULL;
}
