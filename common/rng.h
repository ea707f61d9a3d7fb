// Random numbers without a state: a pure function of (seed, choice, position, draw). So a request
// gives the same text whatever else runs beside it, and a draw can be repeated on its own.
// Philox 4x32, 10 rounds: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3".
#ifndef COMMON_RNG_H
#define COMMON_RNG_H

#include <stdint.h>

// out = Philox4x32-10(counter, key). The published test vectors are in the tests.
void rng_philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

// Uniform in [0, 1), 53 random bits. seed: the request's; choice: index within n; position: of
// the token to be drawn; draw: 0, 1, ... when one position needs several.
double rng_unit(uint64_t seed, uint32_t choice, uint32_t position, uint32_t draw);

#endif
