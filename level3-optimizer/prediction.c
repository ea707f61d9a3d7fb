// A step that mixes kernels has one rate all the same: all its operations over all their seconds.
#include "level3-optimizer/prediction.h"

// Attention is taken to go at the same rate: here it is a few per cent of the operations.
static struct cost_machine machine_for(const struct cost_model *m,
                                       const struct cost_step *step,
                                       const struct speed *speed) {
    double layer_ops = 2 * m->layer_weights * step->n_rows;
    double head_ops = 2 * m->head_weights * step->n_logit_rows;
    double seconds = layer_ops / speed->layer_ops_per_s + head_ops / speed->head_ops_per_s;
    return (struct cost_machine){speed->read_bytes_per_s, (layer_ops + head_ops) / seconds};
}

struct prediction predict(const struct cost_model *m, const struct workload *w,
                          const struct speed *speed) {
    struct prediction p = {0};
    double n = w->step_rows;

    for (int t = 0; t < w->n_tokens; t += w->step_rows) {
        double n_keys = w->n_before + t;
        bool is_last = t + w->step_rows >= w->n_tokens;
        struct cost_step step = {
            .n_rows = n,
            .n_logit_rows = w->logits_each_step || is_last ? 1 : 0,
            .n_keys_read = n_keys,
            .n_row_keys = n * n_keys + n * (n + 1) / 2, // row i attends to n_keys + i + 1
        };
        struct cost_machine machine = machine_for(m, &step, speed);
        struct cost c = cost_of_step(m, &step, &machine);
        p.bytes += c.weight_bytes + c.kv_bytes;
        p.ops += c.ops;
        p.read_seconds += c.read_seconds;
        p.compute_seconds += c.compute_seconds;
        p.seconds += c.seconds;
    }
    return p;
}
