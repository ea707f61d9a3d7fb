// 16-bit floats, in plain C so that every machine gives the same bits.
//   f16  | sign 1 | exponent 5 | mantissa 10 |   IEEE 754 binary16
//   bf16 | sign 1 | exponent 8 | mantissa  7 |   the upper half of an f32
// Rounding is to nearest, ties to even; NaN stays NaN, overflow becomes infinity.
#ifndef COMMON_HALF_H
#define COMMON_HALF_H

#include <stdint.h>

float f16_to_f32(uint16_t bits);
float f16_load(const void *bytes); // one at any address, low byte first
uint16_t f16_from_f32(float x);
float bf16_to_f32(uint16_t bits);
uint16_t bf16_from_f32(float x);

#endif
