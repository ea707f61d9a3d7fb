// Prefix reuse in its simplest form: compare token by token, from the front.
#include "level2-operator/engine/serial_cache.h"

#include <string.h>

size_t serial_cache_bytes(int n_ctx) {
    return arena_bytes((size_t)n_ctx, sizeof(token_id));
}

enum status serial_cache_init(struct serial_cache *c, const struct kv_layout *layout,
                              struct arena *arena, struct error *err) {
    *c = (struct serial_cache){0};
    enum status st = kv_pool_init(&c->pool, layout, 1, arena, err);
    if (st != OK) return st;
    c->ids = ARENA_NEW(arena, token_id, layout->block_len);
    if (!c->ids)
        return error_set(err, ERR_MEMORY, "no memory to remember %d tokens",
                         layout->block_len);
    c->table = (struct kv_table){.blocks = &c->block, .n_blocks = 1, .max_blocks = 1};
    return OK;
}

int serial_cache_begin(struct serial_cache *c, uint64_t scope, const token_id *prompt,
                       int n_prompt) {
    int n_most = n_prompt - 1 < c->table.n_tokens ? n_prompt - 1 : c->table.n_tokens, n = 0;
    if (c->scope == scope && !c->no_reuse) {
        while (n < n_most && c->ids[n] == prompt[n]) n++;
    }
    c->scope = scope;
    kv_table_truncate(&c->table, n);
    return n;
}

void serial_cache_append(struct serial_cache *c, const token_id *ids, int n_tokens) {
    MUST(n_tokens <= c->pool.layout.block_len - c->table.n_tokens);
    memcpy(c->ids + c->table.n_tokens, ids, (size_t)n_tokens * sizeof(*ids));
    c->table.n_tokens += n_tokens;
}

void serial_cache_drop(struct serial_cache *c) {
    kv_table_truncate(&c->table, 0);
}
