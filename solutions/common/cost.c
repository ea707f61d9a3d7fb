// The roofline of one step: what must be read, what must be computed, which of the two takes longer.
#include "common/cost.h"

// [exercise cost drop]
#include <math.h>
// [end]

struct cost cost_of_step(const struct cost_model *model, const struct cost_step *step,
                         const struct cost_machine *machine) {
    // [exercise cost]
    struct cost c = {0};

    // A weight is read once a step, whatever the number of rows: that is why batching pays.
    if (step->n_rows > 0) c.weight_bytes = model->layer_weights * model->bytes_per_weight;
    if (step->n_logit_rows > 0)
        c.weight_bytes += model->head_weights * model->bytes_per_head_weight;

    double kv_token_bytes = model->kv_values * model->bytes_per_kv_value;
    c.kv_bytes = (step->n_keys_read + step->n_rows) * kv_token_bytes;

    c.ops = 2 * model->layer_weights * step->n_rows +
            2 * model->head_weights * step->n_logit_rows +
            model->ops_per_row_key * step->n_row_keys;

    if (machine) {
        c.read_seconds = (c.weight_bytes + c.kv_bytes) / machine->bytes_per_s;
        c.compute_seconds = c.ops / machine->ops_per_s;
        c.seconds = fmax(c.read_seconds, c.compute_seconds);
    }
    return c;
    // [end]
}
