// Products and sums of bytes that do not wrap around: too large stays too large.
#ifndef LEVEL2_FIT_SUMS_H
#define LEVEL2_FIT_SUMS_H

#include <stdint.h>

static inline uint64_t sum_times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t sum_plus(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

// a / b, rounded up. b is above 0.
static inline uint64_t sum_parts(uint64_t a, uint64_t b) {
    return a / b + (a % b != 0);
}

#endif
