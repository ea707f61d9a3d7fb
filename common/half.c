// 16-bit floats by bit arithmetic. Slow and exact; rows of weights use it, inner loops of level 3
// have instructions for it.
#include "common/half.h"

#include <stdbool.h>
#include <string.h>

enum {
    F32_MANTISSA = 23, // bits
    F16_MANTISSA = 10,
    DROPPED = F32_MANTISSA - F16_MANTISSA, // mantissa bits that an f16 has no room for
    F32_BIAS = 127,
    F16_BIAS = 15,
    F16_MAX_EXPONENT = 31, // infinity and NaN
};
static const uint32_t F32_INFINITY = 0x7f800000;

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// bits >> n_drop, to nearest, ties to even. 1 <= n_drop <= 31 and bits < 2^31.
static uint32_t round_shift(uint32_t bits, int n_drop) {
    uint32_t kept = bits >> n_drop;
    uint32_t rest = bits & ((1u << n_drop) - 1);
    uint32_t half = 1u << (n_drop - 1);
    bool up = rest > half || (rest == half && (kept & 1));
    return kept + up;
}

float f16_to_f32(uint16_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    uint32_t exponent = (bits >> F16_MANTISSA) & 0x1f;
    uint32_t mantissa = bits & 0x3ff;

    if (exponent == F16_MAX_EXPONENT)
        return float_of(sign | F32_INFINITY | mantissa << DROPPED);
    if (exponent == 0) { // zero and subnormals: mantissa * 2^-24, exact in f32
        float x = (float)mantissa * 0x1p-24f;
        return float_of(sign | bits_of(x));
    }
    exponent += F32_BIAS - F16_BIAS;
    return float_of(sign | exponent << F32_MANTISSA | mantissa << DROPPED);
}

float f16_load(const void *bytes) {
    const unsigned char *b = bytes;
    return f16_to_f32((uint16_t)(b[0] | b[1] << 8));
}

uint16_t f16_from_f32(float x) {
    uint32_t bits = bits_of(x);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    int exponent = (int)(magnitude >> F32_MANTISSA) - F32_BIAS + F16_BIAS;

    // A NaN keeps its upper bits, and the top one is set: all zero would be infinity.
    if (magnitude > F32_INFINITY)
        return (uint16_t)(sign | 0x7e00 | (magnitude >> DROPPED & 0x3ff));
    if (exponent >= F16_MAX_EXPONENT) return (uint16_t)(sign | 0x7c00);
    if (exponent > 0) { // normal: rounding up may carry into the exponent, as it should
        uint32_t rebiased = magnitude - ((uint32_t)(F32_BIAS - F16_BIAS) << F32_MANTISSA);
        return (uint16_t)(sign | round_shift(rebiased, DROPPED));
    }
    if (exponent < -F16_MANTISSA) return (uint16_t)sign; // below half of the smallest
    uint32_t mantissa = (magnitude & 0x7fffff) | 0x800000;
    return (uint16_t)(sign | round_shift(mantissa, DROPPED + 1 - exponent));
}

float bf16_to_f32(uint16_t bits) {
    return float_of((uint32_t)bits << 16);
}

uint16_t bf16_from_f32(float x) {
    uint32_t bits = bits_of(x);
    uint32_t sign = bits >> 16 & 0x8000;
    uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude > F32_INFINITY) return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)(sign | round_shift(magnitude, 16));
}
