// The sampler: four steps, each a small function, and two ways to put them together. Not here:
// batches, grammars, beams.
// [exercise sampler.draw drop]
//
// Nothing here sorts a vocabulary: only as many are taken from the heap as the filters keep. Sums are
// doubles in a fixed order: every compiler draws the same token.
// [end]
#include "level2-operator/engine/sampler.h"

// [exercise sampler.adjust drop]
#include <math.h>
// [end]
#include <string.h>

#include "common/rng.h"

// [exercise sampler.filter drop]
// Logits are floats, so a sum that reaches top_p on paper may miss it by about 1e-7.
static const double TOP_P_ROUNDING = 1e-6;

// [end]
// [exercise sampler.adjust drop]
// Repetition looks at prompt and output; frequency and presence, as in OpenAI's API, at the output.
static void penalise(struct sampler *s, const struct sampling *how) {
    for (int v = 0; s->any_seen && v < s->n_vocab; v++) {
        int n = s->n_output[v];
        if (n == 0 && !s->in_prompt[v]) continue;
        float x = s->logits[v];
        // Always towards "less likely": dividing a negative logit would reward the repeat.
        x = x > 0 ? x / how->repetition_penalty : x * how->repetition_penalty;
        if (n > 0) x -= (float)n * how->frequency_penalty + how->presence_penalty;
        s->logits[v] = x;
    }
}

// [end]
// [exercise sampler.logprobs drop]
// top[0 .. n_top) stays sorted; equals keep their order, and they come by ascending id.
static void top_insert(struct token_logprob *top, int n_top, struct token_logprob item) {
    int i = n_top - 1;
    for (; i > 0 && top[i - 1].logprob < item.logprob; i--) top[i] = top[i - 1];
    top[i] = item;
}

// [end]
enum status sampler_init(struct sampler *s, int n_vocab, struct arena *arena,
                         struct error *err) {
    *s = (struct sampler){
        .n_output = ARENA_NEW(arena, int, n_vocab),
        .in_prompt = ARENA_NEW(arena, bool, n_vocab),
        .logits = ARENA_NEW(arena, float, n_vocab),
        .candidates = ARENA_NEW(arena, struct candidate, n_vocab),
        .n_vocab = n_vocab,
    };
    if (s->n_output && s->in_prompt && s->logits && s->candidates) return OK;
    memset(s, 0, sizeof(*s));
    return error_set(err, ERR_MEMORY, "no memory to sample from %d tokens", n_vocab);
}

void sampler_start(struct sampler *s, const token_id *prompt, int n_prompt) {
    if (s->any_seen) {
        memset(s->n_output, 0, (size_t)s->n_vocab * sizeof(*s->n_output));
        memset(s->in_prompt, 0, (size_t)s->n_vocab * sizeof(*s->in_prompt));
    }
    for (int t = 0; t < n_prompt; t++) s->in_prompt[prompt[t]] = true;
    s->any_seen = n_prompt > 0;
}

void sampler_accept(struct sampler *s, token_id token) {
    s->n_output[token]++;
    s->any_seen = true;
}

enum status sampler_adjust(struct sampler *s, const float *logits,
                           const struct sampling *how, const bool *banned,
                           struct error *err) {
    // [exercise sampler.adjust]
    for (int v = 0; v < s->n_vocab; v++) {
        if (logits[v] < INFINITY) continue; // false for NaN
        return error_set(err, ERR_NUMERIC,
                         "the logit of token %d is %s: model or computation is broken", v,
                         isnan(logits[v]) ? "not a number" : "infinite");
    }
    memcpy(s->logits, logits, (size_t)s->n_vocab * sizeof(*logits));
    for (int i = 0; i < how->n_bias; i++) {
        token_id token = how->bias[i].token;
        if (token < 0 || token >= s->n_vocab)
            return error_set_param(err, ERR_INPUT, "logit_bias",
                                   "logit_bias names token %d, but ids end at %d", token,
                                   s->n_vocab - 1);
        s->logits[token] += how->bias[i].bias;
    }
    penalise(s, how);

    float best = -INFINITY;
    for (int v = 0; v < s->n_vocab; v++) {
        if (banned && banned[v]) s->logits[v] = -INFINITY;
        best = fmaxf(best, s->logits[v]);
    }
    if (isfinite(best)) return OK;
    return error_set(err, ERR_NUMERIC,
                     "no token can be drawn: all logits are banned or out of range");
    // [end]
}

int sampler_weigh(struct sampler *s, float temperature) {
    // [exercise sampler.draw]
    struct candidate *c = s->candidates;
    token_id best = 0;
    int n = 0;

    for (int v = 1; v < s->n_vocab; v++) {
        if (s->logits[v] > s->logits[best]) best = v;
    }
    if (!(temperature > 0)) {
        c[0] = (struct candidate){best, s->logits[best], 1};
        return 1;
    }
    for (int v = 0; v < s->n_vocab; v++) {
        double above_best = (double)s->logits[v] - (double)s->logits[best]; // 0 or less
        double weight = exp(above_best / (double)temperature);
        if (weight > 0) c[n++] = (struct candidate){v, s->logits[v], weight};
    }
    return n;
    // [end]
}

int sampler_filter(struct candidate *c, int n, const struct sampling *how) {
    // [exercise sampler.filter]
    int n_most = how->top_k > 0 && how->top_k < n ? how->top_k : n;
    int n_sorted = 0, n_kept = 0;
    double sum = 0, kept = 0;

    candidate_heap_build(c, n);
    if (n_most < n) { // top_p is a share of what top_k leaves
        for (; n_sorted < n_most; n_sorted++) candidate_heap_take(c, n_sorted, n);
    }
    for (int i = 0; i < n_most; i++) sum += c[i].weight;
    double enough = (double)how->top_p * sum * (1 - TOP_P_ROUNDING);
    do {
        if (n_kept == n_sorted) candidate_heap_take(c, n_sorted++, n);
        if (c[n_kept].weight < (double)how->min_p * c[0].weight) break;
        kept += c[n_kept++].weight;
    } while (n_kept < n_most && (how->top_p >= 1 || kept < enough));
    return n_kept;
    // [end]
}

token_id sampler_pick(const struct candidate *c, int n, double unit) {
    // [exercise sampler.draw]
    double sum = 0;
    for (int i = 0; i < n; i++) sum += c[i].weight;

    double left = unit * sum;
    int i = 0;
    for (; i < n - 1; i++) { // the last one takes what rounding leaves
        left -= c[i].weight;
        if (left < 0) break;
    }
    return c[i].token;
    // [end]
}

enum status sampler_distribution(struct sampler *s, const float *logits,
                                 const struct sampling *how, const bool *banned, int *n,
                                 struct error *err) {
    enum status st = sampler_adjust(s, logits, how, banned, err);
    if (st != OK) return st;

    struct candidate *c = s->candidates;
    double sum = 0;
    *n = sampler_filter(c, sampler_weigh(s, how->temperature), how);
    for (int i = 0; i < *n; i++) sum += c[i].weight;
    for (int i = 0; i < *n; i++) c[i].weight /= sum;
    return OK;
}

enum status sampler_draw(struct sampler *s, const float *logits, const struct sampling *how,
                         const bool *banned, uint32_t choice, uint32_t position,
                         token_id *token, struct error *err) {
    enum status st = sampler_adjust(s, logits, how, banned, err);
    if (st != OK) return st;

    int n = sampler_weigh(s, how->temperature);
    bool is_filtered = how->top_k > 0 || how->top_p < 1 || how->min_p > 0;
    if (n > 1 && is_filtered) n = sampler_filter(s->candidates, n, how);
    *token = sampler_pick(s->candidates, n, rng_unit(how->seed, choice, position, 0));
    return OK;
}

void sampler_logprobs(const float *logits, int n_vocab, token_id token,
                      struct token_logprob *drawn, struct token_logprob *top, int n_top) {
    // [exercise sampler.logprobs]
    float best = -INFINITY;
    double sum = 0;
    for (int v = 0; v < n_vocab; v++) best = fmaxf(best, logits[v]);
    for (int v = 0; v < n_vocab; v++) sum += exp((double)logits[v] - (double)best);
    double log_sum = (double)best + log(sum);

    *drawn = (struct token_logprob){token, (float)((double)logits[token] - log_sum)};
    for (int v = 0, n = 0; n_top > 0 && v < n_vocab; v++) { // logits first, for exact ties
        if (n < n_top)
            n++;
        else if (!(logits[v] > top[n_top - 1].logprob))
            continue;
        top_insert(top, n, (struct token_logprob){v, logits[v]});
    }
    for (int i = 0; i < n_top; i++)
        top[i].logprob = (float)((double)top[i].logprob - log_sum);
    // [end]
}
