// The rig: tables whose blocks lie far from each other, in falling order.
#include "tests/support/forward_rig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/model/forward.h"
#include "tests/support/naive.h"
#include "tests/support/suite.h"

static void open_tables(struct forward_rig *g, int n_each) {
    for (int s = 0; s < N_SEQS; s++) {
        g->tables[s] = (struct kv_table){.blocks = ARENA_NEW(&g->arena, int, n_each),
                                         .n_blocks = n_each,
                                         .max_blocks = n_each};
        ck_assert(g->tables[s].blocks);
        for (int i = 0; i < n_each; i++)
            g->tables[s].blocks[i] = (n_each - 1 - i) * N_SEQS + s;
    }
}

void pass_open(struct forward_rig *g, struct model *model, int n_workers, int block_len) {
    const struct config *c = &model->config;
    struct run_limits limits = {MAX_ROWS, MAX_ROWS, n_workers, N_CTX};
    struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = block_len};
    int n_each = (N_CTX + block_len - 1) / block_len, max_items = MAX_ROWS * c->n_heads;
    struct error err = {0};

    *g = (struct forward_rig){.model = model};
    arena_init(&g->arena, 256 << 20);
    ck_assert(team_open(&g->team, &g->arena, n_workers, &err) == OK);
    ck_assert(ops_plain.kv_layout(&layout, c, &err) == OK);
    ck_assert(kv_pool_init(&g->pool, &layout, N_SEQS * n_each, &g->arena, &err) == OK);
    ck_assert(ops_plain.run_init(&g->run, model, &g->pool, &limits, &g->arena, &err) == OK);
    g->plan = (struct attention_plan){
        .items = ARENA_NEW(&g->arena, struct attention_item, max_items),
        .max_items = max_items,
        .rows = ARENA_NEW(&g->arena, int, MAX_ROWS),
        .max_rows = MAX_ROWS};
    ck_assert(g->plan.items && g->plan.rows);
    open_tables(g, n_each);
    arena_seal(&g->arena);
}

void pass_close(struct forward_rig *g) {
    team_close(&g->team);
    arena_free(&g->arena);
}

void pass_step(struct forward_rig *g, const token_id *token, const int *position,
               const int *sequence, int n_rows, int n_logit_rows) {
    int logit_rows[MAX_ROWS];
    for (int i = 0; i < MAX_ROWS; i++) logit_rows[i] = i;
    struct step step = {n_rows, token,      position,     sequence, g->tables,
                        N_SEQS, logit_rows, n_logit_rows, &g->plan};
    attention_plan_simple(&g->plan, &step, g->model->config.n_heads);
    forward(&ops_plain, g->run, &step, &g->team);
}

void pass_feed(struct forward_rig *g, float *out, const token_id *tokens, int n_tokens,
               int sequence, int chunk) {
    size_t n_vocab = (size_t)g->model->config.n_vocab;
    struct kv_table *table = &g->tables[sequence];
    int position[MAX_ROWS], sequences[MAX_ROWS];

    for (int done = 0; done < n_tokens;) {
        int n = n_tokens - done < chunk ? n_tokens - done : chunk;
        for (int i = 0; i < n; i++) {
            position[i] = table->n_tokens + i;
            sequences[i] = sequence;
        }
        pass_step(g, tokens + done, position, sequences, n, n);
        for (int i = 0; i < n; i++, out += n_vocab)
            memcpy(out, ops_plain.logit_row(g->run, i), sizeof(float) * n_vocab);
        table->n_tokens += n;
        done += n;
    }
}

void pass_logits_of(float *out, struct model *model, const token_id *tokens, int n_tokens,
                    struct forward_cut cut) {
    struct forward_rig g;
    pass_open(&g, model, cut.n_workers, cut.block_len);
    pass_feed(&g, out, tokens, n_tokens, 0, cut.chunk);
    pass_close(&g);
}

float *pass_logits_new(const struct model *model, int n_tokens) {
    size_t n = (size_t)n_tokens * (size_t)model->config.n_vocab;
    float *logits = calloc(n, sizeof(float));
    ck_assert(logits != NULL);
    return logits;
}

void pass_assert_same_logits(const struct model *model, const float *got, const float *want,
                             int n_tokens, const char *what, int value) {
    size_t n = (size_t)model->config.n_vocab;
    for (int t = 0; t < n_tokens; t++)
        ck_assert_msg(
            memcmp(got + (size_t)t * n, want + (size_t)t * n, n * sizeof(float)) == 0,
            "%s %d: logits of token %d differ", what, value, t);
}

void pass_assert_naive(const struct model *model, const float *got, const token_id *tokens,
                       int n_tokens, const char *what) {
    int n_values = n_tokens * model->config.n_vocab;
    double *want = calloc((size_t)n_values, sizeof(double)), largest = 0, difference = 0;

    ck_assert(want != NULL);
    naive_forward(want, model, tokens, n_tokens);
    for (int i = 0; i < n_values; i++) {
        largest = fmax(largest, fabs(want[i]));
        ck_assert(isfinite(got[i]));
        difference = fmax(difference, fabs((double)got[i] - want[i]));
    }
    ck_assert_msg(difference < 1e-4 * largest, "%s: differs by %g of %g", what, difference,
                  largest);
    free(want);
}
