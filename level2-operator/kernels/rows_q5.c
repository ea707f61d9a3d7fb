// Five bits a value. Nothing beyond rows.c but one bit more, which is looked up where it lies.
#include "level2-operator/kernels/rows_q5.h"

#include <string.h>

#include "common/half.h"

enum { HALF_BLOCK = QUANT_BLOCK / 2 };

// Bit j of the byte as 16 in byte j, without a loop over bits: the byte is copied eight times, bit j kept in
// copy j, and a sum carries it to the top of its copy.
static inline uint64_t spread(unsigned char bits) {
    uint64_t kept = bits * UINT64_C(0x0101010101010101) & UINT64_C(0x8040201008040201);
    return (kept + UINT64_C(0x7f7f7f7f7f7f7f7f)) >> 3 & UINT64_C(0x1010101010101010);
}

static inline void unpack_five(uint8_t *q, // (QUANT_BLOCK)
                               const unsigned char *fifth, const unsigned char *packed) {
    for (int j = 0; j < HALF_BLOCK; j++) {
        q[j] = packed[j] & 15;
        q[j + HALF_BLOCK] = packed[j] >> 4;
    }
    for (int k = 0; k < QUANT_BLOCK / 8; k++) {
        uint64_t eight, high = spread(fifth[k]);
        memcpy(&eight, q + 8 * k, sizeof(eight));
        eight |= high;
        memcpy(q + 8 * k, &eight, sizeof(eight));
    }
}

void rows_q5_0(float *restrict y, const void *restrict row, int n) {
    const unsigned char *block = row;
    uint8_t q[QUANT_BLOCK];
    for (int i = 0; i < n; i += QUANT_BLOCK, block += sizeof(struct block_q5_0)) {
        float d = f16_load(block);
        unpack_five(q, block + 2, block + 6);
        for (int j = 0; j < QUANT_BLOCK; j++) y[i + j] = d * (float)(q[j] - 16);
    }
}

void rows_q5_1(float *restrict y, const void *restrict row, int n) {
    const unsigned char *block = row;
    uint8_t q[QUANT_BLOCK];
    for (int i = 0; i < n; i += QUANT_BLOCK, block += sizeof(struct block_q5_1)) {
        float d = f16_load(block), m = f16_load(block + 2);
        unpack_five(q, block + 4, block + 8);
        for (int j = 0; j < QUANT_BLOCK; j++) y[i + j] = d * (float)q[j] + m;
    }
}
