// One sequence alone, fed by hand: for benchmarks and reference checks, where an engine would be in
// the way. Its cache is a table of one long block.
#ifndef LEVEL2_SEQUENCE_H
#define LEVEL2_SEQUENCE_H

#include "common/arena.h"
#include "common/status.h"
#include "common/team.h"
#include "common/token.h"
#include "level2-operator/engine/sequence_rows.h"
#include "level2-operator/model/ops.h"

struct sequence {
    // owned by the arena given at init
    struct run *run;
    struct kv_pool pool;
    struct kv_table table;
    int block; // the table's only entry
    struct sequence_rows rows;
    // borrowed
    const struct ops *ops;
    struct team *team;
};

// limits.max_workers may be 0: the team's size. Weights are prepared here too. *s must not move
// afterwards. What was taken before a failure stays in the arena.
enum status sequence_init(struct sequence *s, const struct ops *ops, struct model *model,
                          struct run_limits limits, struct team *team, struct arena *arena,
                          struct error *err);

// One step: tokens go behind those already fed; the last n_logits of them want logits. Both within
// the limits, and the sequence within n_ctx.
void sequence_feed(struct sequence *s, const token_id *tokens, int n_tokens, int n_logits);

// (n_vocab) of the i-th of the last n_logits.
const float *sequence_logits(const struct sequence *s, int i);

// Forgets all tokens.
void sequence_clear(struct sequence *s);

#endif
