// The loop's part of a swap. Every message to the worker goes through the one queue of jobs, so that it
// hears of a model before the first request for it, and of its end behind the last.
#include "level2-operator/server/http_swap.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/api/api_error.h"
#include "level2-operator/api/swap_request.h"
#include "level2-operator/server/http_exchange.h"
#include "level2-operator/server/http_models.h"
#include "level2-operator/server/http_served.h"
#include "level2-operator/server/http_server.h"

static const char invalid[] = "invalid_request_error", server_error[] = "server_error";
static const struct api_error internal = {500, server_error, "internal_error", 0};

// ---- answers ------------------------------------------------------------------------------------

void http_swap_show(struct http_server *s, struct http_connection *c) {
    struct http_model_row rows[LIFECYCLE_MODELS];
    int n_rows = 0;
    size_t n = 0;

    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        const struct lifecycle_model *m = &s->lifecycle.models[i];
        if (m->state == MODEL_EMPTY) continue;
        rows[n_rows++] = (struct http_model_row){
            .served = s->served[i],
            .id = s->swap.ids[i],
            .state = lifecycle_model_name(m->state),
            .n_holders = m->n_holders,
        };
    }
    char *body = http_models_states(rows, n_rows, &n);
    if (body) {
        http_exchange_reply(s, c, 200, body, n);
    } else {
        http_exchange_refuse(s, c, &internal, "out of memory");
    }
    free(body);
}

// How a load that failed is told: the file's fault, the machine's, or ours.
static struct api_error error_of(const struct error *err) {
    switch (err->code) {
    case ERR_MEMORY:
        return (struct api_error){507, server_error, "insufficient_memory", 0};
    case ERR_STATE:
        return (struct api_error){503, server_error, "draining", 1};
    case ERR_BUSY:
        return (struct api_error){409, invalid, "swap_in_progress", 1};
    default:
        return (struct api_error){400, invalid, "model_not_loaded", 0};
    }
}

static struct api_error log_failure(struct http_server *s, const struct error *err) {
    struct api_error e = error_of(err);
    char reason[2 * sizeof(err->text)];
    log_line(s->options.log, LOG_WARN, "no swap", "status=%d reason=%s", e.http_status,
             log_quote(reason, sizeof(reason), err->text));
    return e;
}

static void refuse(struct http_server *s, struct http_connection *c,
                   const struct error *err) {
    struct api_error e = log_failure(s, err);
    http_exchange_refuse(s, c, &e, err->text);
}

// The connection of the POST that waits; NULL: its client has left. It waits no more.
static struct http_connection *take_waiting(struct http_server *s) {
    exchange_id id = s->swap.waiting;
    struct http_connections *cs = &s->connections;
    struct http_connection *c = &cs->slots[id % (uint64_t)cs->limits.n_connections];
    s->swap.waiting = 0;
    return id != 0 && c->exchange.id == id ? c : NULL;
}

// ---- begin --------------------------------------------------------------------------------------

void http_swap_begin(struct http_server *s, struct http_connection *c, const char *body,
                     size_t n_body) {
    const struct http_swap_options *o = &s->options.swap;
    struct swap_request request;
    struct error err = {0};
    int i_model;

    enum status st = swap_request_parse(&request, body, n_body, o->dir, &err);
    if (!st) st = lifecycle_swap(&s->lifecycle, &i_model, &err);
    if (st) {
        refuse(s, c, &err);
        return;
    }
    snprintf(s->swap.ids[i_model], LIMIT_MODEL_ID_BYTES, "%s", request.id);
    st = o->load(o->ctx, i_model, request.path, request.id, &err);
    if (st) {
        lifecycle_swap_failed(&s->lifecycle, i_model);
        http_exchange_refuse(s, c, &internal, err.text);
        return;
    }
    s->swap.waiting = c->exchange.id;
}

// ---- what other threads say ---------------------------------------------------------------------

// The worker hears of the model first, then requests are bound to it.
static bool serve(struct http_server *s) {
    struct exchange_queues *q = s->options.queues;
    int i_model = lifecycle_find(&s->lifecycle, MODEL_LOADING);
    const struct job job = {
        .kind = JOB_SERVE, .i_model = i_model, .served = s->swap.loaded};

    if (!s->swap.loaded) return true;
    if (s->lifecycle.state == SERVER_READY) {
        if (!ring_put(&q->jobs, &job)) return false;
        os_signal_raise(&q->jobs_signal);
        s->served[i_model] = s->swap.loaded;
    }
    s->swap.loaded = NULL;
    lifecycle_swap_loaded(&s->lifecycle, i_model);
    struct http_connection *c = take_waiting(s);
    if (c) http_swap_show(s, c);
    return true;
}

// Behind the word that clients have left: then nothing is left of the model in the worker. Once that is
// told, the engine may be gone at any moment, so it is looked at for the last time before.
static bool retire(struct http_server *s) {
    struct exchange_queues *q = s->options.queues;
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        const struct job job = {.kind = JOB_RETIRE, .i_model = i};
        if (s->lifecycle.models[i].state != MODEL_CLOSING || s->swap.is_retired[i])
            continue;
        if (s->n_gone > 0 || ring_space(&q->jobs) == 0) return false;
        if (s->served[i])
            snprintf(s->swap.ids[i], LIMIT_MODEL_ID_BYTES, "%s", s->served[i]->id);
        http_served_forget(s, i);
        s->swap.is_retired[i] = true;
        bool had_room = ring_put(&q->jobs, &job);
        MUST(had_room); // only this thread puts
        os_signal_raise(&q->jobs_signal);
    }
    return true;
}

bool http_swap_go_on(struct http_server *s) {
    bool has_served = serve(s);
    return retire(s) && has_served;
}

static void fail(struct http_server *s) {
    int i_model = lifecycle_find(&s->lifecycle, MODEL_LOADING);
    struct http_connection *c = take_waiting(s);
    lifecycle_swap_failed(&s->lifecycle, i_model);
    if (c) {
        refuse(s, c, &s->swap.new_err);
    } else {
        log_failure(s, &s->swap.new_err);
    }
}

void http_swap_look(struct http_server *s) {
    int news = atomic_exchange(&s->swap.news, HTTP_SWAP_NONE);

    if (news == HTTP_SWAP_LOADED) s->swap.loaded = s->swap.new_served;
    if (news == HTTP_SWAP_FAILED) fail(s);
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        if (!atomic_exchange(&s->swap.is_closed[i], false)) continue;
        lifecycle_closed(&s->lifecycle, i);
        s->swap.is_retired[i] = false;
        char id[2 * LIMIT_MODEL_ID_BYTES];
        log_line(s->options.log, LOG_INFO, "the model before is gone", "id=%s",
                 log_quote(id, sizeof(id), s->swap.ids[i]));
    }
    http_exchange_tell(s);
}

void http_swap_give_up(struct http_server *s) {
    struct error err;
    struct http_connection *c = take_waiting(s);
    if (!c) return;
    error_set(&err, ERR_STATE, "the server is draining; the model is not changed");
    refuse(s, c, &err);
}

// ---- from any thread ----------------------------------------------------------------------------

void http_swap_loaded(struct http_server *s, const struct served *served) {
    s->swap.new_served = served;
    atomic_store(&s->swap.news, HTTP_SWAP_LOADED);
    os_signal_raise(&s->note);
}

void http_swap_failed(struct http_server *s, const struct error *err) {
    s->swap.new_err = *err;
    atomic_store(&s->swap.news, HTTP_SWAP_FAILED);
    os_signal_raise(&s->note);
}

void http_swap_closed(struct http_server *s, int i_model) {
    atomic_store(&s->swap.is_closed[i_model], true);
    os_signal_raise(&s->note);
}
