// The one table of number types. A new type is one line here and its rows in level 2.
#include "common/dtype.h"

#include "common/status.h"

// Numbers and sizes: enum ggml_type and type_traits of github.com/ggml-org/ggml (ggml.h, ggml-common.h),
// as of gguf 0.19. Missing are Q8_1 and Q8_K, which no file holds, and what was taken back.
// clang-format off
static const struct dtype_info infos[DTYPE_COUNT] = {
    [DTYPE_F32]  = {"F32",  1,           4,                         0},
    [DTYPE_F16]  = {"F16",  1,           2,                         1},
    [DTYPE_BF16] = {"BF16", 1,           2,                         30},
    [DTYPE_Q8_0] = {"Q8_0", QUANT_BLOCK, sizeof(struct block_q8_0), 8},
    [DTYPE_Q4_0] = {"Q4_0", QUANT_BLOCK, sizeof(struct block_q4_0), 2},
    [DTYPE_Q4_1] = {"Q4_1", QUANT_BLOCK, sizeof(struct block_q4_1), 3},
    [DTYPE_Q5_0] = {"Q5_0", QUANT_BLOCK, sizeof(struct block_q5_0), 6},
    [DTYPE_Q5_1] = {"Q5_1", QUANT_BLOCK, sizeof(struct block_q5_1), 7},
    [DTYPE_Q4_K] = {"Q4_K", K_BLOCK,     sizeof(struct block_q4_k), 12},
    [DTYPE_Q5_K] = {"Q5_K", K_BLOCK,     sizeof(struct block_q5_k), 13},
    [DTYPE_Q6_K] = {"Q6_K", K_BLOCK,     sizeof(struct block_q6_k), 14},

    [DTYPE_I8]      = {"I8",      1,   1,   24},
    [DTYPE_I16]     = {"I16",     1,   2,   25},
    [DTYPE_I32]     = {"I32",     1,   4,   26},
    [DTYPE_I64]     = {"I64",     1,   8,   27},
    [DTYPE_F64]     = {"F64",     1,   8,   28},
    [DTYPE_Q1_0]    = {"Q1_0",    128, 18,  41},
    [DTYPE_Q2_K]    = {"Q2_K",    256, 84,  10},
    [DTYPE_Q3_K]    = {"Q3_K",    256, 110, 11},
    [DTYPE_TQ1_0]   = {"TQ1_0",   256, 54,  34},
    [DTYPE_TQ2_0]   = {"TQ2_0",   256, 66,  35},
    [DTYPE_MXFP4]   = {"MXFP4",   32,  17,  39},
    [DTYPE_NVFP4]   = {"NVFP4",   64,  36,  40},
    [DTYPE_IQ1_S]   = {"IQ1_S",   256, 50,  19},
    [DTYPE_IQ1_M]   = {"IQ1_M",   256, 56,  29},
    [DTYPE_IQ2_XXS] = {"IQ2_XXS", 256, 66,  16},
    [DTYPE_IQ2_XS]  = {"IQ2_XS",  256, 74,  17},
    [DTYPE_IQ2_S]   = {"IQ2_S",   256, 82,  22},
    [DTYPE_IQ3_XXS] = {"IQ3_XXS", 256, 98,  18},
    [DTYPE_IQ3_S]   = {"IQ3_S",   256, 110, 21},
    [DTYPE_IQ4_NL]  = {"IQ4_NL",  32,  18,  20},
    [DTYPE_IQ4_XS]  = {"IQ4_XS",  256, 136, 23},
};
// clang-format on

const struct dtype_info *dtype_info(enum dtype t) {
    MUST((unsigned)t < DTYPE_COUNT);
    return &infos[t];
}

bool dtype_from_gguf(uint32_t gguf_type, enum dtype *t) {
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (infos[i].gguf_type != gguf_type) continue;
        *t = (enum dtype)i;
        return true;
    }
    return false;
}

bool dtype_bytes(enum dtype t, uint64_t n_values, uint64_t *n_bytes) {
    const struct dtype_info *info = dtype_info(t);
    uint64_t block_len = (uint64_t)info->block_len;
    uint64_t block_bytes = (uint64_t)info->block_bytes;
    if (n_values % block_len != 0) return false;
    uint64_t n_blocks = n_values / block_len;
    if (n_blocks > UINT64_MAX / block_bytes) return false;
    *n_bytes = n_blocks * block_bytes;
    return true;
}
