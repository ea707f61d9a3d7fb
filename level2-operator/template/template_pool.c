// A block at a time; what is large gets a block of its own.
#include "level2-operator/template/template_pool.h"

#include <stdalign.h>

enum { BLOCK_BYTES = 4 << 10, LARGE_BYTES = 1 << 10 };

void pool_init(struct pool *p, struct arena *arena) {
    *p = (struct pool){.arena = arena};
}

static void *arena_take(struct pool *p, size_t n, size_t size) {
    void *piece = arena_alloc(p->arena, n, size);
    if (piece) return piece;
    size_t n_left = p->arena->limit - p->arena->used;
    bool is_above = (size && n > n_left / size) || n_left < arena_bytes(n, size);
    p->why = is_above ? ERR_LIMIT : ERR_MEMORY;
    return NULL;
}

void *pool_take(struct pool *p, size_t n, size_t size) {
    if (size && n > LARGE_BYTES / size) return arena_take(p, n, size);

    size_t n_bytes = (n * size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    if (n_bytes > p->n_left || !p->at) {
        char *block = arena_take(p, BLOCK_BYTES, 1);
        if (!block) return NULL;
        p->at = block;
        p->n_left = BLOCK_BYTES;
    }
    void *piece = p->at;
    p->at += n_bytes;
    p->n_left -= n_bytes;
    return piece;
}
