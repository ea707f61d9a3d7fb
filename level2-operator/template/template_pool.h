// Small pieces of an arena. An arena gives out whole cache lines; a template is made of thousands of
// things that are smaller, so blocks are taken from the arena and cut here.
//
// do: let an owner look at `why` once, after pool_take gave NULL
#ifndef LEVEL2_TEMPLATE_POOL_H
#define LEVEL2_TEMPLATE_POOL_H

#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"

struct pool {
    struct arena *arena; // borrowed: outlives every piece
    char *at;            // free bytes of the block in use
    size_t n_left;
    enum status why; // of the last NULL: ERR_LIMIT (the arena's), or ERR_MEMORY
};

void pool_init(struct pool *p, struct arena *arena);

// n * size zeroed bytes, aligned for any type; NULL: see why. n = 0 gives a valid pointer.
void *pool_take(struct pool *p, size_t n, size_t size);

#endif
