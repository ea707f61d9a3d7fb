// Rows of K blocks as floats. As in rows.c the inner loops are for the vectoriser: equal steps, no branch,
// and everything that a group shares is worked out before its values.
#include "level2-operator/kernels/rows_k.h"

// [exercise rows-k.q4 drop]
#include "common/half.h"

enum {
    GROUP = 32,                // values
    N_GROUPS = K_BLOCK / GROUP // of a block
};

// What the 12 bytes say of group g.
static inline int scale_of(const unsigned char *bytes, int g) {
    if (g < 4) return bytes[g] & 63;
    return (bytes[g + 4] & 15) | bytes[g - 4] >> 6 << 4;
}

static inline int minimum_of(const unsigned char *bytes, int g) {
    if (g < 4) return bytes[g + 4] & 63;
    return bytes[g + 4] >> 4 | bytes[g] >> 6 << 4;
}

// [end]
void rows_q4_k(float *restrict y, const void *restrict row, int n) {
    // [exercise rows-k.q4]
    const unsigned char *block = row;
    for (int i = 0; i < n; i += K_BLOCK, block += sizeof(struct block_q4_k)) {
        float d = f16_load(block), m = f16_load(block + 2);
        for (int g = 0; g < N_GROUPS; g++) {
            float ds = d * (float)scale_of(block + 4, g);
            float mt = m * (float)minimum_of(block + 4, g);
            const unsigned char *p = block + 16 + g / 2 * GROUP;
            float *yg = y + i + g * GROUP;
            int shift = g % 2 * 4;
            for (int j = 0; j < GROUP; j++) yg[j] = ds * (float)(p[j] >> shift & 15) - mt;
        }
    }
    // [end]
}

void rows_q5_k(float *restrict y, const void *restrict row, int n) {
    // [exercise rows-k.q5]
    const unsigned char *block = row;
    for (int i = 0; i < n; i += K_BLOCK, block += sizeof(struct block_q5_k)) {
        float d = f16_load(block), m = f16_load(block + 2);
        const unsigned char *fifth = block + 16;
        for (int g = 0; g < N_GROUPS; g++) {
            float ds = d * (float)scale_of(block + 4, g);
            float mt = m * (float)minimum_of(block + 4, g);
            const unsigned char *p = block + 48 + g / 2 * GROUP;
            float *yg = y + i + g * GROUP;
            int shift = g % 2 * 4;
            for (int j = 0; j < GROUP; j++) {
                int q = (p[j] >> shift & 15) | (fifth[j] >> g & 1) << 4;
                yg[j] = ds * (float)q - mt;
            }
        }
    }
    // [end]
}

void rows_q6_k(float *restrict y, const void *restrict row, int n) {
    // [exercise rows-k.q6]
    const unsigned char *block = row;
    for (int i = 0; i < n; i += K_BLOCK, block += sizeof(struct block_q6_k)) {
        const signed char *s = (const signed char *)block + 192;
        float d = f16_load(block + 208);
        for (int g = 0; g < N_GROUPS; g++) {
            const unsigned char *p = block + g / 4 * 64 + g % 2 * GROUP;
            const unsigned char *h = block + 128 + g / 4 * GROUP;
            float *yg = y + i + g * GROUP;
            int shift = g % 4 / 2 * 4, high_shift = g % 4 * 2;
            for (int half = 0; half < GROUP; half += 16) { // a scale each
                float ds = d * (float)s[(g * GROUP + half) / 16];
                for (int j = half; j < half + 16; j++) {
                    int q = (p[j] >> shift & 15) | (h[j] >> high_shift & 3) << 4;
                    yg[j] = ds * (float)(q - 32);
                }
            }
        }
    }
    // [end]
}
