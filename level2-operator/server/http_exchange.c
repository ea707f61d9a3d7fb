// The life of one request inside the loop.
#include "level2-operator/server/http_exchange.h"

#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "level2-operator/server/http_quota.h"
#include "level2-operator/server/http_reply.h"
#include "level2-operator/server/http_route.h"
#include "level2-operator/server/http_swap.h"

static const char ping[] = ": ping\n\n";

// What the access log says of a client that left; no such status is ever sent.
enum { STATUS_CLIENT_GONE = 499 };

enum { ABORT_BYTES = 1024 }; // of an event that says why a stream ends

// ---- begin --------------------------------------------------------------------------------------

static const char *method_name(struct evhttp_request *req) {
    switch (evhttp_request_get_command(req)) {
    case EVHTTP_REQ_GET:
        return "GET";
    case EVHTTP_REQ_HEAD:
        return "HEAD";
    case EVHTTP_REQ_POST:
        return "POST";
    case EVHTTP_REQ_OPTIONS:
        return "OPTIONS";
    default:
        return "OTHER";
    }
}

static bool is_sane_id(const char *id) {
    size_t n = id ? strlen(id) : 0;
    return n > 0 && n <= LIMIT_REQUEST_ID &&
           strspn(id,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

// The client's own name for the request if it can stand in a header and a log, else one of ours.
static void name_request(struct http_server *s, struct http_exchange *x) {
    const char *own =
        evhttp_find_header(evhttp_request_get_input_headers(x->req), "X-Request-Id");
    if (is_sane_id(own)) {
        snprintf(x->request_id, sizeof(x->request_id), "%s", own);
    } else {
        uint64_t hash = XXH64(&x->id, sizeof(x->id), s->id_seed);
        snprintf(x->request_id, sizeof(x->request_id), "req-%016" PRIx64, hash);
    }
    http_reply_header(x->req, "X-Request-Id", x->request_id);
}

static void allow_origin(struct http_server *s, struct evhttp_request *req) {
    const char *origin =
        evhttp_find_header(evhttp_request_get_input_headers(req), "Origin");
    const char *allowed = http_cors_allow(s->options.cors, origin);
    if (s->options.cors->n_origins > 0) http_reply_header(req, "Vary", "Origin");
    if (!allowed) return;
    http_reply_header(req, "Access-Control-Allow-Origin", allowed);
    http_reply_header(req, "Access-Control-Expose-Headers", "X-Request-Id, Retry-After");
}

void http_exchange_begin(struct http_server *s, struct http_connection *c,
                         struct evhttp_request *req) {
    struct http_exchange *x = &c->exchange;
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
    uint64_t slot = (uint64_t)(c - s->connections.slots);

    *x = (struct http_exchange){
        // The slot is the remainder: a delivery finds its connection without a search.
        .id = ++s->n_exchanges * (uint64_t)s->connections.limits.n_connections + slot,
        .req = req,
        .method = method_name(req),
        .path = path && *path ? path : "/",
        .arrived_ns = clock_now(s->options.clock),
    };
    name_request(s, x);
    allow_origin(s, req);
    http_connection_run(c);
}

// ---- end ----------------------------------------------------------------------------------------

static double ms_of(int64_t ns) {
    return (double)ns / 1e6;
}

// From arrival to the first byte of text. Of a whole answer: to its first token. 0: there is none.
static int64_t first_token_after(const struct http_exchange *x, const struct delivery *d) {
    int64_t first_ns = x->is_stream ? x->first_byte_ns : d ? d->first_ns : 0;
    return first_ns ? first_ns - x->arrived_ns : 0;
}

// Those who ask each second whether we are well would fill the log with nothing else: only another
// answer than 200 is news.
static enum log_level level_of(const struct http_exchange *x, int status) {
    bool is_probe = http_route_find(x->path, NULL)->is_open;
    return is_probe && status == 200 ? LOG_DEBUG : LOG_INFO;
}

static void log_access(struct http_server *s, const struct http_exchange *x, int status,
                       const struct delivery *d) {
    static const struct delivery none = {0};
    char path[128];
    int64_t now_ns = clock_now(s->options.clock);
    if (!d) d = &none;
    log_line(s->options.log, level_of(x, status), "request",
             "id=%s exchange=%" PRIu64
             " method=%s path=%s status=%d prompt=%d cached=%d output=%d "
             "queue_ms=%.1f ttft_ms=%.1f ms=%.1f finish=%s key=%s bytes=%zu",
             x->request_id, x->id, x->method, log_quote(path, sizeof(path), x->path),
             status, d->n_prompt, d->n_cached, d->n_completion, ms_of(d->queue_ns),
             ms_of(first_token_after(x, d)), ms_of(now_ns - x->arrived_ns),
             d->finish_reason ? d->finish_reason : "none",
             *x->key_name ? x->key_name : "none", x->n_bytes);
}

// The loop's part of the metrics. Only what has an answer has its times.
static void count(struct http_server *s, const struct http_exchange *x, int status,
                  const struct delivery *d) {
    struct metrics *m = s->options.metrics;
    if (status == STATUS_CLIENT_GONE) m->n_gone++;
    if (!d || !d->finish_reason) return;
    int64_t first_ns = first_token_after(x, d);
    if (first_ns) histogram_add(&m->first_token_s, (double)first_ns / 1e9);
    histogram_add(&m->whole_s, (double)(clock_now(s->options.clock) - x->arrived_ns) / 1e9);
}

void http_exchange_refused(void *server, const struct api_error *e) {
    struct http_server *s = server;
    metrics_refuse(s->options.metrics, e->http_status, e->code);
}

// What Retry-After is made of. Who was refused, or left, says nothing about how long one stays: a
// stream of bad requests must not tell the others to come back at once.
static double time_inside_s(const struct http_server *s, const struct http_exchange *x,
                            int status) {
    if (status >= 400 && status < 500) return s->admission.mean_service_s;
    return (double)(clock_now(s->options.clock) - x->arrived_ns) / 1e9;
}

// false: somebody is left to tell.
static bool tell_gone(struct http_server *s) {
    struct exchange_queues *q = s->options.queues;
    int n_told = 0;
    while (n_told < s->n_gone) {
        struct job job = {.kind = JOB_GONE, .exchange = s->gone[n_told]};
        if (!ring_put(&q->jobs, &job)) break;
        n_told++;
    }
    if (n_told > 0) os_signal_raise(&q->jobs_signal);
    s->n_gone -= n_told;
    memmove(s->gone, s->gone + n_told, (size_t)s->n_gone * sizeof(*s->gone));
    return s->n_gone == 0;
}

void http_exchange_tell(struct http_server *s) {
    static const struct timeval soon = {0, 10000};
    bool has_told = tell_gone(s); // first: a model goes only behind its clients
    if (!http_swap_go_on(s) || !has_told) event_add(s->on_retry, &soon);
}

// Gives back what was counted and forgets the exchange. The request is the caller's to finish.
static void end(struct http_server *s, struct http_connection *c, int status,
                const struct delivery *d) {
    struct http_exchange *x = &c->exchange;
    double service_s = time_inside_s(s, x, status);

    log_access(s, x, status, d);
    count(s, x, status, d);
    http_connection_set_ping(c, 0);
    http_connection_set_deadline(c, 0);
    http_quota_leave(s, c, d ? d->n_prompt + d->n_completion : 0);
    if (x->is_admitted) admission_leave(&s->admission, service_s);
    if (x->is_in_flight) lifecycle_leave(&s->lifecycle, x->i_model);
    if (s->lifecycle.state != SERVER_READY) {
        event_active(s->on_tick, EV_TIMEOUT, 0); // the last one out stops the server
    }
    *x = (struct http_exchange){0};
    http_exchange_tell(s); // it may have been the last one that held a model
}

// The same when a reply follows: gives the request to write it to.
static struct evhttp_request *end_with_reply(struct http_server *s,
                                             struct http_connection *c, int status,
                                             const struct delivery *d) {
    struct evhttp_request *req = c->exchange.req;
    if (s->lifecycle.state == SERVER_DRAINING)
        http_reply_header(req, "Connection", "close");
    end(s, c, status, d);
    return req;
}

void http_exchange_reply(struct http_server *s, struct http_connection *c, int status,
                         const char *body, size_t n_body) {
    c->exchange.n_bytes = n_body;
    http_reply_json(end_with_reply(s, c, status, NULL), status, body, n_body);
}

void http_exchange_text(struct http_server *s, struct http_connection *c, const char *type,
                        const char *body, size_t n_body) {
    c->exchange.n_bytes = n_body;
    http_reply_body(end_with_reply(s, c, 200, NULL), 200, type, body, n_body);
}

void http_exchange_refuse(struct http_server *s, struct http_connection *c,
                          const struct api_error *e, const char *message) {
    size_t n_body = 0;
    char *body = api_error_body(e, message, NULL, &n_body);
    http_exchange_refused(s, e);
    c->exchange.n_bytes = n_body;
    http_reply_error_body(end_with_reply(s, c, e->http_status, NULL), e, body, n_body);
    free(body);
}

// ---- to the worker ------------------------------------------------------------------------------

enum status http_exchange_job(struct http_server *s, struct http_connection *c,
                              struct job *job, struct error *err) {
    struct exchange_queues *q = s->options.queues;
    // While somebody is still to be told that he left, nobody new comes in: so the list of those
    // never outgrows the number of connections.
    if (s->n_gone > 0 || !ring_put(&q->jobs, job)) {
        free(job->body);
        return error_set(err, ERR_BUSY, "the server has too many requests; try again soon");
    }
    c->exchange.has_job = true;
    http_connection_set_deadline(c, s->options.limits.request_ms);
    os_signal_raise(&q->jobs_signal);
    return OK;
}

// The worker need not go on. Of a connection that lives on there is no second one before it is
// told: http_exchange_job takes nothing until then.
static void drop_job(struct http_server *s, struct http_connection *c) {
    if (!c->exchange.has_job) return;
    s->gone[s->n_gone++] = c->exchange.id;
    http_exchange_tell(s);
}

void http_exchange_gone(void *server, struct http_connection *c) {
    struct http_server *s = server;
    drop_job(s, c);
    end(s, c, STATUS_CLIENT_GONE, NULL);
}

// The status line is long out; the last event is the error.
static void abort_stream(struct http_server *s, struct http_connection *c,
                         const struct api_error *e, const char *message) {
    struct evhttp_request *req = c->exchange.req;
    char *body = api_error_body(e, message, NULL, NULL);
    char event[ABORT_BYTES];
    int n = snprintf(event, sizeof(event), "data: %s\n\n", body ? body : "{}");
    free(body);
    MUST(n > 0 && (size_t)n < sizeof(event)); // our own words
    http_exchange_refused(s, e);
    end(s, c, e->http_status, NULL);
    http_stream_data(req, event, (size_t)n);
    http_stream_end(req);
}

static void abort_job(struct http_server *s, struct http_connection *c,
                      const struct api_error *e, const char *message) {
    drop_job(s, c);
    if (c->exchange.has_head) {
        abort_stream(s, c, e, message);
    } else {
        // Asked once more it would take as long: OpenAI's clients know this header.
        if (e->http_status == 504)
            http_reply_header(c->exchange.req, "x-should-retry", "false");
        http_exchange_refuse(s, c, e, message);
    }
}

void http_exchange_abort_all(struct http_server *s, const struct api_error *e,
                             const char *message) {
    for (int i = 0; i < s->connections.limits.n_connections; i++) {
        struct http_connection *c = &s->connections.slots[i];
        if (c->exchange.has_job) abort_job(s, c, e, message);
    }
}

void http_exchange_expired(void *server, struct http_connection *c) {
    static const struct api_error late = {504, "server_error", "deadline_exceeded", 0};
    struct http_server *s = server;
    char message[128];
    snprintf(
        message, sizeof(message),
        "the answer was not complete after %lld s, which is all that a request may take",
        (long long)(s->options.limits.request_ms / 1000));
    if (c->exchange.has_job) abort_job(s, c, &late, message);
}

// ---- from the worker ----------------------------------------------------------------------------

// As late as possible: until then whoever stands between may send the request to another server if
// we die, and what goes wrong has a status of its own.
static void begin_stream(struct http_connection *c) {
    MUST(c->exchange.is_stream);
    if (!c->exchange.has_head) http_stream_start(c->exchange.req);
    c->exchange.has_head = true;
}

// A reader that does not read makes us keep the bytes; he may do so up to a limit.
static void stream(struct http_server *s, struct http_connection *c, const char *bytes,
                   size_t n_bytes) {
    begin_stream(c);
    c->exchange.n_bytes += n_bytes;
    http_stream_data(c->exchange.req, bytes, n_bytes);
    if (http_connection_unread(c) > s->options.limits.out_bytes) {
        log_line(s->options.log, LOG_WARN, "a reader that is too slow was cut off", "id=%s",
                 c->exchange.request_id);
        http_connection_cut(c);
        return;
    }
    http_connection_set_ping(c, s->options.limits.ping_ms);
}

static void stream_end(struct http_server *s, struct http_connection *c,
                       const struct delivery *d) {
    struct evhttp_request *req = c->exchange.req;
    begin_stream(c);
    if (d->n_bytes > 0) http_stream_data(req, d->bytes, d->n_bytes);
    c->exchange.n_bytes += d->n_bytes;
    end(s, c, 200, d);
    http_stream_end(req);
}

static void retry_after(struct evhttp_request *req, int seconds) {
    char text[16];
    snprintf(text, sizeof(text), "%d", seconds);
    http_reply_header(req, "Retry-After", text);
}

// A reply is whole: one that nobody reads would be kept whole.
static void reply(struct http_server *s, struct http_connection *c,
                  const struct delivery *d) {
    static const struct api_error overloaded = {503, "server_error", "overloaded", 1};
    size_t n_unread = http_connections_unread(&s->connections) + d->n_bytes;

    if (n_unread > s->options.limits.outgoing_bytes) {
        http_exchange_refuse(s, c, &overloaded, "too many replies wait to be read");
        return;
    }
    if (d->retry_after_s > 0) retry_after(c->exchange.req, d->retry_after_s);
    if (d->http_status >= 400) metrics_refuse(s->options.metrics, d->http_status, d->code);
    c->exchange.n_bytes = d->n_bytes;
    http_reply_json(end_with_reply(s, c, d->http_status, d), d->http_status, d->bytes,
                    d->n_bytes);
}

static void deliver(struct http_server *s, struct http_connection *c,
                    const struct delivery *d) {
    switch (d->kind) {
    case DELIVER_REPLY:
        reply(s, c, d);
        break;
    case DELIVER_HEAD:
        c->exchange.is_stream = true;
        http_connection_set_ping(c, s->options.limits.ping_ms);
        break;
    case DELIVER_DATA:
        if (!c->exchange.first_byte_ns && !d->has_failed)
            c->exchange.first_byte_ns = clock_now(s->options.clock);
        stream(s, c, d->bytes, d->n_bytes);
        break;
    case DELIVER_END:
        stream_end(s, c, d);
        break;
    case DELIVER_USED: // of nobody who is here
        break;
    }
}

void http_exchange_deliver(struct http_server *s, struct delivery *d) {
    struct http_connections *cs = &s->connections;
    struct http_connection *c =
        &cs->slots[d->exchange % (uint64_t)cs->limits.n_connections];
    if (d->kind == DELIVER_USED)
        http_quota_charge(s, d->cache_scope, d->n_prompt + d->n_completion);
    else if (c->exchange.id == d->exchange)
        deliver(s, c, d);
    free(d->bytes);
}

void http_exchange_silent(void *server, struct http_connection *c) {
    if (c->exchange.is_stream) stream(server, c, ping, sizeof(ping) - 1);
}
