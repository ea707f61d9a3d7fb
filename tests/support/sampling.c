// One sampler at a time, so that a test needs no line to give it back.
#include "tests/support/sampling.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena;
static struct sampler sampler;

static void sampling_end(void) {
    arena_free(&arena);
}

struct sampler *sampling_start(int n_vocab) {
    arena_free(&arena);
    arena_init(&arena, 16 << 20);
    ck_assert_int_eq(sampler_init(&sampler, n_vocab, &arena, NULL), OK);
    return &sampler;
}

TCase *sampling_tcase(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    tcase_add_unchecked_fixture(tc, NULL, sampling_end);
    suite_add_tcase(s, tc);
    return tc;
}

struct sampling sampling_neutral(void) {
    return (struct sampling){.temperature = 1, .top_p = 1, .repetition_penalty = 1};
}

int candidate_compare(const void *a, const void *b) {
    const struct candidate *x = a, *y = b;
    if (x->logit != y->logit) return x->logit > y->logit ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

void draw_logits(struct draw *d, float *logits, int n_vocab, float base, bool has_equals) {
    for (int v = 0; v < n_vocab; v++) {
        logits[v] = base + (has_equals ? (float)draw_int(d, -9, 9) : draw_float(d, -9, 9));
        if (v > 0 && draw_int(d, 0, 9) == 0) logits[v] = -INFINITY;
    }
}

void draw_history(struct draw *d, struct sampler *s) {
    token_id prompt = draw_int(d, 0, s->n_vocab - 1);
    sampler_start(s, &prompt, 1);
    for (int i = draw_int(d, 0, s->n_vocab); i > 0; i--)
        sampler_accept(s, draw_int(d, 0, s->n_vocab - 1));
}

static int most(const struct sampling *how, int n) {
    return how->top_k > 0 && how->top_k < n ? how->top_k : n;
}

struct sampling draw_filters(struct draw *d, const struct candidate *c, int n) {
    struct sampling how = sampling_neutral();
    double sum = 0, before = 0;
    if (draw_int(d, 0, 1)) how.top_k = draw_int(d, 1, n + 2);
    int n_most = most(&how, n), last = draw_int(d, 0, n_most - 1);
    for (int i = 0; i < n_most; i++) sum += c[i].weight;
    while (c[last].weight < sum * 1e-3) last--;
    for (int i = 0; i < last; i++) before += c[i].weight;
    if (draw_int(d, 0, 1)) how.top_p = (float)((before + c[last].weight / 2) / sum);
    last = draw_int(d, 0, n - 1);
    if (draw_int(d, 0, 1)) how.min_p = (float)(c[last].weight / c[0].weight * 0.999);
    return how;
}

void adjust_simply(float *adjusted, const struct sampler *s, const float *logits,
                   const struct sampling *how, const bool *banned) {
    for (int v = 0; v < s->n_vocab; v++) {
        float x = logits[v], r = how->repetition_penalty;
        for (int i = 0; i < how->n_bias; i++) {
            if (how->bias[i].token == v) x += how->bias[i].bias;
        }
        if (s->in_prompt[v] || s->n_output[v] > 0) x *= x > 0 ? 1 / r : r;
        if (s->n_output[v] > 0) x -= how->presence_penalty;
        x -= (float)s->n_output[v] * how->frequency_penalty;
        adjusted[v] = banned && banned[v] ? -INFINITY : x;
    }
}

int weigh_simply(struct candidate *c, const float *logits, int n_vocab, float temperature) {
    float best = logits[0];
    int n = 0;
    for (int v = 1; v < n_vocab; v++) best = fmaxf(best, logits[v]);
    for (int v = 0; v < n_vocab; v++) {
        double weight = exp(((double)logits[v] - (double)best) / (double)temperature);
        if (weight > 0) c[n++] = (struct candidate){v, logits[v], weight};
    }
    return n;
}

int filter_sorted(const struct candidate *c, int n, const struct sampling *how) {
    int n_most = most(how, n), n_kept = 0;
    double sum = 0, kept = 0;
    for (int i = 0; i < n_most; i++) sum += c[i].weight;
    while (n_kept < n_most) {
        bool is_enough = how->top_p < 1 && kept >= (double)how->top_p * sum;
        bool is_light = c[n_kept].weight < (double)how->min_p * c[0].weight;
        if (n_kept > 0 && (is_enough || is_light)) break;
        kept += c[n_kept++].weight;
    }
    return n_kept;
}

void logprobs_sorted(const float *logits, int n_vocab, token_id token,
                     struct token_logprob *drawn, struct token_logprob *top, int n_top) {
    struct candidate c[MAX_CANDIDATES];
    double sum = 0;
    for (int v = 0; v < n_vocab; v++) c[v] = (struct candidate){v, logits[v], 0};
    qsort(c, (size_t)n_vocab, sizeof(*c), candidate_compare);
    for (int v = 0; v < n_vocab; v++) sum += exp((double)logits[v] - (double)c[0].logit);
    double log_sum = (double)c[0].logit + log(sum);
    *drawn = (struct token_logprob){token, (float)((double)logits[token] - log_sum)};
    for (int i = 0; i < n_top; i++)
        top[i] = (struct token_logprob){c[i].token, (float)((double)c[i].logit - log_sum)};
}

const char *call_text(const char *format, ...) {
    static char text[160];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return text;
}

static void assert_column(const char *what, const char *column, const float *got,
                          const float *want, int n) {
    char text[200];
    snprintf(text, sizeof(text), "%s %s", what, column);
    assert_close(text, got, want, (size_t)n, 1e-5);
}

void assert_candidates(const char *what, const struct candidate *got, int n,
                       const struct candidate *want, int n_want) {
    static token_id tokens[2][MAX_CANDIDATES];
    static float logits[2][MAX_CANDIDATES], weights[2][MAX_CANDIDATES];
    char text[200];

    snprintf(text, sizeof(text), "%s tokens", what);
    if (n < 0 || n > MAX_CANDIDATES) assert_number(what, n, n_want);
    for (int side = 0; side < 2; side++) {
        const struct candidate *c = side ? want : got;
        for (int i = 0; i < (side ? n_want : n); i++) {
            tokens[side][i] = c[i].token;
            logits[side][i] = c[i].logit;
            weights[side][i] = (float)c[i].weight;
        }
    }
    assert_ids(text, tokens[0], (size_t)n, tokens[1], (size_t)n_want);
    assert_column(what, "logits", logits[0], logits[1], n);
    assert_column(what, "weights", weights[0], weights[1], n);
}

void assert_logprobs(const char *what, const struct token_logprob *got,
                     const struct token_logprob *want, int n) {
    token_id tokens[2][MAX_TOP];
    float logprobs[2][MAX_TOP];
    char text[200];

    snprintf(text, sizeof(text), "%s tokens", what);
    for (int i = 0; i < n; i++) {
        tokens[0][i] = got[i].token;
        tokens[1][i] = want[i].token;
        logprobs[0][i] = got[i].logprob;
        logprobs[1][i] = want[i].logprob;
    }
    assert_ids(text, tokens[0], (size_t)n, tokens[1], (size_t)n);
    assert_column(what, "logprobs", logprobs[0], logprobs[1], n);
}
