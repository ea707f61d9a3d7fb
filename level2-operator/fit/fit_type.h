// Names of types on the command line of fit: how many bytes a value takes, scales included.
#ifndef LEVEL2_FIT_TYPE_H
#define LEVEL2_FIT_TYPE_H

#include <stdbool.h>

#include "level2-operator/fit/fit.h"

// f32, f16, bf16, fp8, int8, int4 and int4-g128, or a type of GGUF files in lower case (q4_k).
//   int8, fp8, int4   bare: 8 or 4 bits for each value, scales left out as many tables do
//   int4-g128         4 bits, and a scale of 16 bits and a zero of 4 for each 128 values: 4.156 bits
//   4.8944            so many bits on the mean: a file of several types, such as Q4_K_M
// false: there is none of this name.
bool fit_type_find(struct fit_type *type, const char *name);

// "f32, f16, ...": the first words, and what stands for the types of GGUF files.
extern const char fit_type_names[];

double fit_type_bits(struct fit_type type); // of one value

#endif
