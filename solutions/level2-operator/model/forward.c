// The forward pass of a transformer, as a table of contents:
//
//   embed ─▶ x ─┬────────────────────────────────────▶ + ─┬───────────────────────────▶ + ─▶ x
//               └▶ norm_qkv_store ─▶ attend ─▶ out_add ┘  └▶ norm_gate_up ─▶ down_add ┘
//               └───────────────────────── n_layers times ───────────────────────────┘
//   x ─▶ logits, for the rows that want them
//
// It touches no number of the model. A step is one parallel region: all workers walk down the
// same list and meet behind every stage.
#include "level2-operator/model/forward.h"

// [exercise forward drop]
#include "common/trace.h"

struct pass {
    const struct ops *ops;
    struct run *run;
    const struct step *step;
};

static void stage(const struct pass *p, stage_fn *fn, const char *name, struct worker *me) {
    int64_t begin_ns = trace_begin(me->trace);
    fn(p->run, p->step, me);
    trace_end(me->trace, me->rank, name, begin_ns, -1);
    team_barrier(me);
}

static void layer_stage(const struct pass *p, layer_stage_fn *fn, const char *name,
                        int layer, struct worker *me) {
    int64_t begin_ns = trace_begin(me->trace);
    fn(p->run, p->step, layer, me);
    trace_end(me->trace, me->rank, name, begin_ns, layer);
    team_barrier(me);
}

static void pass_run(void *arg, struct worker *me) {
    const struct pass *p = arg;
    const struct ops *ops = p->ops;

    stage(p, ops->embed, "embed", me);
    for (int l = 0; l < p->run->model->config.n_layers; l++) {
        layer_stage(p, ops->norm_qkv_store, "norm_qkv_store", l, me);
        layer_stage(p, ops->attend, "attend", l, me);
        layer_stage(p, ops->out_add, "out_add", l, me);
        layer_stage(p, ops->norm_gate_up, "norm_gate_up", l, me);
        layer_stage(p, ops->down_add, "down_add", l, me);
    }
    stage(p, ops->logits, "logits", me);
}
// [end]

void forward(const struct ops *ops, struct run *run, const struct step *step,
             struct team *team) {
    // [exercise forward]
    struct pass pass = {ops, run, step};

    MUST(step->n_rows >= 1 && step->n_rows <= run->limits.max_rows);
    MUST(step->n_logit_rows <= step->n_rows);
    MUST(step->n_logit_rows <= run->limits.max_logit_rows);
    MUST(team->n_active <= run->limits.max_workers);
    team_run(team, pass_run, &pass);
    // [end]
}
