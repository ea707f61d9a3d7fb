// The queue as slots. At most some sixty-five requests are here, so finding one is a walk over all
// of them: there is no list that could disagree with the states.
#include "level2-operator/engine/serial_queue.h"

#include <string.h>

#include "common/limits.h"

// Storage of slot i is the i-th part of one array per kind.
static bool requests_make(struct serial_queue *q, struct arena *arena) {
    size_t n = (size_t)q->n_requests, n_ctx = (size_t)q->n_ctx;
    token_id *prompts = ARENA_NEW(arena, token_id, n * n_ctx);
    struct logit_bias *biases = ARENA_NEW(arena, struct logit_bias, n * LIMIT_LOGIT_BIAS);
    token_id *stop_ids = ARENA_NEW(arena, token_id, n * LIMIT_STOP_IDS);

    q->requests = ARENA_NEW(arena, struct serial_request, n);
    if (!prompts || !biases || !stop_ids || !q->requests) return false;
    for (size_t i = 0; i < n; i++) {
        q->requests[i].prompt = prompts + i * n_ctx;
        q->requests[i].bias = biases + i * LIMIT_LOGIT_BIAS;
        q->requests[i].stop_ids = stop_ids + i * LIMIT_STOP_IDS;
    }
    return true;
}

static void copy(void *to, const void *from, int n, size_t size) {
    if (n > 0) memcpy(to, from, (size_t)n * size); // from may be NULL when n is 0
}

static void request_fill(struct serial_request *r, const struct engine_params *params,
                         request_id id, int n_ctx) {
    int n_left = n_ctx - params->n_prompt;
    r->state = SERIAL_WAITING;
    r->is_cancelled = false;
    r->id = id;
    r->n_cached = r->n_prefilled = r->n_completion = 0;

    copy(r->prompt, params->prompt, params->n_prompt, sizeof(*r->prompt));
    copy(r->bias, params->sampling.bias, params->sampling.n_bias, sizeof(*r->bias));
    copy(r->stop_ids, params->stop_ids, params->n_stop_ids, sizeof(*r->stop_ids));
    r->params = *params;
    r->params.prompt = r->prompt;
    r->params.sampling.bias = r->bias;
    r->params.stop_ids = r->stop_ids;
    if (params->max_tokens > n_left) r->params.max_tokens = n_left;
}

// The oldest request in this state; NULL: none. Only under the lock.
static struct serial_request *oldest(struct serial_queue *q, enum serial_state state,
                                     bool only_cancelled) {
    struct serial_request *found = NULL;
    for (int i = 0; i < q->n_requests; i++) {
        struct serial_request *r = &q->requests[i];
        if (r->state != state || (only_cancelled && !r->is_cancelled)) continue;
        if (!found || r->id < found->id) found = r;
    }
    return found;
}

size_t serial_queue_bytes(int max_waiting, int n_ctx) {
    size_t n = (size_t)max_waiting + 1;
    return arena_bytes(n, sizeof(struct serial_request)) +
           arena_bytes(n * (size_t)n_ctx, sizeof(token_id)) +
           arena_bytes(n * LIMIT_LOGIT_BIAS, sizeof(struct logit_bias)) +
           arena_bytes(n * LIMIT_STOP_IDS, sizeof(token_id));
}

enum status serial_queue_init(struct serial_queue *q, int max_waiting, int n_ctx,
                              struct arena *arena, struct error *err) {
    *q = (struct serial_queue){.n_requests = max_waiting + 1, .n_ctx = n_ctx};
    if (!requests_make(q, arena))
        return error_set(err, ERR_MEMORY, "no memory for a queue of %d requests",
                         max_waiting);
    if (pthread_mutex_init(&q->lock, NULL) != 0)
        return error_set(err, ERR_IO, "cannot make the lock of the queue");
    q->has_lock = true;
    return OK;
}

void serial_queue_free(struct serial_queue *q) {
    if (q->has_lock) pthread_mutex_destroy(&q->lock);
    *q = (struct serial_queue){0};
}

enum status serial_queue_put(struct serial_queue *q, const struct engine_params *params,
                             request_id *id, struct error *err) {
    pthread_mutex_lock(&q->lock);
    bool is_full = q->stats.n_waiting >= q->n_requests - 1;
    if (!is_full) {
        struct serial_request *r = oldest(q, SERIAL_FREE, false);
        MUST(r);
        *id = ++q->last_id;
        request_fill(r, params, *id, q->n_ctx);
        q->stats.n_waiting++;
    }
    pthread_mutex_unlock(&q->lock);
    if (!is_full) return OK;
    return error_set(err, ERR_BUSY, "%d requests are waiting already: try again later",
                     q->n_requests - 1);
}

void serial_queue_cancel(struct serial_queue *q, request_id id) {
    pthread_mutex_lock(&q->lock);
    for (int i = 0; i < q->n_requests; i++) {
        struct serial_request *r = &q->requests[i];
        if (r->id == id && r->state != SERIAL_FREE) r->is_cancelled = true;
    }
    pthread_mutex_unlock(&q->lock);
}

struct serial_request *serial_queue_cancelled(struct serial_queue *q) {
    pthread_mutex_lock(&q->lock);
    struct serial_request *r = oldest(q, SERIAL_RUNNING, true);
    if (!r) r = oldest(q, SERIAL_WAITING, true);
    pthread_mutex_unlock(&q->lock);
    return r;
}

struct serial_request *serial_queue_next(struct serial_queue *q) {
    pthread_mutex_lock(&q->lock);
    struct serial_request *r = oldest(q, SERIAL_WAITING, false);
    if (r) {
        r->state = SERIAL_RUNNING;
        q->stats.n_waiting--;
        q->stats.n_running++;
    }
    pthread_mutex_unlock(&q->lock);
    return r;
}

void serial_queue_remove(struct serial_queue *q, struct serial_request *r,
                         enum finish_reason reason) {
    pthread_mutex_lock(&q->lock);
    MUST(r->state != SERIAL_FREE);
    *(r->state == SERIAL_RUNNING ? &q->stats.n_running : &q->stats.n_waiting) -= 1;
    r->state = SERIAL_FREE;
    if (reason == FINISH_CANCELLED)
        q->stats.n_cancelled++;
    else if (reason == FINISH_ERROR)
        q->stats.n_failed++;
    else
        q->stats.n_finished++;
    pthread_mutex_unlock(&q->lock);
}
