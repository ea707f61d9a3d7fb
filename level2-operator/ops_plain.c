// The stages in plain C: f32 activations, f32 KV, every product in the order of dot_f32. They
// refuse to be fast; they are the judge of all ops that are.
//
// Who computes what: matrix products, and what follows them column by column, are split by columns;
// what needs a whole row is split by rows; attention is claimed item by item, since rows differ in
// length. Every worker normalises all rows for itself: that costs less than a barrier.
//
//   KV block   (n_layers, 2, n_kv_heads, block_len, d_head) f32, K before V
#include "level2-operator/ops.h"

#include <math.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/attention.h"
#include "level2-operator/matmul.h"
#include "level2-operator/rmsnorm.h"
#include "level2-operator/rope.h"
#include "level2-operator/rows_for.h"
#include "level2-operator/run_plain.h"

enum {
    LINE = ARENA_ALIGN / sizeof(float)
}; // columns that share a cache line stay with one worker

static size_t prepare_bytes(const struct model *m) {
    (void)m;
    return 0; // the rows are read where they lie, in the file
}

static enum status prepare(struct model *m, struct arena *arena, struct team *team,
                           struct error *err) {
    (void)m, (void)arena, (void)team, (void)err;
    return OK;
}

static struct run_plain *plain(struct run *run) {
    return (struct run_plain *)run;
}

static float *own_row(const struct run_plain *r, const struct worker *me) {
    return r->row + (long)me->rank * r->row_len;
}

static float *own_normed(const struct run_plain *r, const struct worker *me) {
    return r->normed +
           (long)me->rank * r->base.limits.max_rows * r->base.model->config.d_model;
}

// y = w . x, this worker's columns; returns which.
static struct range matmul_share(float *y, const float *x, const struct weight *w,
                                 const struct run_plain *r, int n_rows, struct worker *me) {
    struct range mine = team_split(me, w->n_out, LINE);
    matmul(y, x, w, n_rows, mine.begin, mine.end, own_row(r, me));
    return mine;
}

// r->x += w . input, this worker's columns.
static void add_product(struct run_plain *r, const float *input, const struct weight *w,
                        int n_rows, struct worker *me) {
    struct range mine = matmul_share(r->add, input, w, r, n_rows, me);
    for (int t = 0; t < n_rows; t++) {
        float *xt = r->x + (long)t * w->n_out;
        const float *at = r->add + (long)t * w->n_out;
        for (int o = mine.begin; o < mine.end; o++) xt[o] += at[o];
    }
}

// K (which = 0) or V (1) of one layer and KV head in a block: (block_len, d_head).
static float *kv_head(const struct run_plain *r, int block, int layer, int which,
                      int head) {
    const struct config *c = &r->base.model->config;
    const struct kv_pool *pool = r->base.pool;
    long i = ((long)layer * 2 + which) * c->n_kv_heads + head;
    return (float *)(void *)kv_block(pool, block) + i * pool->layout.block_len * c->d_head;
}

// K and V of one row go where its sequence's table says.
static void store(const struct run_plain *r, const struct step *step, int layer, int t) {
    const struct config *c = &r->base.model->config;
    const struct kv_table *table = &step->tables[step->sequence[t]];
    int block_len = r->base.pool->layout.block_len;
    int i_block = step->position[t] / block_len, inside = step->position[t] % block_len;
    MUST(i_block < table->n_blocks);

    for (int h = 0; h < c->n_kv_heads; h++) {
        long from = ((long)t * c->n_kv_heads + h) * c->d_head,
             to = (long)inside * c->d_head;
        size_t n_bytes = sizeof(float) * (size_t)c->d_head;
        memcpy(kv_head(r, table->blocks[i_block], layer, 0, h) + to, r->k + from, n_bytes);
        memcpy(kv_head(r, table->blocks[i_block], layer, 1, h) + to, r->v + from, n_bytes);
    }
}

// Keys begin .. end - 1 of a sequence as runs, one per block that they touch; returns how many.
static int list_runs(struct kv_run *runs, const struct run_plain *r,
                     const struct kv_table *table, int layer, int head, int begin,
                     int end) {
    int block_len = r->base.pool->layout.block_len, d_head = r->base.model->config.d_head;
    int n_runs = 0;

    for (int p = begin; p < end; p += runs[n_runs++].n_keys) {
        int block = table->blocks[p / block_len], inside = p % block_len;
        int n_left = end - p, n_here = block_len - inside;
        runs[n_runs] = (struct kv_run){
            .k = kv_head(r, block, layer, 0, head) + (long)inside * d_head,
            .v = kv_head(r, block, layer, 1, head) + (long)inside * d_head,
            .n_keys = n_left < n_here ? n_left : n_here,
        };
    }
    return n_runs;
}

// One row in one head: all segments up to its own position, merged in ascending order.
static void attend_row(struct run_plain *r, const struct step *step, int layer, int t,
                       int head, float *acc) {
    const struct config *c = &r->base.model->config;
    struct kv_run runs[LIMIT_ATTENTION_SEGMENT];
    struct attention_part whole = {.max = -INFINITY, .acc = acc};
    struct attention_part part = {.acc = acc + c->d_head};
    long here = ((long)t * c->n_heads + head) * c->d_head;
    int n_keys = step->position[t] + 1;
    int group = c->n_heads / c->n_kv_heads; // neighbouring heads share keys and values
    float scale = 1.0f / sqrtf((float)c->d_head);

    memset(whole.acc, 0, sizeof(float) * (size_t)c->d_head);
    for (int begin = 0; begin < n_keys; begin += LIMIT_ATTENTION_SEGMENT) {
        int end = begin + LIMIT_ATTENTION_SEGMENT;
        int n_runs = list_runs(runs, r, &step->tables[step->sequence[t]], layer,
                               head / group, begin, end < n_keys ? end : n_keys);
        attention_segment(&part, r->q + here, runs, n_runs, c->d_head, scale);
        attention_merge(&whole, &part, c->d_head);
    }
    attention_finish(r->mix + here, &whole, c->d_head);
}

static float silu(float x) { // Elfwing et al. 2017, arXiv:1702.03118
    return x / (1.0f + expf(-x));
}

static void embed(struct run *run, const struct step *step, struct worker *me) {
    const struct weight *w = &run->model->token_embd;
    rows_fn *expand = rows_for(w->dtype);
    struct range mine = team_split(me, step->n_rows, 1);

    for (int t = mine.begin; t < mine.end; t++) {
        token_id token = step->token[t];
        MUST(token >= 0 && token < w->n_out);
        expand(plain(run)->x + (long)t * w->n_in,
               (const char *)w->file + (size_t)token * w->row_bytes, w->n_in);
    }
}

static void norm_qkv_store(struct run *run, const struct step *step, int layer,
                           struct worker *me) {
    struct run_plain *r = plain(run);
    const struct config *c = &run->model->config;
    const struct layer *l = &run->model->layers[layer];
    float *normed = own_normed(r, me);

    rmsnorm(normed, r->x, l->attn_norm, step->n_rows, c->d_model, c->norm_eps);
    matmul_share(r->q, normed, &l->q, r, step->n_rows, me);
    matmul_share(r->k, normed, &l->k, r, step->n_rows, me);
    matmul_share(r->v, normed, &l->v, r, step->n_rows, me);
    team_barrier(me); // a head is whole only now

    struct range mine = team_split(me, step->n_rows, 1);
    for (int t = mine.begin; t < mine.end; t++) {
        float *qt = r->q + (long)t * c->n_heads * c->d_head;
        float *kt = r->k + (long)t * c->n_kv_heads * c->d_head;
        rope(qt, r->freq, step->position[t], c->n_heads, c->d_head, c->rope_pairing);
        rope(kt, r->freq, step->position[t], c->n_kv_heads, c->d_head, c->rope_pairing);
        store(r, step, layer, t);
    }
}

static void attend(struct run *run, const struct step *step, int layer, struct worker *me) {
    struct run_plain *r = plain(run);
    const struct attention_plan *plan = step->plan;
    float *acc = r->acc + (long)me->rank * 2 * run->model->config.d_head;

    MUST(plan->n_parts == 0); // rows in parts are level 4's
    for (int i = team_claim(me, plan->n_items); i >= 0; i = team_claim(me, plan->n_items)) {
        const struct attention_item *item = &plan->items[i];
        for (int t = 0; t < item->n_rows; t++) {
            for (int h = 0; h < item->n_heads; h++) {
                attend_row(r, step, layer, plan->rows[item->first_row + t],
                           item->first_head + h, acc);
            }
        }
    }
}

static void out_add(struct run *run, const struct step *step, int layer,
                    struct worker *me) {
    struct run_plain *r = plain(run);
    add_product(r, r->mix, &run->model->layers[layer].o, step->n_rows, me);
}

static void norm_gate_up(struct run *run, const struct step *step, int layer,
                         struct worker *me) {
    struct run_plain *r = plain(run);
    const struct config *c = &run->model->config;
    const struct layer *l = &run->model->layers[layer];
    float *normed = own_normed(r, me);

    rmsnorm(normed, r->x, l->ffn_norm, step->n_rows, c->d_model, c->norm_eps);
    struct range mine = matmul_share(r->gate, normed, &l->gate, r, step->n_rows, me);
    matmul_share(r->up, normed, &l->up, r, step->n_rows, me); // the same columns

    for (int t = 0; t < step->n_rows; t++) { // SwiGLU: Shazeer 2020, arXiv:2002.05202
        float *gate = r->gate + (long)t * c->d_ff;
        const float *up = r->up + (long)t * c->d_ff;
        for (int i = mine.begin; i < mine.end; i++) gate[i] = silu(gate[i]) * up[i];
    }
}

static void down_add(struct run *run, const struct step *step, int layer,
                     struct worker *me) {
    struct run_plain *r = plain(run);
    add_product(r, r->gate, &run->model->layers[layer].down, step->n_rows, me);
}

static void logits(struct run *run, const struct step *step, struct worker *me) {
    struct run_plain *r = plain(run);
    const struct config *c = &run->model->config;
    float *normed = own_normed(r, me);

    for (int i = 0; i < step->n_logit_rows; i++) {
        rmsnorm(normed + (long)i * c->d_model,
                r->x + (long)step->logit_rows[i] * c->d_model, run->model->output_norm, 1,
                c->d_model, c->norm_eps);
    }
    if (step->n_logit_rows > 0)
        matmul_share(r->logits, normed, &run->model->output, r, step->n_logit_rows, me);
}

static const float *logit_row(const struct run *run, int i) {
    return ((const struct run_plain *)run)->logits + (long)i * run->model->config.n_vocab;
}

const struct ops ops_plain = {
    .name = "plain",
    .prepare_bytes = prepare_bytes,
    .prepare = prepare,
    .kv_layout = kv_layout_plain,
    .run_bytes = run_plain_bytes,
    .run_init = run_plain_init,
    .embed = embed,
    .norm_qkv_store = norm_qkv_store,
    .attend = attend,
    .out_add = out_add,
    .norm_gate_up = norm_gate_up,
    .down_add = down_add,
    .logits = logits,
    .logit_row = logit_row,
};
