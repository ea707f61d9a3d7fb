// A bounded queue between threads: fixed-size items, copied in and out under a mutex. Never grows,
// never blocks; who finds it full decides what that means.
#ifndef COMMON_RING_H
#define COMMON_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"

struct ring {
    // owned by the arena
    unsigned char *items; // (capacity, item_bytes)
    // guarded by lock
    int first, n_items;
    pthread_mutex_t lock;
    // fixed at init
    int capacity;
    size_t item_bytes;
};

enum status ring_init(struct ring *r, int capacity, size_t item_bytes, struct arena *arena,
                      struct error *err);
void ring_free(struct ring *r); // the lock only; safe on a zeroed ring

bool ring_put(struct ring *r, const void *item); // false: full
bool ring_take(struct ring *r, void *item);      // false: empty
int ring_space(struct ring *r);                  // items that still fit

#endif
