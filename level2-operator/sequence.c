// Sets up what a step needs for one sequence, and nothing that a scheduler would.
#include "level2-operator/sequence.h"

#include "level2-operator/forward.h"

static enum status tables_init(struct sequence *s, int max_rows, int n_heads,
                               struct arena *arena) {
    s->table = (struct kv_table){
        .blocks = ARENA_NEW(arena, int, 1), .n_blocks = 1, .max_blocks = 1};
    s->plan = (struct attention_plan){
        .items =
            ARENA_NEW(arena, struct attention_item, (size_t)max_rows * (size_t)n_heads),
        .max_items = max_rows * n_heads,
        .rows = ARENA_NEW(arena, int, max_rows),
        .max_rows = max_rows,
    };
    s->position = ARENA_NEW(arena, int, max_rows);
    s->number = ARENA_NEW(arena, int, max_rows); // zeros: there is only sequence 0
    s->logit_rows = ARENA_NEW(arena, int, max_rows);

    bool all = s->table.blocks && s->plan.items && s->plan.rows && s->position &&
               s->number && s->logit_rows;
    return all ? OK : ERR_MEMORY;
}

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
    if (st == OK && tables_init(s, limits.max_rows, c->n_heads, arena) != OK)
        st = error_set(err, ERR_MEMORY, "no memory for a step of %d rows; use fewer",
                       limits.max_rows);
    return st;
}

void sequence_feed(struct sequence *s, const token_id *tokens, int n_tokens, int n_logits) {
    MUST(n_tokens <= s->plan.max_rows && n_logits <= n_tokens);
    MUST(s->table.n_tokens + n_tokens <= s->pool.layout.block_len);

    for (int t = 0; t < n_tokens; t++) s->position[t] = s->table.n_tokens + t;
    for (int i = 0; i < n_logits; i++) s->logit_rows[i] = n_tokens - n_logits + i;
    struct step step = {
        .n_rows = n_tokens,
        .token = tokens,
        .position = s->position,
        .sequence = s->number,
        .tables = &s->table,
        .n_tables = 1,
        .logit_rows = s->logit_rows,
        .n_logit_rows = n_logits,
        .plan = &s->plan,
    };
    attention_plan_simple(&s->plan, &step, s->run->model->config.n_heads);
    forward(s->ops, s->run, &step, s->team);
    s->table.n_tokens += n_tokens;
}

const float *sequence_logits(const struct sequence *s, int i) {
    return s->ops->logit_row(s->run, i);
}

void sequence_clear(struct sequence *s) {
    kv_table_truncate(&s->table, 0);
}
