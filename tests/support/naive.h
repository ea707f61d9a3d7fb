// The naive forward pass: one sequence at once, in double, no cache, no segments, no tricks. Slow and
// obvious; the judge of every forward pass in C.
#ifndef TESTS_SUPPORT_NAIVE_H
#define TESTS_SUPPORT_NAIVE_H

#include "level2-operator/model/model.h"

// Rows of the model may be 1024 values long at most: it is meant for the tiny model.
void naive_forward(double *logits, // (n_tokens, n_vocab)  out
                   const struct model *m, const token_id *tokens, int n_tokens);

#endif
