// The one table of number types. A new type is one line here and its rows in level 2.
#include "common/dtype.h"

#include "common/status.h"

enum { NOT_IN_FILES = -1 };

// The GGUF numbers come from the GGUF specification, enum ggml_type.
// clang-format off
static const struct dtype_info infos[DTYPE_COUNT] = {
    [DTYPE_F32]  = {"F32",  1,           4,                         0},
    [DTYPE_F16]  = {"F16",  1,           2,                         1},
    [DTYPE_BF16] = {"BF16", 1,           2,                         30},
    [DTYPE_Q8_0] = {"Q8_0", QUANT_BLOCK, sizeof(struct block_q8_0), 8},
    [DTYPE_Q4_0] = {"Q4_0", QUANT_BLOCK, sizeof(struct block_q4_0), 2},
    [DTYPE_Q4_1] = {"Q4_1", QUANT_BLOCK, sizeof(struct block_q4_1), 3},
    [DTYPE_I8]   = {"I8",   1,           1,                         NOT_IN_FILES},
};
// clang-format on

const struct dtype_info *dtype_info(enum dtype t) {
    MUST((unsigned)t < DTYPE_COUNT);
    return &infos[t];
}

bool dtype_from_gguf(uint32_t gguf_type, enum dtype *t) {
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if ((int64_t)infos[i].gguf_type != (int64_t)gguf_type) continue;
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
