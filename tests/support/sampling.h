// What the suites of the sampler share: a sampler to test, the simple way that sorts everything, and
// assertions on candidates.
#ifndef TESTS_SUPPORT_SAMPLING_H
#define TESTS_SUPPORT_SAMPLING_H

#include <check.h>

#include "level2-operator/engine/sampler.h"
#include "tests/support/suite.h"

enum { MAX_CANDIDATES = 700, MAX_TOP = LIMIT_TOP_LOGPROBS };

// A sampler that has seen nothing. The next call frees it, and so does the end of a test case.
struct sampler *sampling_start(int n_vocab);
TCase *sampling_tcase(Suite *s, const char *name);

struct sampling sampling_neutral(void); // temperature 1, all filters and penalties off

// For qsort: by falling logit, equals by ascending id.
int candidate_compare(const void *a, const void *b);

// Between base - 9 and base + 9, but some after the first -infinity. has_equals: whole numbers.
void draw_logits(struct draw *d, float *logits, int n_vocab, float base, bool has_equals);

// Tokens that the sampler is to have seen.
void draw_history(struct draw *d, struct sampler *s);

// Filters for c[0 .. n), sorted, whose limits no rounding can reach: top_p lies in the middle of a
// candidate's share, min_p just below a weight.
struct sampling draw_filters(struct draw *d, const struct candidate *c, int n);

// The steps, the simple way: adjust; weigh (temperature above 0), returns how many; how many of
// c[0 .. n), sorted, the filters keep; log probabilities of at most MAX_CANDIDATES tokens.
void adjust_simply(float *adjusted, const struct sampler *s, const float *logits,
                   const struct sampling *how, const bool *banned);
int weigh_simply(struct candidate *c, const float *logits, int n_vocab, float temperature);
int filter_sorted(const struct candidate *c, int n, const struct sampling *how);
void logprobs_sorted(const float *logits, int n_vocab, token_id token,
                     struct token_logprob *drawn, struct token_logprob *top, int n_top);

// What a test calls, as text. The next call overwrites it.
const char *call_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

// what: the call that returned n and left got[0 .. n). Logits and weights within 1e-5.
void assert_candidates(const char *what, const struct candidate *got, int n,
                       const struct candidate *want, int n_want);
void assert_logprobs(const char *what, const struct token_logprob *got,
                     const struct token_logprob *want, int n);

#endif
