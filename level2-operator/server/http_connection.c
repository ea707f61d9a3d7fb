// evhttp gives the program a request when it is whole. To see a connection before that, every
// bufferevent is made here (evhttp_set_bevcb) and its input is watched as it fills.
#include "level2-operator/server/http_connection.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "level2-operator/api/api_error.h"
#include "level2-operator/server/http_reply.h"

// How much a client may send ahead of the reply. Not to read further would be kinder, but then
// nobody would see him leave.
enum { READ_AHEAD_BYTES = LIMIT_HEADER_BYTES };

// All that evhttp may write by itself and keep: "HTTP/1.1 100 Continue" and an empty line.
enum { CONTINUE_BYTES = 25 };

static struct timeval timeval_of(int64_t ns) {
    return (struct timeval){(time_t)(ns / 1000000000),
                            (suseconds_t)(ns % 1000000000 / 1000)};
}

// ---- waiting and receiving ----------------------------------------------------------------------

// Books bytes of the request that is coming in.
static void count_received(struct http_connection *c, size_t n_received) {
    c->all->n_incoming += n_received - c->n_received; // may be less: wraps, and back
    c->n_received = n_received;
}

static void await_request(struct http_connection *c) {
    struct timeval idle = timeval_of(c->all->limits.idle_ns);
    c->is_running = false;
    bufferevent_set_timeouts(c->bev, &idle, &idle);
    count_received(c, evbuffer_get_length(bufferevent_get_input(c->bev))); // sent ahead
    c->since_ns = clock_now(c->all->clock);
    c->began_ns = c->n_received > 0 ? c->since_ns : 0;
}

static void throw_away(struct bufferevent *bev, void *ctx) {
    (void)ctx;
    struct evbuffer *in = bufferevent_get_input(bev);
    evbuffer_drain(in, evbuffer_get_length(in));
}

// The refusal is out. Closing now would make the system reset the connection while the client
// still sends, and he would never read why; so only our half is closed.
static void refusal_sent(struct bufferevent *bev, void *ctx) {
    (void)ctx;
    shutdown(bufferevent_getfd(bev), SHUT_WR);
}

static void refused_gone(struct bufferevent *bev, short what, void *ctx) {
    (void)bev;
    (void)what;
    http_connection_cut(ctx);
}

// Answers before the request is whole. evhttp cannot do that: from here on the connection is out of
// its hands, and only waits to be closed.
static void refuse(struct http_connection *c, const struct api_error *e,
                   const char *message) {
    size_t n_body = 0;
    char *body = api_error_body(e, message, NULL, &n_body);
    struct evbuffer *in = bufferevent_get_input(c->bev);
    struct evbuffer *out = bufferevent_get_output(c->bev);

    c->is_refused = true;
    count_received(c, 0);
    evbuffer_drain(in, evbuffer_get_length(in));
    bufferevent_setcb(c->bev, throw_away, refusal_sent, refused_gone, c);
    evbuffer_add_printf(out,
                        "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\nConnection: close\r\n",
                        e->http_status, http_reply_reason(e->http_status), n_body);
    if (e->retry_after_s > 0)
        evbuffer_add_printf(out, "Retry-After: %d\r\n", e->retry_after_s);
    evbuffer_add_printf(out, "\r\n%s", body ? body : "");
    bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    free(body);
    c->all->refused(c->all->ctx, e);
    log_line(c->all->log, LOG_WARN, "request refused before it was whole",
             "status=%d code=%s", e->http_status, e->code ? e->code : "none");
}

static void input_grew(struct evbuffer *in, const struct evbuffer_cb_info *info,
                       void *ctx) {
    static const struct api_error too_large = {413, "invalid_request_error",
                                               "request_too_large", 0};
    static const struct api_error too_much = {503, "server_error", "overloaded", 1};
    struct http_connection *c = ctx;
    if (info->n_added == 0 || c->is_refused) return;
    if (c->is_running) {
        if (evbuffer_get_length(in) > READ_AHEAD_BYTES)
            event_active(c->overrun, EV_TIMEOUT, 0);
        return;
    }

    if (c->began_ns == 0) c->since_ns = c->began_ns = clock_now(c->all->clock);
    count_received(c, c->n_received + info->n_added);
    if (c->n_received > c->all->limits.request_bytes) {
        refuse(c, &too_large, "the request is too large");
    } else if (c->all->n_incoming > c->all->limits.incoming_bytes) {
        refuse(c, &too_much, "too many large requests are coming in at once");
    }
}

// Only evhttp writes before the request is whole: "100 Continue", or a page on what it cannot read.
static void output_grew(struct evbuffer *out, const struct evbuffer_cb_info *info,
                        void *ctx) {
    struct http_connection *c = ctx;
    (void)out;
    if (info->n_added == 0 || c->is_refused || c->is_running) return;
    event_active(c->page, EV_TIMEOUT, 0); // it is not written to its end yet
}

// ---- opening and closing a slot -----------------------------------------------------------------

static void on_silent(evutil_socket_t fd, short what, void *ctx) {
    struct http_connection *c = ctx;
    (void)fd;
    (void)what;
    c->all->silent(c->all->ctx, c);
}

static void on_deadline(evutil_socket_t fd, short what, void *ctx) {
    struct http_connection *c = ctx;
    (void)fd;
    (void)what;
    c->all->expired(c->all->ctx, c);
}

// Not from within input_grew: its caller still holds the connection.
static void on_overrun(evutil_socket_t fd, short what, void *ctx) {
    struct http_connection *c = ctx;
    (void)fd;
    (void)what;
    log_line(c->all->log, LOG_WARN, "a client that sent too far ahead was cut off", NULL);
    http_connection_cut(c);
}

// Runs before a byte of the page reaches the socket.
static void on_page(evutil_socket_t fd, short what, void *ctx) {
    static const struct api_error malformed = {400, "invalid_request_error", NULL, 0};
    struct http_connection *c = ctx;
    struct evbuffer *out = bufferevent_get_output(c->bev);
    (void)fd;
    (void)what;
    if (c->is_refused || c->is_running || evbuffer_get_length(out) <= CONTINUE_BYTES)
        return;
    // A bufferevent that has written keeps others from taking bytes out.
    evbuffer_unfreeze(out, 1);
    evbuffer_drain(out, evbuffer_get_length(out));
    evbuffer_freeze(out, 1);
    refuse(c, &malformed, "this is not a request in HTTP/1.1 that the server can read");
}

static void slot_free(struct http_connection *c) {
    struct http_connections *cs = c->all;
    count_received(c, 0);
    if (c->accepted) event_free(c->accepted);
    if (c->ping) event_free(c->ping);
    if (c->deadline) event_free(c->deadline);
    if (c->overrun) event_free(c->overrun);
    if (c->page) event_free(c->page);
    memset(c, 0, sizeof(*c));
    c->all = cs;
    cs->n_open--;
    bool was_full = cs->n_open + 1 == cs->limits.n_connections;
    if (cs->listener && was_full && !cs->is_deaf) evconnlistener_enable(cs->listener);
}

// evhttp closes a connection: because the client left, or because we said so.
static void on_closed(struct evhttp_connection *evcon, void *ctx) {
    struct http_connection *c = ctx;
    struct evhttp_request *req = c->exchange.req;
    (void)evcon;

    if (c->exchange.id) c->all->gone(c->all->ctx, c);
    // A request that evhttp has cut loose from its connection is ours to free.
    if (req && !evhttp_request_get_connection(req)) evhttp_request_free(req);
    slot_free(c);
}

// Ends the connection that has gone longest without a whole request, if there is one that does
// not run.
static void make_room(struct http_connections *cs) {
    struct http_connection *longest = NULL;
    for (int i = 0; i < cs->limits.n_connections; i++) {
        struct http_connection *c = &cs->slots[i];
        if (!c->evcon || c->is_running) continue;
        if (!longest || c->since_ns < longest->since_ns) longest = c;
    }
    if (!longest) return;
    cs->n_sent_away++;
    http_connection_cut(longest);
}

// Runs right after evhttp has accepted. evhttp makes its connection the argument of its own
// callbacks: there is no other way to reach it before the first request.
static void on_accepted(evutil_socket_t fd, short what, void *ctx) {
    struct http_connection *c = ctx;
    void *evcon = NULL;
    int on = 1;
    (void)fd;
    (void)what;

    bufferevent_getcb(c->bev, NULL, NULL, NULL, &evcon);
    if (!evcon) { // evhttp had no memory for it: the client is gone, this is left to us
        bufferevent_free(c->bev);
        slot_free(c);
        return;
    }
    MUST(evhttp_connection_get_bufferevent(evcon) == c->bev);
    c->evcon = evcon;
    evhttp_connection_set_closecb(c->evcon, on_closed, c);
    setsockopt(bufferevent_getfd(c->bev), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    await_request(c);
    if (c->all->n_open == c->all->limits.n_connections) make_room(c->all);
}

static struct http_connection *slot_find(struct http_connections *cs,
                                         const struct bufferevent *bev) {
    for (int i = 0; i < cs->limits.n_connections; i++) {
        if (cs->slots[i].bev == bev) return &cs->slots[i];
    }
    return NULL;
}

// evhttp asks for the bufferevent of a connection that it is about to accept. Without a slot it gets
// one all the same, and the server refuses the first request that comes on it.
static struct bufferevent *on_accept(struct event_base *base, void *ctx) {
    struct http_connections *cs = ctx;
    struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
    struct http_connection *c = slot_find(cs, NULL);
    if (!bev || !c) return bev;

    c->accepted = event_new(base, -1, 0, on_accepted, c);
    c->ping = event_new(base, -1, 0, on_silent, c);
    c->deadline = event_new(base, -1, 0, on_deadline, c);
    c->overrun = event_new(base, -1, 0, on_overrun, c);
    c->page = event_new(base, -1, 0, on_page, c);
    if (!c->accepted || !c->ping || !c->deadline || !c->overrun || !c->page ||
        !evbuffer_add_cb(bufferevent_get_input(bev), input_grew, c) ||
        !evbuffer_add_cb(bufferevent_get_output(bev), output_grew, c)) {
        cs->n_open++;
        slot_free(c);
        bufferevent_free(bev); // it may look at the slot; evhttp makes one that does not
        return NULL;
    }
    c->bev = bev;
    event_active(c->accepted, EV_TIMEOUT, 0);
    if (++cs->n_open == cs->limits.n_connections) evconnlistener_disable(cs->listener);
    return bev;
}

// Without a descriptor accepting fails, and left alone the listener would try again at once, with
// all the power of a core. It hears nothing until the next tick, which also finds out why:
// nothing of ours can be reached from here.
static void accept_failed(struct evconnlistener *listener, void *evhttp) {
    (void)evhttp;
    evconnlistener_disable(listener);
}

// Looks whether there is a descriptor for the next client, and listens again if so.
static void listen_again(struct http_connections *cs) {
    int probe = fcntl(evconnlistener_get_fd(cs->listener), F_DUPFD_CLOEXEC, 0);
    if (probe < 0 && !cs->is_deaf)
        log_line(cs->log, LOG_ERROR, "no descriptor is left for the next client",
                 "open=%d reason=\"%s\"", cs->n_open, strerror(errno));
    if (probe >= 0 && cs->is_deaf) log_line(cs->log, LOG_INFO, "descriptors again", NULL);
    cs->is_deaf = probe < 0;
    if (cs->is_deaf) return;
    close(probe);
    if (cs->n_open == cs->limits.n_connections)
        make_room(cs); // one may have stopped running
    if (cs->n_open < cs->limits.n_connections) evconnlistener_enable(cs->listener);
}

// ---- public -------------------------------------------------------------------------------------

enum status http_connections_open(struct http_connections *cs, struct evhttp *http,
                                  int listen_fd, struct arena *arena, struct error *err) {
    cs->slots = ARENA_NEW(arena, struct http_connection, cs->limits.n_connections);
    if (!cs->slots) return error_set(err, ERR_MEMORY, "no memory for connections");
    for (int i = 0; i < cs->limits.n_connections; i++) cs->slots[i].all = cs;

    evhttp_set_bevcb(http, on_accept, cs);
    struct evhttp_bound_socket *bound = evhttp_accept_socket_with_handle(http, listen_fd);
    if (!bound) return error_set(err, ERR_IO, "cannot accept connections");
    cs->listener = evhttp_bound_socket_get_listener(bound);
    evconnlistener_set_error_cb(cs->listener, accept_failed);
    return OK;
}

void http_connections_close(struct http_connections *cs, struct evhttp *http) {
    cs->listener = NULL; // it goes first
    if (http) evhttp_free(http);
    MUST(cs->n_open == 0 && cs->n_incoming == 0);
    memset(cs, 0, sizeof(*cs));
}

struct http_connection *http_connection_of(struct http_connections *cs,
                                           struct evhttp_request *req) {
    struct evhttp_connection *evcon = evhttp_request_get_connection(req);
    return slot_find(cs, evhttp_connection_get_bufferevent(evcon));
}

static void on_reply_out(struct evhttp_request *req, void *ctx) {
    (void)req;
    await_request(ctx);
}

// evhttp stops reading while a request runs, and so would not see the client leave. Reading goes on
// without its read callback, which must not be called in this state.
void http_connection_run(struct http_connection *c) {
    struct timeval idle = timeval_of(c->all->limits.idle_ns);
    bufferevent_data_cb written;
    bufferevent_event_cb failed;
    void *evcon;

    evhttp_request_set_on_complete_cb(c->exchange.req, on_reply_out, c);
    bufferevent_getcb(c->bev, NULL, &written, &failed, &evcon);
    bufferevent_setcb(c->bev, NULL, written, failed, evcon);
    bufferevent_set_timeouts(c->bev, NULL, &idle); // it may wait for long, but must read
    bufferevent_enable(c->bev, EV_READ);
    c->is_running = true;
    count_received(c, 0);
}

size_t http_connection_unread(const struct http_connection *c) {
    return evbuffer_get_length(bufferevent_get_output(c->bev));
}

size_t http_connections_unread(const struct http_connections *cs) {
    size_t n_unread = 0;
    for (int i = 0; i < cs->limits.n_connections; i++) {
        const struct http_connection *c = &cs->slots[i];
        if (c->evcon) n_unread += http_connection_unread(c);
    }
    return n_unread;
}

static void set_timer(struct event *timer, int64_t ms) {
    struct timeval wait = timeval_of(ms * 1000000);
    if (ms > 0) {
        event_add(timer, &wait);
    } else {
        event_del(timer);
    }
}

void http_connection_set_ping(struct http_connection *c, int ping_ms) {
    set_timer(c->ping, ping_ms);
}

void http_connection_set_deadline(struct http_connection *c, int64_t deadline_ms) {
    set_timer(c->deadline, deadline_ms);
}

void http_connection_cut(struct http_connection *c) {
    evhttp_connection_free(c->evcon); // calls on_closed
}

void http_connections_tick(struct http_connections *cs) {
    static const struct api_error too_slow = {408, "invalid_request_error",
                                              "request_timeout", 0};
    int64_t now = clock_now(cs->clock);
    listen_again(cs);
    for (int i = 0; i < cs->limits.n_connections; i++) {
        struct http_connection *c = &cs->slots[i];
        if (c->is_running || c->began_ns == 0) continue;
        if (now - c->began_ns < cs->limits.idle_ns) continue;
        if (c->is_refused) {
            http_connection_cut(c);
            continue;
        }
        refuse(c, &too_slow, "the request took too long to arrive");
        c->began_ns = now; // as long again to read the answer
    }
}
