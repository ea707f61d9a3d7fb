// Fills struct step for an engine that knows one sequence only.
#include "level2-operator/serial_rows.h"

size_t serial_rows_bytes(int max_rows, int n_heads) {
    size_t n = (size_t)max_rows;
    return 3 * arena_bytes(n, sizeof(int)) +
           arena_bytes(n * (size_t)n_heads, sizeof(struct attention_item));
}

enum status serial_rows_init(struct serial_rows *r, int max_rows, int n_heads,
                             struct arena *arena, struct error *err) {
    int max_items = max_rows * n_heads;
    *r = (struct serial_rows){
        .position = ARENA_NEW(arena, int, max_rows),
        .sequence = ARENA_NEW(arena, int, max_rows), // all 0: there is one sequence
        .plan = {.items = ARENA_NEW(arena, struct attention_item, max_items),
                 .max_items = max_items,
                 .rows = ARENA_NEW(arena, int, max_rows),
                 .max_rows = max_rows},
        .max_rows = max_rows,
        .n_heads = n_heads,
    };
    if (r->position && r->sequence && r->plan.items && r->plan.rows) return OK;
    return error_set(err, ERR_MEMORY, "no memory for steps of %d rows", max_rows);
}

const struct step *serial_rows_fill(struct serial_rows *r, const struct kv_table *table,
                                    const token_id *tokens, int n_rows, bool wants_logits) {
    MUST(n_rows >= 1 && n_rows <= r->max_rows);
    for (int t = 0; t < n_rows; t++) r->position[t] = table->n_tokens + t;
    r->last_row = n_rows - 1;
    r->step = (struct step){
        .n_rows = n_rows,
        .token = tokens,
        .position = r->position,
        .sequence = r->sequence,
        .tables = table,
        .n_tables = 1,
        .logit_rows = &r->last_row,
        .n_logit_rows = wants_logits ? 1 : 0,
        .plan = &r->plan,
    };
    attention_plan_simple(&r->plan, &r->step, r->n_heads);
    return &r->step;
}
