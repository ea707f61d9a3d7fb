// Matrix products in plain C. They refuse to pack, to know the machine or to touch integers:
// that is level 3, and these are its judge.
//
// One running sum never vectorises, because a compiler may not reorder float additions. 16 sums
// side by side do, on any machine, in vectors of any width: only their order is the contract.
//
//   a . b   | 0 1 2 3 | 4 5 6 7 | 8 .. 11 | 12 .. 15 |    4 vectors, each lane a sum of its own
//           | 16 ...                                 |
//
// Several tokens at a time only to load a piece of the weights once for all of them: each token
// has its own sums, so its result does not know that it had company.
#include "level2-operator/kernels/matmul.h"

#include <string.h>

#include "level2-operator/kernels/rows_for.h"

typedef float f32x4
    __attribute__((vector_size(16))); // gcc and clang: one register on any CPU

enum { LANES = 4, VECTORS = 4, SUMS = LANES * VECTORS, TOKENS = 4 };

static inline f32x4 load(const float *p) {
    f32x4 v;
    memcpy(&v, p, sizeof(v)); // p need not be aligned
    return v;
}

static inline float reduce(const f32x4 *sum) { // (VECTORS): 8 to 8, 4 to 4, 2 to 2, 1 to 1
    f32x4 s = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    return (s[0] + s[2]) + (s[1] + s[3]);
}

// sum[t] += a . x[t] over the next SUMS elements. n_tokens is a constant after inlining.
static inline void add_products(f32x4 sum[][VECTORS], const float *a, const float *x,
                                long x_stride, int n_tokens) {
    for (int j = 0; j < VECTORS; j++) {
        f32x4 aj = load(a + j * LANES);
        for (int t = 0; t < n_tokens; t++)
            sum[t][j] += aj * load(x + t * x_stride + j * LANES);
    }
}

// y[t * y_stride] = a . x[t * x_stride ...], n_tokens <= TOKENS of them.
static inline void dots(float *y, long y_stride, const float *a, const float *x,
                        long x_stride, int n, int n_tokens) {
    f32x4 sum[TOKENS][VECTORS] = {{{0}}};
    int i = 0;
    for (; i + SUMS <= n; i += SUMS) add_products(sum, a + i, x + i, x_stride, n_tokens);

    if (i < n) { // the tail, filled up with zeros: they add nothing to any sum
        float a_tail[SUMS] = {0}, x_tail[TOKENS][SUMS] = {{0}};
        size_t n_bytes = sizeof(float) * (size_t)(n - i);
        memcpy(a_tail, a + i, n_bytes);
        for (int t = 0; t < n_tokens; t++) memcpy(x_tail[t], x + t * x_stride + i, n_bytes);
        add_products(sum, a_tail, x_tail[0], SUMS, n_tokens);
    }
    for (int t = 0; t < n_tokens; t++) y[t * y_stride] = reduce(sum[t]);
}

float dot_f32(const float *a, const float *b, int n) {
    float y;
    dots(&y, 0, a, b, 0, n, 1);
    return y;
}

void matmul(float *y, const float *x, const struct weight *w, int n_tokens, int o_begin,
            int o_end, float *row) {
    rows_fn *expand = rows_for(w->dtype);
    long n_in = w->n_in, n_out = w->n_out;

    for (int o = o_begin; o < o_end; o++) {
        expand(row, (const char *)w->file + (size_t)o * w->row_bytes, w->n_in);
        int t = 0;
        for (; t + TOKENS <= n_tokens; t += TOKENS) {
            dots(y + t * n_out + o, n_out, row, x + t * n_in, n_in, w->n_in, TOKENS);
        }
        for (; t < n_tokens; t++) {
            dots(y + t * n_out + o, n_out, row, x + t * n_in, n_in, w->n_in, 1);
        }
    }
}
