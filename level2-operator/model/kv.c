// The pool of KV blocks: one piece of memory, counted before it is taken.
#include "level2-operator/model/kv.h"

#include "common/arena.h"

enum status kv_pool_init(struct kv_pool *p, const struct kv_layout *layout, int n_blocks,
                         struct arena *arena, struct error *err) {
    *p = (struct kv_pool){.layout = *layout, .n_blocks = n_blocks};
    p->bytes = arena_alloc(arena, (size_t)n_blocks, layout->block_bytes);
    if (p->bytes) return OK;

    *p = (struct kv_pool){0};
    return error_set(err, ERR_MEMORY,
                     "KV cache: no memory for %d blocks of %zu bytes; ask for less context",
                     n_blocks, layout->block_bytes);
}
