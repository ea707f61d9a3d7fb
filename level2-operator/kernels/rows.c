// Yours to write. Contract: level2-operator/kernels/rows.h. Explained: docs/level2/rows.md.
// Red or green: make test EX=rows
//
// Rows of stored numbers as floats. Every product with a weight begins here, so the inner loops are
// written for the vectoriser: a fixed number of equal steps, no branch, and `restrict`, because else a
// compiler must fear that writing y changes the bytes it reads. A scale is read once per block.
#include "level2-operator/kernels/rows.h"

#include <string.h>

#include "common/exercise.h"

static inline uint16_t load_u16(const unsigned char *bytes) { // need not be aligned
    uint16_t bits;
    memcpy(&bits, bytes, sizeof(bits));
    return bits;
}

static inline float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

// An f16 at any address: the number of f16_to_f32 (common/half.h), without a branch. All three cases are
// computed, masks pick one.
static inline float f16_at(const unsigned char *bytes) {
    uint16_t bits = load_u16(bytes);
    uint32_t rest = bits & 0x7fff;                 // exponent and mantissa
    uint32_t normal = (rest << 13) + (112u << 23); // bias 127 in place of 15
    uint32_t special = normal + (112u << 23);      // 255 in place of 31: infinity, NaN
    uint32_t tiny = bits_of((float)(int32_t)rest * 0x1p-24f); // exponent 0
    uint32_t is_tiny = 0u - (rest < 0x400);                   // all ones or all zeros
    uint32_t is_special = 0u - (rest >= 0x7c00);

    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    return float_of(sign | (tiny & is_tiny) | (special & is_special) |
                    (normal & ~(is_tiny | is_special)));
}

void rows_f32(float *y, const void *row, int n) {
    memcpy(y, row, (size_t)n * sizeof(float));
}

void rows_f16(float *restrict y, const void *restrict row, int n) {
    const unsigned char *bytes = row;
    for (int i = 0; i < n; i++) y[i] = f16_at(bytes + 2 * (size_t)i);
}

void rows_bf16(float *restrict y, const void *restrict row, int n) {
    const unsigned char *bytes = row;
    for (int i = 0; i < n; i++)
        y[i] = float_of((uint32_t)load_u16(bytes + 2 * (size_t)i) << 16);
}

void rows_q8_0(float *restrict y, const void *restrict row, int n) {
    EXERCISE("rows.q8");
}

void rows_q4_0(float *restrict y, const void *restrict row, int n) {
    EXERCISE("rows.q4");
}

void rows_q4_1(float *restrict y, const void *restrict row, int n) {
    EXERCISE("rows.q4");
}
