// The memory of one plain forward pass: what run_plain.c takes and ops_plain.c works in.
// No other module includes it.
#ifndef LEVEL2_RUN_PLAIN_H
#define LEVEL2_RUN_PLAIN_H

#include "level2-operator/model/ops.h"

struct run_plain {
    struct run base; // first: the world sees only this
    // owned by the arena, written by all workers, each its own rows or columns
    float *x;         // (max_rows, d_model): the residual stream
    float *q;         // (max_rows, n_heads * d_head)
    float *k, *v;     // (max_rows, n_kv_heads * d_head)
    float *mix;       // (max_rows, n_heads * d_head): what attention read
    float *gate, *up; // (max_rows, d_ff)
    float *add;       // (max_rows, d_model): what a block adds to x
    float *logits;    // (max_logit_rows, n_vocab)
    // one per worker: it alone reads and writes its part
    float *normed; // (max_workers, max_rows, d_model)
    float *row;    // (max_workers, row_len): one row of weights as floats
    float *acc;    // (max_workers, 2, d_head): attention so far, and its next segment
    int row_len;   // longest row of any matrix
};

size_t run_plain_bytes(const struct config *c, const struct run_limits *limits);
enum status run_plain_init(struct run **run, const struct model *m, struct kv_pool *pool,
                           const struct run_limits *limits, struct arena *arena,
                           struct error *err);

#endif
