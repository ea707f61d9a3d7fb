// Places in the plain KV cache. A window's old keys stay where they are: they are only not read.
#include "level2-operator/model/kv_plain.h"

#include <string.h>

enum status kv_plain_layout(struct kv_layout *layout, const struct config *c,
                            struct error *err) {
    if (layout->dtype != DTYPE_F32)
        return error_set(err, ERR_UNSUPPORTED,
                         "KV cache: plain ops keep f32, not %s; ask for f32",
                         dtype_info(layout->dtype)->name);
    if (layout->block_len < 1)
        return error_set(err, ERR_INPUT,
                         "KV cache: a block holds %d tokens; ask for 1 or more",
                         layout->block_len);

    // (n_layers, 2, n_kv_heads, block_len, d_head): by the limits of config_read at most 2^54 bytes
    layout->block_bytes = (size_t)c->n_layers * 2 * (size_t)c->n_kv_heads *
                          (size_t)layout->block_len * (size_t)c->d_head * sizeof(float);
    return OK;
}

// K (which = 0) or V (1) of one layer and KV head in a block: (block_len, d_head).
static float *kv_head(const struct run *run, int block, int layer, int which, int head) {
    const struct config *c = &run->model->config;
    const struct kv_pool *pool = run->pool;
    long i = ((long)layer * 2 + which) * c->n_kv_heads + head;
    return (float *)(void *)kv_block(pool, block) + i * pool->layout.block_len * c->d_head;
}

void kv_plain_store(const struct run *run, const struct kv_table *table, int layer,
                    int position, const float *k, const float *v) {
    const struct config *c = &run->model->config;
    int block_len = run->pool->layout.block_len;
    int i_block = position / block_len, inside = position % block_len;
    MUST(i_block < table->n_blocks);

    for (int h = 0; h < c->n_kv_heads; h++) {
        long from = (long)h * c->d_head, to = (long)inside * c->d_head;
        size_t n_bytes = sizeof(float) * (size_t)c->d_head;
        memcpy(kv_head(run, table->blocks[i_block], layer, 0, h) + to, k + from, n_bytes);
        memcpy(kv_head(run, table->blocks[i_block], layer, 1, h) + to, v + from, n_bytes);
    }
}

int kv_plain_runs(struct kv_run *runs, const struct run *run, const struct kv_table *table,
                  int layer, int head, int begin, int end) {
    int block_len = run->pool->layout.block_len, d_head = run->model->config.d_head;
    int n_runs = 0;

    for (int p = begin; p < end; p += runs[n_runs++].n_keys) {
        int block = table->blocks[p / block_len], inside = p % block_len;
        int n_left = end - p, n_here = block_len - inside;
        runs[n_runs] = (struct kv_run){
            .k = kv_head(run, block, layer, 0, head) + (long)inside * d_head,
            .v = kv_head(run, block, layer, 1, head) + (long)inside * d_head,
            .n_keys = n_left < n_here ? n_left : n_here,
        };
    }
    return n_runs;
}
