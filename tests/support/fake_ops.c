// KV block: the token ids, (block_len). That is all there is to remember.
#include "tests/support/fake_ops.h"

#include <check.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct run_fake {
    struct run base;
    token_id *history; // (n_ctx)
    float *logits;     // (max_logit_rows, n_vocab)
};

static fake_fill_fn *script_fill = fake_fill_random;
static void *script_ctx;
static _Atomic long n_rows_computed;

void fake_ops_script(fake_fill_fn *fill, void *ctx) {
    script_fill = fill ? fill : fake_fill_random;
    script_ctx = ctx;
    n_rows_computed = 0;
}

long fake_ops_rows(void) {
    return n_rows_computed;
}

void fake_fill_random(void *ctx, float *logits, int n_vocab, const token_id *history,
                      int n_tokens) {
    (void)ctx;
    uint64_t hash = 14695981039346656037u; // FNV-1a
    for (int t = 0; t < n_tokens; t++)
        hash = (hash ^ (uint32_t)history[t]) * 1099511628211u;
    for (int v = 0; v < n_vocab; v++) {
        uint64_t z = (hash + (uint64_t)v) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 29)) * 0x94d049bb133111ebu;
        logits[v] = (float)((double)(z >> 40) / 16777216.0 * 8 - 4);
    }
}

void fake_fill_count(void *ctx, float *logits, int n_vocab, const token_id *history,
                     int n_tokens) {
    (void)ctx;
    token_id last = history[n_tokens - 1];
    for (int v = 0; v < n_vocab; v++) logits[v] = 0;
    logits[(last + 2) % n_vocab] = 9;
    logits[(last + 1) % n_vocab] = 10;
}

static size_t prepare_bytes(const struct model *m) {
    (void)m;
    return 0;
}

static enum status prepare(struct model *m, struct arena *arena, struct team *team,
                           struct error *err) {
    (void)m, (void)arena, (void)team, (void)err;
    return OK;
}

static enum status kv_layout(struct kv_layout *layout, const struct config *c,
                             struct error *err) {
    (void)c, (void)err;
    layout->block_bytes = (size_t)layout->block_len * sizeof(token_id);
    return OK;
}

static size_t run_bytes(const struct config *c, const struct run_limits *limits) {
    return arena_bytes(1, sizeof(struct run_fake)) +
           arena_bytes((size_t)limits->n_ctx, sizeof(token_id)) +
           arena_bytes((size_t)limits->max_logit_rows * (size_t)c->n_vocab, sizeof(float));
}

static enum status run_init(struct run **run, const struct model *m, struct kv_pool *pool,
                            const struct run_limits *limits, struct arena *arena,
                            struct error *err) {
    struct run_fake *f = ARENA_NEW(arena, struct run_fake, 1);
    if (!f) return error_set(err, ERR_MEMORY, "fake run: no memory");
    f->base = (struct run){.model = m, .pool = pool, .limits = *limits};
    f->history = ARENA_NEW(arena, token_id, limits->n_ctx);
    f->logits =
        ARENA_NEW(arena, float, (size_t)limits->max_logit_rows *(size_t)m->config.n_vocab);
    if (!f->history || !f->logits) return error_set(err, ERR_MEMORY, "fake run: no memory");
    *run = &f->base;
    return OK;
}

static token_id *kv_token(const struct run *run, const struct kv_table *table,
                          int position) {
    int block_len = run->pool->layout.block_len;
    int block = table->blocks[position / block_len];
    return (token_id *)(void *)kv_block(run->pool, block) + position % block_len;
}

static void nothing(struct run *run, const struct step *step, struct worker *me) {
    (void)run, (void)step, (void)me;
}

static void nothing_in_layer(struct run *run, const struct step *step, int layer,
                             struct worker *me) {
    (void)run, (void)step, (void)layer, (void)me;
}

// Only rank 0 works: the fake is about order, not about speed.
static void store(struct run *run, const struct step *step, int layer, struct worker *me) {
    (void)layer;
    if (me->rank != 0) return;
    for (int t = 0; t < step->n_rows; t++) {
        ck_assert(step->token[t] >= 0 && step->token[t] < run->model->config.n_vocab);
        const struct kv_table *table = &step->tables[step->sequence[t]];
        ck_assert_int_lt(step->position[t], run->limits.n_ctx);
        *kv_token(run, table, step->position[t]) = step->token[t];
    }
    n_rows_computed += step->n_rows;
}

static void logits(struct run *run, const struct step *step, struct worker *me) {
    struct run_fake *f = (struct run_fake *)run;
    int n_vocab = run->model->config.n_vocab;
    if (me->rank != 0) return;
    for (int i = 0; i < step->n_logit_rows; i++) {
        int t = step->logit_rows[i], n_tokens = step->position[t] + 1;
        const struct kv_table *table = &step->tables[step->sequence[t]];
        for (int p = 0; p < n_tokens; p++) f->history[p] = *kv_token(run, table, p);
        script_fill(script_ctx, f->logits + (long)i * n_vocab, n_vocab, f->history,
                    n_tokens);
    }
}

static const float *logit_row(const struct run *run, int i) {
    return ((const struct run_fake *)run)->logits + (long)i * run->model->config.n_vocab;
}

const struct ops fake_ops = {
    .name = "fake",
    .prepare_bytes = prepare_bytes,
    .prepare = prepare,
    .kv_layout = kv_layout,
    .run_bytes = run_bytes,
    .run_init = run_init,
    .embed = nothing,
    .norm_qkv_store = store,
    .attend = nothing_in_layer,
    .out_add = nothing_in_layer,
    .norm_gate_up = nothing_in_layer,
    .down_add = nothing_in_layer,
    .logits = logits,
    .logit_row = logit_row,
};

void fake_model_open(struct model *m, int n_vocab, int n_ctx, token_id eos) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    memset(m, 0, sizeof(*m));
    arena_init(&m->arena, 64 << 20);
    m->config = (struct config){.n_layers = 1,
                                .d_model = 8,
                                .n_heads = 2,
                                .n_kv_heads = 1,
                                .d_head = 4,
                                .d_ff = 8,
                                .n_vocab = n_vocab,
                                .n_ctx = n_ctx,
                                .norm_eps = 1e-5f,
                                .rope_base = 10000};
    m->layers = ARENA_NEW(&m->arena, struct layer, 1);
    m->is_tied = true;
    m->tokenizer.n_vocab = n_vocab;
    m->tokenizer.eos = eos;
    m->tokenizer.bos = m->tokenizer.unknown = -1;
    m->tokenizer.is_end = ARENA_NEW(&m->arena, bool, n_vocab);
    m->tokenizer.pieces = ARENA_NEW(&m->arena, struct token_piece, n_vocab);
    for (int v = 0; v < n_vocab; v++) {
        m->tokenizer.pieces[v] = (struct token_piece){letters + v % 26, 1, TOKEN_NORMAL};
    }
    m->tokenizer.is_end[eos] = true;
    m->tokenizer.pieces[eos] = (struct token_piece){"", 0, TOKEN_CONTROL};
    snprintf(m->name, sizeof(m->name), "fake");
}
