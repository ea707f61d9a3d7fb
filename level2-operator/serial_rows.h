// The rows of one step of one sequence: neighbouring tokens, of which only the last may want
// logits. Made once for the largest step, filled anew for each.
#ifndef LEVEL2_SERIAL_ROWS_H
#define LEVEL2_SERIAL_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "level2-operator/step.h"

struct serial_rows {
    // owned by the arena
    int *position, *sequence; // (max_rows)
    struct attention_plan plan;
    // state
    int last_row;     // the one logit row
    struct step step; // points at the arrays above
    // fixed at init
    int max_rows, n_heads;
};

// Bytes that serial_rows_init takes from its arena.
size_t serial_rows_bytes(int max_rows, int n_heads);

enum status serial_rows_init(struct serial_rows *r, int max_rows, int n_heads,
                             struct arena *arena, struct error *err);

// n_rows tokens that follow the known ones of table. tokens and table are borrowed until the step
// is done.
const struct step *serial_rows_fill(struct serial_rows *r, const struct kv_table *table,
                                    const token_id *tokens, int n_rows, bool wants_logits);

#endif
