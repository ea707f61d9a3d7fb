// Everything that a forward pass of plain ops needs, for suites that cut the same work in different
// ways: into steps, blocks, batches or workers.
#ifndef TESTS_SUPPORT_FORWARD_RIG_H
#define TESTS_SUPPORT_FORWARD_RIG_H

#include "common/team.h"
#include "level2-operator/model/ops.h"

enum { N_SEQS = 3, N_CTX = 320, MAX_ROWS = 64 };

// Its arena is sealed: a step that allocates aborts.
struct forward_rig {
    struct model *model; // borrowed
    struct arena arena;
    struct team team;
    struct kv_pool pool;
    struct run *run;
    struct kv_table tables[N_SEQS]; // each has blocks for N_CTX tokens
    struct attention_plan plan;
};

void pass_open(struct forward_rig *g, struct model *model, int n_workers, int block_len);
void pass_close(struct forward_rig *g);

// One step; every row wants logits, unless n_logit_rows is 0.
void pass_step(struct forward_rig *g, const token_id *token, const int *position,
               const int *sequence, int n_rows, int n_logit_rows);

// Feeds tokens to one sequence, chunk rows at a time; logits of all of them go to out.
void pass_feed(struct forward_rig *g, float *out, const token_id *tokens, int n_tokens,
               int sequence, int chunk);

// Logits of a fresh sequence 0 in a rig of its own.
struct forward_cut {
    int n_workers, block_len, chunk;
};
void pass_logits_of(float *out, struct model *model, const token_id *tokens, int n_tokens,
                    struct forward_cut cut);

// (n_tokens, n_vocab) zeros; the caller frees them.
float *pass_logits_new(const struct model *model, int n_tokens);

// Equal to the last bit; what and value say how the work was cut.
void pass_assert_same_logits(const struct model *model, const float *got, const float *want,
                             int n_tokens, const char *what, int value);

// As the naive pass in double says, within 1e-4 of the largest logit.
void pass_assert_naive(const struct model *model, const float *got, const token_id *tokens,
                       int n_tokens, const char *what);

#endif
