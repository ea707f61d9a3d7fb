// The rows of one step of one sequence alone: neighbouring tokens, of which the last few may want
// logits. Made once for the largest step, filled anew for each.
#ifndef LEVEL2_SEQUENCE_ROWS_H
#define LEVEL2_SEQUENCE_ROWS_H

#include <stddef.h>

#include "common/arena.h"
#include "level2-operator/model/step.h"

struct sequence_rows {
    // owned by the arena
    int *position, *sequence, *logit_rows; // (max_rows)
    struct attention_plan plan;
    // state
    struct step step; // points at the arrays above
    // fixed at init
    int max_rows, n_heads;
};

// Bytes that sequence_rows_init takes from its arena.
size_t sequence_rows_bytes(int max_rows, int n_heads);

enum status sequence_rows_init(struct sequence_rows *r, int max_rows, int n_heads,
                               struct arena *arena, struct error *err);

// n_rows tokens that follow the known ones of table; the last n_logits of them want logits. tokens
// and table are borrowed until the step is done.
const struct step *sequence_rows_fill(struct sequence_rows *r, const struct kv_table *table,
                                      const token_id *tokens, int n_rows, int n_logits);

#endif
