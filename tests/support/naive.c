// The naive forward pass, written to be read beside the papers: RMSNorm (Zhang & Sennrich 2019),
// rotary positions (Su et al. 2021), attention (Vaswani et al. 2017), SwiGLU (Shazeer 2020).
#include "tests/support/naive.h"

#include <math.h>
#include <stdlib.h>

#include "level2-operator/rows_for.h"
#include "tests/support/suite.h"

enum { MAX_ROW = 1024 };

static double *doubles(int n) {
    double *p = calloc((size_t)n, sizeof(double));
    ck_assert(p != NULL);
    return p;
}

static void norm(double *y, const double *x, const float *w, const struct config *c,
                 int n) {
    for (int t = 0; t < n; t++, x += c->d_model, y += c->d_model) {
        double sum = 0;
        for (int i = 0; i < c->d_model; i++) sum += x[i] * x[i];
        double rms = sqrt(sum / c->d_model + (double)c->norm_eps);
        for (int i = 0; i < c->d_model; i++) y[i] = x[i] * (double)w[i] / rms;
    }
}

static void weight_row(float *row, const struct weight *w, int o) {
    ck_assert(w->n_in <= MAX_ROW);
    rows_for(w->dtype)(row, (const char *)w->file + (size_t)o * w->row_bytes, w->n_in);
}

static void product(double *y, const double *x, const struct weight *w, int n) {
    float row[MAX_ROW];
    for (int o = 0; o < w->n_out; o++) {
        weight_row(row, w, o);
        for (int t = 0; t < n; t++) {
            double sum = 0;
            for (int i = 0; i < w->n_in; i++) sum += (double)row[i] * x[t * w->n_in + i];
            y[t * w->n_out + o] = sum;
        }
    }
}

static void add_product(double *x, const double *input, const struct weight *w, int n) {
    double *y = doubles(n * w->n_out);
    product(y, input, w, n);
    for (int i = 0; i < n * w->n_out; i++) x[i] += y[i];
    free(y);
}

static void turn(double *x, int n_heads, const struct config *c, int n) { // llama in GGUF
    ck_assert(c->rope_pairing == ROPE_NEIGHBOURS);
    for (int i = 0; i < n * n_heads * c->d_head; i += 2) {
        int position = i / (n_heads * c->d_head);
        double angle =
            position * pow((double)c->rope_base, -(double)(i % c->d_head) / c->d_head);
        double a = x[i], b = x[i + 1];
        x[i] = a * cos(angle) - b * sin(angle);
        x[i + 1] = a * sin(angle) + b * cos(angle);
    }
}

// One head of row t over keys 0 .. t; k and v begin at this head, rows are d_kv apart.
static void attend_head(double *y, const double *q, const double *k, const double *v, int t,
                        int d_head, int d_kv) {
    double *weight = doubles(t + 1), sum = 0;
    for (int s = 0; s <= t; s++) {
        double score = 0;
        for (int d = 0; d < d_head; d++) score += q[d] * k[s * d_kv + d];
        sum += weight[s] = exp(score / sqrt(d_head));
    }
    for (int d = 0; d < d_head; d++) {
        for (int s = 0; s <= t; s++) y[d] += weight[s] / sum * v[s * d_kv + d];
    }
    free(weight);
}

static void attention_block(double *x, const struct layer *l, const struct config *c,
                            int n) {
    int d_q = c->n_heads * c->d_head, d_kv = c->n_kv_heads * c->d_head;
    double *normed = doubles(n * c->d_model), *q = doubles(n * d_q),
           *mix = doubles(n * d_q);
    double *k = doubles(n * d_kv), *v = doubles(n * d_kv);

    norm(normed, x, l->attn_norm, c, n);
    product(q, normed, &l->q, n);
    product(k, normed, &l->k, n);
    product(v, normed, &l->v, n);
    turn(q, c->n_heads, c, n);
    turn(k, c->n_kv_heads, c, n);
    for (int t = 0; t < n; t++) {
        for (int h = 0; h < c->n_heads; h++) {
            int here = t * d_q + h * c->d_head;
            int kv = h * c->n_kv_heads / c->n_heads * c->d_head;
            attend_head(mix + here, q + here, k + kv, v + kv, t, c->d_head, d_kv);
        }
    }
    add_product(x, mix, &l->o, n);

    double *all[] = {normed, q, mix, k, v};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) free(all[i]);
}

static void mlp_block(double *x, const struct layer *l, const struct config *c, int n) {
    double *normed = doubles(n * c->d_model);
    double *gate = doubles(n * c->d_ff), *up = doubles(n * c->d_ff);

    norm(normed, x, l->ffn_norm, c, n);
    product(gate, normed, &l->gate, n);
    product(up, normed, &l->up, n);
    for (int i = 0; i < n * c->d_ff; i++) gate[i] *= up[i] / (1 + exp(-gate[i]));
    add_product(x, gate, &l->down, n);
    free(normed);
    free(gate);
    free(up);
}

void naive_forward(double *logits, const struct model *m, const token_id *tokens,
                   int n_tokens) {
    const struct config *c = &m->config;
    double *x = doubles(n_tokens * c->d_model);
    float row[MAX_ROW];

    for (int t = 0; t < n_tokens; t++) {
        weight_row(row, &m->token_embd, tokens[t]);
        for (int i = 0; i < c->d_model; i++) x[t * c->d_model + i] = (double)row[i];
    }
    for (int l = 0; l < c->n_layers; l++) {
        attention_block(x, &m->layers[l], c, n_tokens);
        mlp_block(x, &m->layers[l], c, n_tokens);
    }
    norm(x, x, m->output_norm, c, n_tokens);
    product(logits, x, &m->output, n_tokens);
    free(x);
}
