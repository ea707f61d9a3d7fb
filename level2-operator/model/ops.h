// The stages of a forward pass, cut where a fast engine fuses. Level 2 composes each stage from
// leaf functions in plain C (ops_plain); level 3 replaces whole stages; level 4 adds CUDA.
//
//   embed ─▶ [ norm_qkv_store ─▶ attend ─▶ out_add ─▶ norm_gate_up ─▶ down_add ] x n_layers ─▶ logits
//
// A stage is called by every active worker with its own struct worker. It may use one team_barrier
// inside; forward puts one behind it. No stage allocates, logs or fails: MUST states the rest.
#ifndef LEVEL2_OPS_H
#define LEVEL2_OPS_H

#include "common/arena.h"
#include "common/status.h"
#include "common/team.h"
#include "level2-operator/model/kv.h"
#include "level2-operator/model/model.h"
#include "level2-operator/model/step.h"

// The worst step that will ever come.
struct run_limits {
    int max_rows, max_logit_rows;
    int max_workers;
    int n_ctx; // positions
};

// Activations and scratch of one engine. Each ops has its own; it begins with this.
struct run {
    const struct model *model; // borrowed
    struct kv_pool *pool;      // borrowed
    struct run_limits limits;
};

typedef void stage_fn(struct run *run, const struct step *step, struct worker *me);
typedef void layer_stage_fn(struct run *run, const struct step *step, int layer,
                            struct worker *me);

struct ops {
    const char *name; // "plain"

    // Once per model: bytes that prepare will take, then packing, in parallel.
    size_t (*prepare_bytes)(const struct model *m);
    enum status (*prepare)(struct model *m, struct arena *arena, struct team *team,
                           struct error *err);

    // Fills layout->block_bytes. ERR_UNSUPPORTED for a dtype that attend cannot read.
    enum status (*kv_layout)(struct kv_layout *layout, const struct config *c,
                             struct error *err);

    // Once per engine: bytes from limits alone, then the run itself.
    size_t (*run_bytes)(const struct config *c, const struct run_limits *limits);
    enum status (*run_init)(struct run **run, const struct model *m, struct kv_pool *pool,
                            const struct run_limits *limits, struct arena *arena,
                            struct error *err);

    stage_fn *embed;
    layer_stage_fn *norm_qkv_store; // norm, Q/K/V, bias, head norms, rope, store K and V
    layer_stage_fn *attend;
    layer_stage_fn *out_add; // x += Wo . attention, through a norm where the layer has one
    layer_stage_fn *norm_gate_up; // norm, gate, up, activation
    layer_stage_fn *down_add;     // x += Wdown . hidden, the same
    stage_fn *logits;             // final norm and head, only for step->logit_rows

    // (n_vocab) of the i-th logit row of the last step; valid until the next one.
    const float *(*logit_row)(const struct run *run, int i);
};

// Plain C, f32 activations, f32 KV: the judge of all other ops.
extern const struct ops ops_plain;

#endif
