// Rows of stored numbers as floats. Every product with a weight begins here, so the inner loops are
// written for the vectoriser: a fixed number of equal steps, no branch, and `restrict`, because else a
// compiler must fear that writing y changes the bytes it reads. A scale is read once per block.
#include "level2-operator/kernels/rows.h"

#include <string.h>

// [exercise rows.q4 drop]
enum { HALF_BLOCK = QUANT_BLOCK / 2 };
// [end]

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

// [exercise rows.q4 drop]
// Byte j holds value j (low) and value j + 16 (high).
static inline void unpack_nibbles(uint8_t *q, // (QUANT_BLOCK)
                                  const unsigned char *packed) {
    for (int j = 0; j < HALF_BLOCK; j++) {
        q[j] = packed[j] & 15;
        q[j + HALF_BLOCK] = packed[j] >> 4;
    }
}
// [end]

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
    // [exercise rows.q8]
    const unsigned char *block = row;
    for (int i = 0; i < n; i += QUANT_BLOCK, block += sizeof(struct block_q8_0)) {
        float d = f16_at(block);
        const signed char *qs = (const signed char *)block + 2;
        for (int j = 0; j < QUANT_BLOCK; j++) y[i + j] = d * (float)qs[j];
    }
    // [end]
}

void rows_q4_0(float *restrict y, const void *restrict row, int n) {
    // [exercise rows.q4]
    const unsigned char *block = row;
    uint8_t q[QUANT_BLOCK];
    for (int i = 0; i < n; i += QUANT_BLOCK, block += sizeof(struct block_q4_0)) {
        float d = f16_at(block);
        unpack_nibbles(q, block + 2);
        for (int j = 0; j < QUANT_BLOCK; j++) y[i + j] = d * (float)(q[j] - 8);
    }
    // [end]
}

void rows_q4_1(float *restrict y, const void *restrict row, int n) {
    // [exercise rows.q4]
    const unsigned char *block = row;
    uint8_t q[QUANT_BLOCK];
    for (int i = 0; i < n; i += QUANT_BLOCK, block += sizeof(struct block_q4_1)) {
        float d = f16_at(block), m = f16_at(block + 2);
        unpack_nibbles(q, block + 4);
        for (int j = 0; j < QUANT_BLOCK; j++) y[i + j] = d * (float)q[j] + m;
    }
    // [end]
}
