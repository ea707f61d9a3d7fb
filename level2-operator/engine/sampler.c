// Yours to write. Contract: level2-operator/engine/sampler.h. Explained: docs/level2/sampler.md.
// Red or green: make test EX=sampler
//
// The sampler: four steps, each a small function, and two ways to put them together. Not here:
// batches, grammars, beams.
#include "level2-operator/engine/sampler.h"

#include <string.h>

#include "common/exercise.h"
#include "common/rng.h"

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
    EXERCISE("sampler.adjust");
}

int sampler_weigh(struct sampler *s, float temperature) {
    EXERCISE("sampler.draw");
}

int sampler_filter(struct candidate *c, int n, const struct sampling *how) {
    EXERCISE("sampler.filter");
}

token_id sampler_pick(const struct candidate *c, int n, double unit) {
    EXERCISE("sampler.draw");
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
    EXERCISE("sampler.logprobs");
}
