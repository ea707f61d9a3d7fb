// From logits to one token. A pure function of logits, settings, history and the generator's
// key, in four steps that can be called, and tested, one by one:
//
//   logits ─▶ adjust ─▶ s->logits ─▶ weigh ─▶ s->candidates ─▶ filter ─▶ the best ─▶ pick
//             bias                   exp((logit - best)        top_k     of them     token
//             penalties                  / temperature)        top_p
//             bans                                             min_p
#ifndef LEVEL2_SAMPLER_H
#define LEVEL2_SAMPLER_H

#include "common/arena.h"
#include "common/engine.h"
#include "common/status.h"
#include "level2-operator/engine/candidate_heap.h"

// What a request has seen so far, and room to work in. Sized once, reused by the next one.
struct sampler {
    // owned by the arena
    int *n_output;                // (n_vocab): occurrences among the tokens drawn
    bool *in_prompt;              // (n_vocab)
    float *logits;                // (n_vocab): the adjusted copy
    struct candidate *candidates; // (n_vocab)
    // state
    bool any_seen; // false: n_output and in_prompt are all zero
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

// Step 1. s->logits = logits with, in this order (struct sampling has all ranges):
//   bias                   each how->bias[i].bias is added to the logit of its token
//   repetition_penalty r   of tokens in prompt or output, once however often seen:
//                          logit / r if it is above 0, else logit * r
//                          (after Keskar et al. 2019, arXiv:1909.05858)
//   frequency, presence    of tokens in the output, not of the prompt:
//                          - n_output * frequency - presence; both may be negative
//   banned                 (n_vocab), may be NULL: true makes the logit -infinity
// Reads s->n_output and s->in_prompt, and leaves them and logits as they are.
// ERR_NUMERIC if any logit is NaN or +infinity, banned or not, or if the largest adjusted one
// is not a number within the range of floats: nothing is left, or a penalty blew up. ERR_INPUT
// with the param "logit_bias" if a bias names a token outside 0 .. n_vocab - 1: nothing is read
// or written there. After a failure s->logits holds anything.
enum status sampler_adjust(struct sampler *s,
                           const float *logits, // (n_vocab); -infinity: impossible
                           const struct sampling *how, const bool *banned,
                           struct error *err);

// Step 2. Lists in s->candidates, by ascending id, what can be drawn of s->logits: weight =
// exp((logit - best) / temperature), where best is the largest logit, so the best weighs 1
// and nothing overflows, however small the temperature. What weighs 0 (a logit that is
// -infinity or too far below) is left out. Temperature 0: only the first of the largest
// logits, weight 1.
// Returns how many, at least one: s->logits has no NaN, no +infinity, and one finite value.
int sampler_weigh(struct sampler *s, float temperature);

// Step 3. Moves those that stay to the front of c, by falling logit, equals by ascending id,
// and returns how many: at least one. Weights stay as they are; they need not sum to 1.
//   top_k   above 0: no more than the k best (Fan et al. 2018, arXiv:1805.04833)
//   top_p   below 1: the fewest best whose weights make up top_p of the sum of those that
//           top_k leaves, so the token that reaches it stays; a sum that lacks less than a
//           millionth of what is wanted has reached it: logits are floats, and 0.4 + 0.2
//           should be 0.6
//           (Holtzman et al. 2019, arXiv:1904.09751)
//   min_p   above 0: only those that weigh at least min_p times the best
//           (Nguyen et al. 2024, arXiv:2407.01082)
// With all three off everything stays, sorted. The rest of c[0 .. n) is in any order.
int sampler_filter(struct candidate *c, // (n), in any order
                   int n,               // at least 1
                   const struct sampling *how);

// Step 4. The first token c[i] at which c[0].weight + ... + c[i].weight is above unit times the
// sum of all n weights; the last one if rounding lets none be. 0 <= unit < 1; in doubles.
token_id sampler_pick(const struct candidate *c, int n, double unit);

// Steps 1 to 3: s->candidates[0 .. *n), sorted, weights that sum to 1. Fails as sampler_adjust.
enum status sampler_distribution(struct sampler *s, const float *logits,
                                 const struct sampling *how, const bool *banned, int *n,
                                 struct error *err);

// Steps 1 to 4, but sorts only if a filter needs it. unit is rng_unit(how->seed, choice,
// position, 0) of common/rng.h: the same request draws the same tokens whatever else runs.
// Fails as sampler_adjust; then *token stays as it was.
enum status sampler_draw(struct sampler *s, const float *logits, const struct sampling *how,
                         const bool *banned, uint32_t choice, uint32_t position,
                         token_id *token, struct error *err);

// What the model itself thought, before bias, penalties and temperature: natural log of
// softmax(logits)[token], and of the n_top tokens with the largest logits, equals by ascending
// id. The log of a logit of -infinity is -infinity. 0 <= n_top <= n_vocab; top may be NULL if it
// is 0. No logit is NaN or +infinity, one is finite; they may be as large as floats go.
void sampler_logprobs(const float *logits, int n_vocab, token_id token,
                      struct token_logprob *drawn, struct token_logprob *top, int n_top);

#endif
