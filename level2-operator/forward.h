// The only forward pass. It names the order of the stages and touches no activation itself.
// An exercise: solutions/level2-operator/forward.c.
#ifndef LEVEL2_FORWARD_H
#define LEVEL2_FORWARD_H

#include "level2-operator/ops.h"

// Runs all stages over the rows of step, on the active workers of team. Afterwards the K and V of
// every row are in the pool and ops->logit_row gives the logits asked for. The caller updates the
// tables' n_tokens.
void forward(const struct ops *ops, struct run *run, const struct step *step,
             struct team *team);

#endif
