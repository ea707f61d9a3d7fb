// From logits to one token. A pure function of logits, settings, history and the generator's key.
// An exercise: solutions/level2-operator/sampler.c.
//
//   logits ─▶ bias ─▶ penalties ─▶ (greedy: the best) ─▶ / temperature ─▶ top_k ─▶ softmax
//          ─▶ top_p ─▶ min_p ─▶ renormalise ─▶ draw
#ifndef LEVEL2_SAMPLER_H
#define LEVEL2_SAMPLER_H

#include "common/arena.h"
#include "common/engine.h"
#include "common/status.h"

struct candidate {
    token_id token;
    float p; // logit before softmax, probability after
};

// What a request has seen so far, and room to work in. Sized once, reused by the next request.
struct sampler {
    // owned by the arena
    int *n_output;                // (n_vocab): occurrences among the tokens drawn
    bool *in_prompt;              // (n_vocab)
    float *logits;                // (n_vocab): the adjusted copy
    struct candidate *candidates; // (n_vocab)
    // state
    bool any_seen;
    // fixed at init
    int n_vocab;
};

// Bytes that sampler_init takes from its arena.
static inline size_t sampler_bytes(int n_vocab) {
    size_t n = (size_t)n_vocab;
    return arena_bytes(n, sizeof(int)) + arena_bytes(n, sizeof(bool)) +
           arena_bytes(n, sizeof(float)) + arena_bytes(n, sizeof(struct candidate));
}

enum status sampler_init(struct sampler *s, int n_vocab, struct arena *arena,
                         struct error *err);

// Forgets the last request and remembers this prompt. ids must be valid.
void sampler_start(struct sampler *s, const token_id *prompt, int n_prompt);

// Remembers a drawn token.
void sampler_accept(struct sampler *s, token_id token);

// The distribution that a draw is made from: s->candidates[0 .. *n), by falling logit, equals
// by ascending id; the p sum to 1. banned (may be NULL) marks ids that cannot be drawn (min_tokens).
// ERR_NUMERIC when a logit is NaN or +infinity, or nothing is left; ERR_INPUT when a bias names a
// token that does not exist.
enum status sampler_distribution(struct sampler *s, const float *logits, // (n_vocab)
                                 const struct sampling *how, const bool *banned, int *n,
                                 struct error *err);

// One token; cheaper than the distribution, as little is sorted. choice and position key the
// generator (common/rng.h).
enum status sampler_draw(struct sampler *s, const float *logits, const struct sampling *how,
                         const bool *banned, uint32_t choice, uint32_t position,
                         token_id *token, struct error *err);

// Natural log of softmax(logits)[token] of the raw logits, and the n_top <= n_vocab best tokens,
// equals by ascending id. No logit may be NaN or +infinity.
void sampler_logprobs(const float *logits, int n_vocab, token_id token,
                      struct token_logprob *drawn, struct token_logprob *top, int n_top);

#endif
