// The naive forward pass, written to be read beside the papers: RMSNorm (Zhang & Sennrich 2019),
// rotary positions (Su et al. 2021), attention (Vaswani et al. 2017), SwiGLU and GeGLU (Shazeer 2020).
#include "tests/support/naive.h"

#include <math.h>
#include <stdlib.h>

#include "level2-operator/kernels/rows_for.h"
#include "tests/support/suite.h"

enum { MAX_ROW = 1024 };

static double *doubles(int n) {
    double *p = calloc((size_t)n, sizeof(double));
    ck_assert(p != NULL);
    return p;
}

// Rows of width values. y may be x.
static void norm(double *y, const double *x, const float *w, const struct config *c, int n,
                 int width) {
    for (int t = 0; t < n; t++, x += width, y += width) {
        double sum = 0;
        for (int i = 0; i < width; i++) sum += x[i] * x[i];
        double rms = sqrt(sum / width + (double)c->norm_eps);
        for (int i = 0; i < width; i++) y[i] = x[i] * (double)w[i] / rms;
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
            double sum = w->bias ? (double)w->bias[o] : 0;
            for (int i = 0; i < w->n_in; i++) sum += (double)row[i] * x[t * w->n_in + i];
            y[t * w->n_out + o] = sum;
        }
    }
}

static void add_product(double *x, const double *input, const struct weight *w,
                        const float *post_norm, const struct config *c, int n) {
    double *y = doubles(n * w->n_out);
    product(y, input, w, n);
    if (post_norm) norm(y, y, post_norm, c, n, c->d_model);
    for (int i = 0; i < n * w->n_out; i++) x[i] += y[i];
    free(y);
}

static void turn(double *x, int n_heads, const float *freq, const struct config *c, int n) {
    bool halves = c->rope_pairing == ROPE_HALVES;
    for (int i_head = 0; i_head < n * n_heads; i_head++, x += c->d_head) {
        for (int i = 0; i < c->d_head / 2; i++) {
            double angle = (double)(i_head / n_heads) * (double)freq[i];
            double *first = halves ? &x[i] : &x[2 * i];
            double *second = halves ? &x[i + c->d_head / 2] : &x[2 * i + 1];
            double a = *first, b = *second;
            *first = a * cos(angle) - b * sin(angle);
            *second = a * sin(angle) + b * cos(angle);
        }
    }
}

// One head of a row over n keys; k and v begin at the first of them in this head, rows are d_kv apart.
static void attend_head(double *y, const double *q, const double *k, const double *v, int n,
                        const struct config *c) {
    int d_kv = c->n_kv_heads * c->d_head;
    double *weight = doubles(n), sum = 0;
    for (int s = 0; s < n; s++) {
        double score = 0;
        for (int d = 0; d < c->d_head; d++) score += q[d] * k[s * d_kv + d];
        sum += weight[s] = exp(score * (double)c->attention_scale);
    }
    for (int d = 0; d < c->d_head; d++) {
        for (int s = 0; s < n; s++) y[d] += weight[s] / sum * v[s * d_kv + d];
    }
    free(weight);
}

static void attention_block(double *x, const struct model *m, int i_layer, int n) {
    const struct layer *l = &m->layers[i_layer];
    const struct config *c = &m->config;
    int d_q = c->n_heads * c->d_head, d_kv = c->n_kv_heads * c->d_head;
    double *normed = doubles(n * c->d_model), *q = doubles(n * d_q),
           *mix = doubles(n * d_q);
    double *k = doubles(n * d_kv), *v = doubles(n * d_kv);

    norm(normed, x, l->attn_norm, c, n, c->d_model);
    product(q, normed, &l->q, n);
    product(k, normed, &l->k, n);
    product(v, normed, &l->v, n);
    if (l->q_norm) norm(q, q, l->q_norm, c, n * c->n_heads, c->d_head);
    if (l->k_norm) norm(k, k, l->k_norm, c, n * c->n_kv_heads, c->d_head);
    turn(q, c->n_heads, l->rope_freq, c, n);
    turn(k, c->n_kv_heads, l->rope_freq, c, n);
    bool is_windowed =
        c->window > 0 &&
        (c->window_period == 0 || i_layer % c->window_period != c->window_period - 1);
    for (int t = 0; t < n; t++) {
        int first = is_windowed && t >= c->window ? t - c->window + 1 : 0;
        for (int h = 0; h < c->n_heads; h++) {
            int here = t * d_q + h * c->d_head;
            int kv = first * d_kv + h * c->n_kv_heads / c->n_heads * c->d_head;
            attend_head(mix + here, q + here, k + kv, v + kv, t - first + 1, c);
        }
    }
    add_product(x, mix, &l->o, l->attn_post_norm, c, n);

    double *all[] = {normed, q, mix, k, v};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) free(all[i]);
}

static double curve(double x, enum activation f) {
    double tanh_of = tanh(sqrt(2 / 3.14159265358979324) * (x + 0.044715 * x * x * x));
    return f == ACTIVATION_SILU ? x / (1 + exp(-x)) : 0.5 * x * (1 + tanh_of);
}

static void mlp_block(double *x, const struct layer *l, const struct config *c, int n) {
    double *normed = doubles(n * c->d_model);
    double *gate = doubles(n * c->d_ff), *up = doubles(n * c->d_ff);

    norm(normed, x, l->ffn_norm, c, n, c->d_model);
    product(gate, normed, &l->gate, n);
    product(up, normed, &l->up, n);
    for (int i = 0; i < n * c->d_ff; i++) gate[i] = curve(gate[i], c->activation) * up[i];
    add_product(x, gate, &l->down, l->ffn_post_norm, c, n);
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
        for (int i = 0; i < c->d_model; i++)
            x[t * c->d_model + i] = (double)row[i] * (double)c->embedding_scale;
    }
    for (int l = 0; l < c->n_layers; l++) {
        attention_block(x, m, l, n_tokens);
        mlp_block(x, &m->layers[l], c, n_tokens);
    }
    norm(x, x, m->output_norm, c, n_tokens, c->d_model);
    product(logits, x, &m->output, n_tokens);
    free(x);
}
