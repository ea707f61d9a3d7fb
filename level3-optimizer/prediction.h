// How long a run of steps should take: each step is costed by common/cost.h, the seconds are added up.
// Pure arithmetic; nothing here knows a model file, a clock or a thread.
#ifndef LEVEL3_PREDICTION_H
#define LEVEL3_PREDICTION_H

#include <stdbool.h>

#include "common/cost.h"

// What was measured apart from the model. Kernels of other types and shapes go at other rates.
struct speed {
    double read_bytes_per_s;
    double layer_ops_per_s; // product with a layer's matrix, as many rows as a step has
    double head_ops_per_s;  // product with the head, one row
};

// One sequence. The last row of a step wants logits: of each step, or of the last one only.
struct workload {
    int n_tokens;
    int step_rows; // tokens of a step; n_tokens is a multiple
    int n_before;  // tokens already stored
    bool logits_each_step;
};

struct prediction {
    double bytes, ops; // of all steps
    double read_seconds, compute_seconds;
    double seconds; // the sum of each step's longer half
};

struct prediction predict(const struct cost_model *m, const struct workload *w,
                          const struct speed *speed);

#endif
