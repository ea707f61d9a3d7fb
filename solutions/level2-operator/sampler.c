// The sampler. Nothing here sorts a vocabulary: candidates stand in a heap, and only as many are
// taken from it, best first, as the filters keep. Not here: batches, grammars, beams.
//
//   s->candidates   | kept, best first |  heap, standing on its head  |
//                   0               n_kept          ... children  root n
//
// A weight is exp((logit - best) / temperature): the best has exactly 1, so no temperature above 0
// can overflow. Sums are doubles in a fixed order: every compiler draws the same token.
#include "level2-operator/sampler.h"

#include <math.h>
#include <string.h>

#include "common/rng.h"

// Logits are floats, so a sum that reaches top_p on paper may miss it by about 1e-7.
static const double TOP_P_ROUNDING = 1e-6;

// Repetition looks at prompt and output; frequency and presence, as in OpenAI's API, at the output.
static void penalise(struct sampler *s, const struct sampling *how) {
    if (!s->any_seen) return;
    for (int v = 0; v < s->n_vocab; v++) {
        int n = s->n_output[v];
        if (n == 0 && !s->in_prompt[v]) continue;
        float x = s->logits[v];
        // Always towards "less likely": dividing a negative logit would reward the repeat.
        x = x > 0 ? x / how->repetition_penalty : x * how->repetition_penalty;
        if (n > 0) x -= (float)n * how->frequency_penalty + how->presence_penalty;
        s->logits[v] = x;
    }
}

// s->logits = logits with bias, penalties and bans; *best is the first of the largest.
static enum status adjust(struct sampler *s, const float *logits,
                          const struct sampling *how, const bool *banned, token_id *best,
                          struct error *err) {
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
    for (int v = 0; banned && v < s->n_vocab; v++) {
        if (banned[v]) s->logits[v] = -INFINITY;
    }

    *best = 0;
    for (int v = 1; v < s->n_vocab; v++) {
        if (s->logits[v] > s->logits[*best]) *best = v;
    }
    if (isfinite(s->logits[*best])) return OK;
    return error_set(err, ERR_NUMERIC,
                     "no token can be drawn: all logits are banned or out of range");
}

static double weight(float logit, float best, float temperature) {
    return exp(((double)logit - (double)best) / (double)temperature);
}

// Lists what can be drawn, by ascending id; a weight that rounds to 0 cannot. *sum of all weights.
static int list_candidates(struct sampler *s, float best, float temperature, double *sum) {
    int n = 0;
    *sum = 0;
    for (int v = 0; v < s->n_vocab; v++) {
        double w = weight(s->logits[v], best, temperature);
        if (!(w > 0)) continue;
        s->candidates[n++] = (struct candidate){v, s->logits[v]};
        *sum += w;
    }
    return n;
}

static bool is_better(struct candidate a, struct candidate b) {
    return a.p != b.p ? a.p > b.p : a.token < b.token;
}

// The heap's element i, counted from its root, is end[-1 - i]: it shrinks from the front, where
// the sorted ones gather.
static void sift_down(struct candidate *end, int n_heap, int i) {
    struct candidate moving = end[-1 - i];
    for (int child; (child = 2 * i + 1) < n_heap; i = child) {
        if (child + 1 < n_heap && is_better(end[-2 - child], end[-1 - child])) child++;
        if (!is_better(end[-1 - child], moving)) break;
        end[-1 - i] = end[-1 - child];
    }
    end[-1 - i] = moving;
}

// Moves the best of the heap c[n_sorted .. n) to c[n_sorted].
static void take_best(struct candidate *c, int n_sorted, int n) {
    struct candidate best = c[n - 1];
    c[n - 1] = c[n_sorted];
    c[n_sorted] = best;
    sift_down(c + n, n - n_sorted - 1, 0);
}

// Sorts the candidates that top_k, top_p and min_p keep to the front. Returns how many; *sum
// becomes their weight.
static int keep_best(struct candidate *c, int n, const struct sampling *how, double *sum) {
    int n_sorted = 0, n_kept = 0;
    double kept = 0;

    for (int i = n / 2 - 1; i >= 0; i--) sift_down(c + n, n, i);
    float best = c[n - 1].p;
    if (how->top_k > 0 && how->top_k < n) { // top_p is a share of what top_k leaves
        *sum = 0;
        for (; n_sorted < how->top_k; n_sorted++) {
            take_best(c, n_sorted, n);
            *sum += weight(c[n_sorted].p, best, how->temperature);
        }
    }
    int n_most = n_sorted > 0 ? n_sorted : n;
    double enough = (double)how->top_p * *sum * (1 - TOP_P_ROUNDING);
    do {
        if (n_kept == n_sorted) take_best(c, n_sorted++, n);
        double w = weight(c[n_kept].p, best, how->temperature);
        if (w < (double)how->min_p && n_kept > 0) break; // the best weighs 1
        kept += w;
        n_kept++;
    } while (n_kept < n_most && (how->top_p >= 1 || kept < enough));
    *sum = kept;
    return n_kept;
}

// What a draw is made from: candidates with their adjusted logits. Sorted if wanted or if a filter
// needs it, else by ascending id.
struct pick {
    int n;      // candidates
    float best; // the largest logit
    double sum; // of the candidates' weights
};

static enum status pick_make(struct sampler *s, const float *logits,
                             const struct sampling *how, const bool *banned, bool sorted,
                             struct pick *pick, struct error *err) {
    token_id best = 0;
    enum status st = adjust(s, logits, how, banned, &best, err);
    if (st != OK) return st;

    *pick = (struct pick){1, s->logits[best], 1};
    s->candidates[0] = (struct candidate){best, pick->best};
    if (!(how->temperature > 0)) return OK; // greedy

    pick->n = list_candidates(s, pick->best, how->temperature, &pick->sum);
    if (sorted || how->top_k > 0 || how->top_p < 1 || how->min_p > 0)
        pick->n = keep_best(s->candidates, pick->n, how, &pick->sum);
    return OK;
}

// top[0 .. n_top) stays sorted; equals keep their order, and they come by ascending id.
static void top_insert(struct token_logprob *top, int n_top, struct token_logprob item) {
    int i = n_top - 1;
    for (; i > 0 && top[i - 1].logprob < item.logprob; i--) top[i] = top[i - 1];
    top[i] = item;
}

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

enum status sampler_distribution(struct sampler *s, const float *logits,
                                 const struct sampling *how, const bool *banned, int *n,
                                 struct error *err) {
    struct pick pick;
    enum status st = pick_make(s, logits, how, banned, true, &pick, err);
    if (st != OK) return st;

    struct candidate *c = s->candidates;
    for (int i = 0; i < pick.n && pick.n > 1; i++) {
        c[i].p = (float)(weight(c[i].p, pick.best, how->temperature) / pick.sum);
    }
    if (pick.n == 1) c[0].p = 1;
    *n = pick.n;
    return OK;
}

enum status sampler_draw(struct sampler *s, const float *logits, const struct sampling *how,
                         const bool *banned, uint32_t choice, uint32_t position,
                         token_id *token, struct error *err) {
    struct pick pick;
    enum status st = pick_make(s, logits, how, banned, false, &pick, err);
    if (st != OK) return st;

    const struct candidate *c = s->candidates;
    double left = rng_unit(how->seed, choice, position, 0) * pick.sum;
    int i = 0;
    for (; i < pick.n - 1; i++) { // the last one takes what rounding leaves
        left -= weight(c[i].p, pick.best, how->temperature);
        if (left < 0) break;
    }
    *token = c[i].token;
    return OK;
}

void sampler_logprobs(const float *logits, int n_vocab, token_id token,
                      struct token_logprob *drawn, struct token_logprob *top, int n_top) {
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
}
