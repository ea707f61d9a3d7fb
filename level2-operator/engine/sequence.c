// Sets up what a step needs for one sequence, and nothing that a scheduler would.
#include "level2-operator/engine/sequence.h"

#include "level2-operator/model/forward.h"

enum status sequence_init(struct sequence *s, const struct ops *ops, struct model *model,
                          struct run_limits limits, struct team *team, struct arena *arena,
                          struct error *err) {
    const struct config *c = &model->config;
    struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = limits.n_ctx};
    enum status st;

    *s = (struct sequence){.ops = ops, .team = team};
    if (limits.max_workers == 0) limits.max_workers = team->n_workers;

    st = ops->prepare(model, arena, team, err);
    if (st == OK) st = ops->kv_layout(&layout, c, err);
    if (st == OK) st = kv_pool_init(&s->pool, &layout, 1, arena, err);
    if (st == OK) st = ops->run_init(&s->run, model, &s->pool, &limits, arena, err);
    if (st == OK)
        st = sequence_rows_init(&s->rows, limits.max_rows, c->n_heads, arena, err);
    s->table = (struct kv_table){.blocks = &s->block, .n_blocks = 1, .max_blocks = 1};
    return st;
}

void sequence_feed(struct sequence *s, const token_id *tokens, int n_tokens, int n_logits) {
    MUST(n_tokens <= s->pool.layout.block_len - s->table.n_tokens);
    const struct step *step =
        sequence_rows_fill(&s->rows, &s->table, tokens, n_tokens, n_logits);
    forward(s->ops, s->run, step, s->team);
    s->table.n_tokens += n_tokens;
}

const float *sequence_logits(const struct sequence *s, int i) {
    return s->ops->logit_row(s->run, i);
}

void sequence_clear(struct sequence *s) {
    kv_table_truncate(&s->table, 0);
}
