// The KV cache as everyone but ops sees it: equal blocks of bytes, and per sequence a table of the
// blocks that hold its tokens. What lies inside a block is between norm_qkv_store, which writes it,
// and attend, which reads it. A contiguous cache is a table of one long block.
//
//   table of sequence 0: [7][2][9]   n_tokens = 37, block_len = 16
//                         │  │  └ tokens 32..36
//                         │  └─── tokens 16..31
//                         └────── tokens  0..15
#ifndef LEVEL2_KV_H
#define LEVEL2_KV_H

#include <stddef.h>

#include "common/arena.h"
#include "common/dtype.h"
#include "common/status.h"

struct kv_layout {
    enum dtype dtype;   // DTYPE_F32 in level 2
    int block_len;      // tokens per block
    size_t block_bytes; // all layers, K and V, of block_len tokens; set by ops->kv_layout
};

struct kv_pool {
    struct kv_layout layout;
    unsigned char *bytes; // (n_blocks, block_bytes)  owned by the arena
    int n_blocks;
};

struct kv_table {
    int *blocks;  // (max_blocks): indices into the pool; owned by whoever made the table
    int n_blocks; // in use
    int n_tokens; // tokens whose K and V are stored
    int max_blocks;
};

enum status kv_pool_init(struct kv_pool *p, const struct kv_layout *layout, int n_blocks,
                         struct arena *arena, struct error *err);

static inline unsigned char *kv_block(const struct kv_pool *p, int block) {
    return p->bytes + (size_t)block * p->layout.block_bytes;
}

// Forgets tokens from n_tokens on. Blocks stay in the table: their owner decides.
static inline void kv_table_truncate(struct kv_table *t, int n_tokens) {
    if (n_tokens < t->n_tokens) t->n_tokens = n_tokens;
}

#endif
