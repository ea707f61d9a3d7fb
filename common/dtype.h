// The types a number may be stored in, and a view of a tensor in memory that someone else owns.
// Blocks as in GGUF: d is the scale, m the minimum, q the small integers.
//
//   Q8_0   | d f16 | 32 x int8                                 |   x = d * q
//   Q4_0   | d f16 | 16 bytes: low nibbles are values 0..15    |   x = d * (q - 8)
//   Q4_1   | d f16 | m f16 | 16 bytes                          |   x = d * q + m
//   Q5_0   | d f16 | 4 bytes: the fifth bits | 16 bytes        |   x = d * (q - 16)
//   Q5_1   | d f16 | m f16 | 4 bytes | 16 bytes                |   x = d * q + m
//
// A K block has 256 values, in groups with a small integer scale s (and minimum t) of their own:
//
//   Q4_K   | d f16 | m f16 | 12 bytes: 8 s, 8 t | 128 bytes: q |   x = d * s * q - m * t
//   Q5_K   | d f16 | m f16 | 12 bytes | 32 bytes: the fifth bits | 128 bytes |     the same
//   Q6_K   | 128 bytes: low 4 bits | 64 bytes: high 2 bits | 16 x int8: s | d f16 |
//                                                                  x = d * s * (q - 32)
#ifndef COMMON_DTYPE_H
#define COMMON_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The first rows are those that level 2 can turn into floats (level2-operator/kernels/rows_for.h); of the others
// only the size is known, so that a file with them can be listed.
// clang-format off
enum dtype {
    DTYPE_F32, DTYPE_F16, DTYPE_BF16,
    DTYPE_Q8_0, DTYPE_Q4_0, DTYPE_Q4_1, DTYPE_Q5_0, DTYPE_Q5_1,
    DTYPE_Q4_K, DTYPE_Q5_K, DTYPE_Q6_K,

    DTYPE_I8, // a KV cache may use it
    DTYPE_I16, DTYPE_I32, DTYPE_I64, DTYPE_F64,
    DTYPE_Q1_0, DTYPE_Q2_K, DTYPE_Q3_K, DTYPE_TQ1_0, DTYPE_TQ2_0, DTYPE_MXFP4, DTYPE_NVFP4,
    DTYPE_IQ1_S, DTYPE_IQ1_M, DTYPE_IQ2_XXS, DTYPE_IQ2_XS, DTYPE_IQ2_S,
    DTYPE_IQ3_XXS, DTYPE_IQ3_S, DTYPE_IQ4_NL, DTYPE_IQ4_XS,
    DTYPE_COUNT
};
// clang-format on

enum {
    QUANT_BLOCK = 32, // values in one block of Q8_0, Q4_0, Q4_1, Q5_0, Q5_1
    K_BLOCK = 256     // values in one block of a K type
};

struct block_q8_0 {
    uint16_t d; // f16 bits
    int8_t qs[QUANT_BLOCK];
};
struct block_q4_0 {
    uint16_t d;
    uint8_t qs[QUANT_BLOCK / 2];
};
struct block_q4_1 {
    uint16_t d, m;
    uint8_t qs[QUANT_BLOCK / 2];
};
struct block_q5_0 {
    uint16_t d;
    uint8_t fifth[QUANT_BLOCK / 8]; // bit j: the highest bit of value j
    uint8_t qs[QUANT_BLOCK / 2];
};
struct block_q5_1 {
    uint16_t d, m;
    uint8_t fifth[QUANT_BLOCK / 8];
    uint8_t qs[QUANT_BLOCK / 2];
};
struct block_q4_k {
    uint16_t d, m;
    uint8_t scales[12];
    uint8_t qs[K_BLOCK / 2];
};
struct block_q5_k {
    uint16_t d, m;
    uint8_t scales[12];
    uint8_t fifth[K_BLOCK / 8];
    uint8_t qs[K_BLOCK / 2];
};
struct block_q6_k {
    uint8_t low[K_BLOCK / 2];
    uint8_t high[K_BLOCK / 4];
    int8_t scales[K_BLOCK / 16];
    uint16_t d;
};
_Static_assert(sizeof(struct block_q8_0) == 34, "block_q8_0 is a file format");
_Static_assert(sizeof(struct block_q4_0) == 18, "block_q4_0 is a file format");
_Static_assert(sizeof(struct block_q4_1) == 20, "block_q4_1 is a file format");
_Static_assert(sizeof(struct block_q5_0) == 22, "block_q5_0 is a file format");
_Static_assert(sizeof(struct block_q5_1) == 24, "block_q5_1 is a file format");
_Static_assert(sizeof(struct block_q4_k) == 144, "block_q4_k is a file format");
_Static_assert(sizeof(struct block_q5_k) == 176, "block_q5_k is a file format");
_Static_assert(sizeof(struct block_q6_k) == 210, "block_q6_k is a file format");

struct dtype_info {
    const char *name;   // "Q4_1"
    int block_len;      // values per block
    int block_bytes;    // bytes per block
    uint32_t gguf_type; // number in a GGUF file
};

// Always a valid pointer for 0 <= t < DTYPE_COUNT.
const struct dtype_info *dtype_info(enum dtype t);

// false when no dtype has this GGUF number.
bool dtype_from_gguf(uint32_t gguf_type, enum dtype *t);

// Bytes of n values. false when n is not a whole number of blocks or the product overflows.
bool dtype_bytes(enum dtype t, uint64_t n_values, uint64_t *n_bytes);

// A matrix or vector in memory that someone else owns. dim[0] is the fastest.
struct tensor_view {
    enum dtype dtype;
    int n_dims;
    uint64_t dim[4];  // unused ones are 1
    const void *data; // borrowed
    uint64_t n_bytes;
};

#endif
