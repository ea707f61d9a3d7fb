// Fills struct step for whoever knows one sequence only.
#include "level2-operator/engine/sequence_rows.h"

size_t sequence_rows_bytes(int max_rows, int n_heads) {
    size_t n = (size_t)max_rows;
    return 4 * arena_bytes(n, sizeof(int)) +
           arena_bytes(n * (size_t)n_heads, sizeof(struct attention_item));
}

enum status sequence_rows_init(struct sequence_rows *r, int max_rows, int n_heads,
                               struct arena *arena, struct error *err) {
    int max_items = max_rows * n_heads;
    *r = (struct sequence_rows){
        .position = ARENA_NEW(arena, int, max_rows),
        .sequence = ARENA_NEW(arena, int, max_rows), // all 0: there is one sequence
        .logit_rows = ARENA_NEW(arena, int, max_rows),
        .plan = {.items = ARENA_NEW(arena, struct attention_item, max_items),
                 .max_items = max_items,
                 .rows = ARENA_NEW(arena, int, max_rows),
                 .max_rows = max_rows},
        .max_rows = max_rows,
        .n_heads = n_heads,
    };
    if (r->position && r->sequence && r->logit_rows && r->plan.items && r->plan.rows)
        return OK;
    return error_set(err, ERR_MEMORY, "no memory for steps of %d rows; use fewer",
                     max_rows);
}

const struct step *sequence_rows_fill(struct sequence_rows *r, const struct kv_table *table,
                                      const token_id *tokens, int n_rows, int n_logits) {
    MUST(n_rows >= 1 && n_rows <= r->max_rows);
    MUST(n_logits >= 0 && n_logits <= n_rows);
    for (int t = 0; t < n_rows; t++) r->position[t] = table->n_tokens + t;
    for (int i = 0; i < n_logits; i++) r->logit_rows[i] = n_rows - n_logits + i;
    r->step = (struct step){
        .n_rows = n_rows,
        .token = tokens,
        .position = r->position,
        .sequence = r->sequence,
        .tables = table,
        .n_tables = 1,
        .logit_rows = r->logit_rows,
        .n_logit_rows = n_logits,
        .plan = &r->plan,
    };
    attention_plan_simple(&r->plan, &r->step, r->n_heads);
    return &r->step;
}
