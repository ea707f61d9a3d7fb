// Level 2's attention plan: every row reads its own table alone. Head by head, not row by row: the
// keys of one head then stay in the cache while all rows read them.
#include "level2-operator/model/step.h"

#include "common/limits.h"
#include "common/status.h"

void attention_plan_simple(struct attention_plan *plan, const struct step *step,
                           int n_heads) {
    MUST(step->n_rows <= plan->max_rows);
    MUST((long)step->n_rows * n_heads <= plan->max_items);

    plan->n_rows = step->n_rows;
    for (int t = 0; t < step->n_rows; t++) plan->rows[t] = t;

    plan->n_parts = 0;
    plan->n_items = 0;
    for (int h = 0; h < n_heads; h++) {
        for (int t = 0; t < step->n_rows; t++) {
            plan->items[plan->n_items++] = (struct attention_item){
                .sequence = step->sequence[t],
                .first_head = h,
                .n_heads = 1,
                .n_segments = step->position[t] / LIMIT_ATTENTION_SEGMENT + 1,
                .first_row = t,
                .n_rows = 1,
            };
        }
    }
}
