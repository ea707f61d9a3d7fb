// The queue is a circle of slots:
//
//   items:  [ free | A | B | C | free | free ]     first = 1, n_items = 3
//                    └ take      └ put
#include "common/ring.h"

#include <string.h>

// i counts from the oldest item. Only under the lock.
static unsigned char *slot(const struct ring *r, int i) {
    return r->items + (size_t)((r->first + i) % r->capacity) * r->item_bytes;
}

enum status ring_init(struct ring *r, int capacity, size_t item_bytes, struct arena *arena,
                      struct error *err) {
    MUST(capacity > 0 && item_bytes > 0);
    *r = (struct ring){0};
    unsigned char *items = arena_alloc(arena, (size_t)capacity, item_bytes);
    if (!items)
        return error_set(err, ERR_MEMORY, "a queue of %d items does not fit in memory",
                         capacity);
    if (pthread_mutex_init(&r->lock, NULL) != 0)
        return error_set(err, ERR_IO, "cannot make a lock for a queue");
    r->items = items;
    r->capacity = capacity;
    r->item_bytes = item_bytes;
    return OK;
}

void ring_free(struct ring *r) {
    if (r->items) pthread_mutex_destroy(&r->lock);
    *r = (struct ring){0};
}

bool ring_put(struct ring *r, const void *item) {
    pthread_mutex_lock(&r->lock);
    bool has_room = r->n_items < r->capacity;
    if (has_room) memcpy(slot(r, r->n_items++), item, r->item_bytes);
    pthread_mutex_unlock(&r->lock);
    return has_room;
}

bool ring_take(struct ring *r, void *item) {
    pthread_mutex_lock(&r->lock);
    bool has_item = r->n_items > 0;
    if (has_item) {
        memcpy(item, slot(r, 0), r->item_bytes);
        r->first = (r->first + 1) % r->capacity;
        r->n_items--;
    }
    pthread_mutex_unlock(&r->lock);
    return has_item;
}

int ring_space(struct ring *r) {
    pthread_mutex_lock(&r->lock);
    int n_free = r->capacity - r->n_items;
    pthread_mutex_unlock(&r->lock);
    return n_free;
}
