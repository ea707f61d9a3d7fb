// Philox: ten rounds of multiply, swap and add to the key. The multiplications spread each bit of
// the counter over all of the output; the constants are those of the paper, table 2 and section 4.
#include "common/rng.h"

enum { N_ROUNDS = 10 };
static const uint32_t MULTIPLY_0 = 0xD2511F53, MULTIPLY_2 = 0xCD9E8D57;
static const uint32_t WEYL_0 = 0x9E3779B9, WEYL_1 = 0xBB67AE85; // golden ratio, sqrt(3) - 1

void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]) {
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < N_ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLY_0 * c0;
        uint64_t p2 = (uint64_t)MULTIPLY_2 * c2;
        c0 = (uint32_t)(p2 >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)p2;
        c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p0;
        k0 += WEYL_0;
        k1 += WEYL_1;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

double rng_unit(uint64_t seed, uint32_t choice, uint32_t position, uint32_t draw) {
    const uint32_t counter[4] = {position, draw, choice, 0};
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint32_t out[4];
    rng_philox(out, counter, key);
    uint64_t bits = (uint64_t)out[1] << 32 | out[0];
    return (double)(bits >> 11) * 0x1p-53;
}
