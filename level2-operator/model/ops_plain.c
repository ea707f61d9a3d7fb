// The stages in plain C: f32 activations, f32 KV, every product in the order of dot_f32. They
// refuse to be fast; they are the judge of all ops that are.
//
// Who computes what: matrix products, and what follows them column by column, are split by columns;
// what needs a whole row is split by rows; attention is claimed item by item, since rows differ in
// length. Every worker normalises all rows for itself: that costs less than a barrier.
#include "level2-operator/model/ops.h"

#include <math.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/kernels/activation.h"
#include "level2-operator/kernels/attention.h"
#include "level2-operator/kernels/matmul.h"
#include "level2-operator/kernels/rmsnorm.h"
#include "level2-operator/kernels/rope.h"
#include "level2-operator/kernels/rows_for.h"
#include "level2-operator/model/kv_plain.h"
#include "level2-operator/model/run_plain.h"

// Columns that share a cache line stay with one worker.
enum { LINE = ARENA_ALIGN / sizeof(float) };

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

// y = w . x + bias, this worker's columns; returns which.
static struct range matmul_share(float *y, const float *x, const struct weight *w,
                                 const struct run_plain *r, int n_rows, struct worker *me) {
    struct range mine = team_split(me, w->n_out, LINE);
    matmul(y, x, w, n_rows, mine.begin, mine.end, own_row(r, me));
    if (!w->bias) return mine;
    for (int t = 0; t < n_rows; t++) {
        float *yt = y + (long)t * w->n_out;
        for (int o = mine.begin; o < mine.end; o++) yt[o] += w->bias[o];
    }
    return mine;
}

// Columns begin .. end - 1 of row t of x += those of add.
static void add_columns(struct run_plain *r, int t, int begin, int end) {
    long d_model = r->base.model->config.d_model;
    float *xt = r->x + t * d_model;
    const float *at = r->add + t * d_model;
    for (int o = begin; o < end; o++) xt[o] += at[o];
}

// r->x += w . input, through post_norm if there is one: then rows must be whole first.
static void add_product(struct run_plain *r, const float *input, const struct weight *w,
                        const float *post_norm, int n_rows, struct worker *me) {
    const struct config *c = &r->base.model->config;
    struct range columns = matmul_share(r->add, input, w, r, n_rows, me);
    if (!post_norm) {
        for (int t = 0; t < n_rows; t++) add_columns(r, t, columns.begin, columns.end);
        return;
    }
    team_barrier(me);
    struct range rows = team_split(me, n_rows, 1);
    for (int t = rows.begin; t < rows.end; t++) {
        float *at = r->add + (long)t * c->d_model;
        rmsnorm(at, at, post_norm, 1, c->d_model, c->norm_eps);
        add_columns(r, t, 0, c->d_model);
    }
}

// One row in one head: all segments from its first key to its own position, merged in ascending order.
static void attend_row(struct run_plain *r, const struct step *step, int layer, int t,
                       int head, float *acc) {
    const struct config *c = &r->base.model->config;
    struct kv_run runs[LIMIT_ATTENTION_SEGMENT];
    struct attention_part whole = {.max = -INFINITY, .acc = acc};
    struct attention_part part = {.acc = acc + c->d_head};
    long here = ((long)t * c->n_heads + head) * c->d_head;
    int group = c->n_heads / c->n_kv_heads; // neighbouring heads share keys and values
    int n_keys = step->position[t] + 1;
    int first = config_first_key(c, layer, step->position[t]);

    memset(whole.acc, 0, sizeof(float) * (size_t)c->d_head);
    for (int begin = first, end; begin < n_keys; begin = end) {
        end = (begin / LIMIT_ATTENTION_SEGMENT + 1) * LIMIT_ATTENTION_SEGMENT;
        if (end > n_keys) end = n_keys;
        int n_runs = kv_plain_runs(runs, &r->base, &step->tables[step->sequence[t]], layer,
                                   head / group, begin, end);
        attention_segment(&part, r->q + here, runs, n_runs, c->d_head, c->attention_scale);
        attention_merge(&whole, &part, c->d_head);
    }
    attention_finish(r->mix + here, &whole, c->d_head);
}

static void embed(struct run *run, const struct step *step, struct worker *me) {
    const struct weight *w = &run->model->token_embd;
    rows_fn *expand = rows_for(w->dtype);
    float scale = run->model->config.embedding_scale;
    struct range mine = team_split(me, step->n_rows, 1);

    for (int t = mine.begin; t < mine.end; t++) {
        token_id token = step->token[t];
        MUST(token >= 0 && token < w->n_out);
        float *xt = plain(run)->x + (long)t * w->n_in;
        expand(xt, (const char *)w->file + (size_t)token * w->row_bytes, w->n_in);
        if (scale == 1) continue;
        for (int i = 0; i < w->n_in; i++) xt[i] *= scale;
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
        const float *vt = r->v + (long)t * c->n_kv_heads * c->d_head;
        int position = step->position[t];
        if (l->q_norm) rmsnorm(qt, qt, l->q_norm, c->n_heads, c->d_head, c->norm_eps);
        if (l->k_norm) rmsnorm(kt, kt, l->k_norm, c->n_kv_heads, c->d_head, c->norm_eps);
        rope(qt, l->rope_freq, position, c->n_heads, c->d_head, c->rope_pairing);
        rope(kt, l->rope_freq, position, c->n_kv_heads, c->d_head, c->rope_pairing);
        kv_plain_store(run, &step->tables[step->sequence[t]], layer, position, kt, vt);
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
    const struct layer *l = &run->model->layers[layer];
    add_product(r, r->mix, &l->o, l->attn_post_norm, step->n_rows, me);
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

    for (int t = 0; t < step->n_rows; t++) {
        long at = (long)t * c->d_ff + mine.begin;
        activation_gate(r->gate + at, r->up + at, mine.end - mine.begin, c->activation);
    }
}

static void down_add(struct run *run, const struct step *step, int layer,
                     struct worker *me) {
    struct run_plain *r = plain(run);
    const struct layer *l = &run->model->layers[layer];
    add_product(r, r->gate, &l->down, l->ffn_post_norm, step->n_rows, me);
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
    .kv_layout = kv_plain_layout,
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
