// A model without weights, for tests of everything above struct ops: its KV cache holds the tokens
// themselves, and the logits of a row are a function of all tokens up to it. So an engine that
// reuses a wrong prefix, or feeds a row twice, gives other text, as with a real model.
//
//   struct model m;
//   fake_model_open(&m, 64, 256, 3);
//   options.ops = &fake_ops;             // then engine_serial_create(&e, &m, &options, &err)
//   fake_ops_script(my_fill, my_ctx);    // or leave the default: pseudo-random, the same for ever
#ifndef TESTS_SUPPORT_FAKE_OPS_H
#define TESTS_SUPPORT_FAKE_OPS_H

#include "level2-operator/model/ops.h"

extern const struct ops fake_ops;

// Writes the logits (n_vocab) that follow history (n_tokens, the prompt included).
typedef void fake_fill_fn(void *ctx, float *logits, int n_vocab, const token_id *history,
                          int n_tokens);

// What all fakes of this process do from now on, and their row counter back to 0. NULL: the
// default. (Global, because a stage gets no context of a test.)
void fake_ops_script(fake_fill_fn *fill, void *ctx);

// The default: pseudo-random in -4 .. 4, from the whole history.
void fake_fill_random(void *ctx, float *logits, int n_vocab, const token_id *history,
                      int n_tokens);

// The answer is the token after the last one, modulo n_vocab; the second best is two after.
void fake_fill_count(void *ctx, float *logits, int n_vocab, const token_id *history,
                     int n_tokens);

// Rows computed since the last fake_ops_script.
long fake_ops_rows(void);

// A model for it: one layer, no weights, pieces "a" .. "z" in turn, and one end token, eos, whose
// piece is empty. Close it with model_close.
void fake_model_open(struct model *m, int n_vocab, int n_ctx, token_id eos);

#endif
