// The only forward pass. It names the order of the stages and touches no activation itself.
//
//   embed
//   norm_qkv_store ─▶ attend ─▶ out_add ─▶ norm_gate_up ─▶ down_add    for layer 0, 1, ...
//   logits
//
// do:    use it for any ops: plain C, fast kernels, CUDA; for two teams at a time, each with
//        a run of its own
// don't: call two passes of one team or of one run at a time
#ifndef LEVEL2_FORWARD_H
#define LEVEL2_FORWARD_H

#include "level2-operator/model/ops.h"

// Runs all stages over the rows of step, in one team_run: every active worker calls every
// stage in the order above with its own struct worker, and team_barrier once behind each,
// the last one too. There are run->model->config.n_layers layers, 0 allowed.
//
// Each call of a stage is a span on the worker's lane of me->trace, from before the call
// until after it, without the barrier: named like the stage's field in struct ops, arg is
// the layer, -1 for embed and logits. No trace, no spans (common/trace.h takes a NULL).
//
// Afterwards the K and V of every row are in the pool and ops->logit_row gives the logits
// asked for. The caller updates the tables' n_tokens.
//
// MUST, checked before any worker starts: 1 <= n_rows <= max_rows; n_logit_rows at most
// n_rows and max_logit_rows; no more active workers than max_workers (of run->limits).
void forward(const struct ops *ops, struct run *run, const struct step *step,
             struct team *team);

#endif
