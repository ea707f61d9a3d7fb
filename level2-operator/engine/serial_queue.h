// The requests of a serial engine, and its counters: everything that several threads touch, under
// one lock. A request lives in a slot from submit to its last event; slots are made once.
//
//   free ──put──▶ waiting ──next──▶ running ──▶ free
//                    └── cancelled ───────────────┘     first come is the smallest id
#ifndef LEVEL2_SERIAL_QUEUE_H
#define LEVEL2_SERIAL_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/engine.h"

enum serial_state { SERIAL_FREE, SERIAL_WAITING, SERIAL_RUNNING };

struct serial_request {
    // owned by the arena: room for what params points at
    token_id *prompt;        // (n_ctx)
    struct logit_bias *bias; // (LIMIT_LOGIT_BIAS)
    token_id *stop_ids;      // (LIMIT_STOP_IDS)
    // guarded by the queue's lock
    enum serial_state state;
    bool is_cancelled;
    // written by put, read by the engine thread afterwards
    request_id id;
    struct engine_params params;
    // engine thread only
    int n_cached, n_prefilled, n_completion; // as in struct engine_event
    int64_t started_ns;
    token_id last; // drawn, but not yet fed to the model
};

struct serial_queue {
    // owned by the arena
    struct serial_request *requests; // (n_requests)
    // guarded by lock
    pthread_mutex_t lock;
    request_id last_id;
    struct engine_stats stats;
    // fixed at init
    int n_requests; // max_waiting, and one that runs
    int n_ctx;
    bool has_lock;
};

// Bytes that serial_queue_init takes from its arena.
size_t serial_queue_bytes(int max_waiting, int n_ctx);

enum status serial_queue_init(struct serial_queue *q, int max_waiting, int n_ctx,
                              struct arena *arena, struct error *err);
void serial_queue_free(struct serial_queue *q); // the lock only; safe on a zeroed queue

// Copies a checked request into a free slot. ERR_BUSY: max_waiting are waiting already.
enum status serial_queue_put(struct serial_queue *q, const struct engine_params *params,
                             request_id *id, struct error *err);

// Marks a request; nothing happens if it is not here.
void serial_queue_cancel(struct serial_queue *q, request_id id);

// Engine thread: the oldest request that is cancelled, or NULL.
struct serial_request *serial_queue_cancelled(struct serial_queue *q);

// Engine thread: the oldest waiting request, which now runs, or NULL.
struct serial_request *serial_queue_next(struct serial_queue *q);

// Engine thread: gives the slot back and counts how the request ended.
void serial_queue_remove(struct serial_queue *q, struct serial_request *r,
                         enum finish_reason reason);

#endif
