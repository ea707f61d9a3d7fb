// The types a number may be stored in, and a view of a tensor in memory that someone else owns.
// Blocks as in GGUF: d is the scale, m the minimum, qs the small integers.
//
//   Q8_0   | d f16 | 32 x int8                       |   x = d * q
//   Q4_0   | d f16 | 16 bytes: low nibbles are 0..15 |   x = d * (q - 8)
//   Q4_1   | d f16 | m f16 | 16 bytes                |   x = d * q + m
#ifndef COMMON_DTYPE_H
#define COMMON_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dtype {
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_Q8_0,
    DTYPE_Q4_0,
    DTYPE_Q4_1,
    DTYPE_I8, // a KV cache may use it; no file tensor does
    DTYPE_COUNT
};

enum { QUANT_BLOCK = 32 }; // values in one block of Q8_0, Q4_0, Q4_1

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
_Static_assert(sizeof(struct block_q8_0) == 34, "block_q8_0 is a file format");
_Static_assert(sizeof(struct block_q4_0) == 18, "block_q4_0 is a file format");
_Static_assert(sizeof(struct block_q4_1) == 20, "block_q4_1 is a file format");

struct dtype_info {
    const char *name; // "Q4_1"
    int block_len;    // values per block
    int block_bytes;  // bytes per block
    int gguf_type;    // number in a GGUF file, -1: not a file type
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
