// Opening, turning and closing the loop. What happens with a request: http_request.c.
#include "level2-operator/server/http_server.h"

#include <event2/event.h>
#include <event2/http.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/limits.h"
#include "level2-operator/server/http_exchange.h"
#include "level2-operator/server/http_listen.h"
#include "level2-operator/server/http_quota.h"
#include "level2-operator/server/http_request.h"
#include "level2-operator/server/http_served.h"

enum {
    ARENA_BYTES = 4 << 20,    // slots of connections
    DELIVERIES_PER_TURN = 64, // then sockets get their turn
    FLUSH_TICKS = 100,        // of FLUSH_MS, for the last bytes of a stopped server
    FLUSH_MS = 20,
    SPARE_DESCRIPTORS = 64, // for all that is no connection
    ALL_METHODS = 0xffff    // evhttp would refuse with an HTML page, we do not
};

// ---- what wakes the loop ------------------------------------------------------------------------

static void tell_manager(const struct http_server *s, const char *state) {
    if (s->options.manager) service_manager_tell(s->options.manager, state);
}

static void terminate(struct http_server *s) {
    tell_manager(s, "STOPPING=1");
    lifecycle_terminate(&s->lifecycle, clock_now(s->options.clock), s->options.drain_ns);
    log_line(s->options.log, LOG_INFO, "told to stop", "state=%s in_flight=%d",
             lifecycle_name(s->lifecycle.state), s->lifecycle.n_in_flight);
    http_swap_give_up(s);
    event_active(s->on_tick, EV_TIMEOUT, 0);
}

static void on_signal(evutil_socket_t signal_number, short what, void *ctx) {
    (void)signal_number;
    (void)what;
    terminate(ctx);
}

static void on_hup(evutil_socket_t signal_number, short what, void *ctx) {
    struct http_server *s = ctx;
    struct error err = {0};
    char reason[256];
    (void)signal_number;
    (void)what;
    if (!s->options.key_file) {
        log_line(s->options.log, LOG_INFO, "there is no file of keys to read again", NULL);
    } else if (http_keys_reload(s->options.keys, s->options.key_file, s->options.swap.keys,
                                &err) == OK) {
        http_quota_recount(s);
        log_line(s->options.log, LOG_INFO, "keys read again", "n_keys=%d",
                 s->options.keys->n_keys);
    } else {
        log_line(s->options.log, LOG_ERROR, "keys not read again; the old ones stay",
                 "reason=%s", log_quote(reason, sizeof(reason), err.text));
    }
}

static void announce(const struct http_server *s) {
    const char *host = s->options.host;
    bool is_v6 = strchr(host, ':') != NULL;
    if (!s->options.announce) return;
    fprintf(s->options.announce, "ready: http://%s%s%s:%d\n", is_v6 ? "[" : "", host,
            is_v6 ? "]" : "", s->port);
    fflush(s->options.announce);
}

// The model could not be loaded; or the engine is no more, and with it every answer under way.
static void fail(struct http_server *s) {
    static const struct api_error lost = {500, "server_error", "engine_failed", 0};
    if (s->lifecycle.state == SERVER_LOADING) {
        lifecycle_failed(&s->lifecycle);
        event_active(s->on_tick, EV_TIMEOUT, 0);
    } else {
        terminate(s);
        http_exchange_abort_all(s, &lost, "the engine has failed; the server stops");
    }
}

static void on_note(evutil_socket_t fd, short what, void *ctx) {
    struct http_server *s = ctx;
    (void)fd;
    (void)what;
    os_signal_clear(&s->note);

    if (atomic_exchange(&s->is_ready, false) && s->lifecycle.state == SERVER_LOADING) {
        lifecycle_ready(&s->lifecycle);
        s->served[0] = s->first_served;
        announce(s);
        tell_manager(s, "READY=1");
    }
    if (atomic_exchange(&s->is_failed, false)) {
        fail(s);
    }
    http_swap_look(s);
    for (int n = atomic_exchange(&s->n_terminate, 0); n > 0; n--) terminate(s);
}

static void on_delivery(evutil_socket_t fd, short what, void *ctx) {
    struct http_server *s = ctx;
    struct exchange_queues *q = s->options.queues;
    struct delivery d;
    (void)fd;
    (void)what;

    os_signal_clear(&q->deliveries_signal);
    for (int i = 0; ring_take(&q->deliveries, &d); i++) {
        http_exchange_deliver(s, &d);
        if (i < DELIVERIES_PER_TURN) continue;
        os_signal_raise(&q->deliveries_signal); // there may be more
        break;
    }
}

static void on_retry(evutil_socket_t fd, short what, void *ctx) {
    (void)fd;
    (void)what;
    http_exchange_tell(ctx);
}

// ---- the tick -----------------------------------------------------------------------------------

static void look_at_engine(struct http_server *s) {
    struct engine_stats stats; // while it loads there is nothing to do
    http_served_stats(s, &stats);
    heartbeat_look(&s->heartbeat, &stats, clock_now(s->options.clock),
                   s->options.limits.stall_ms * 1000000);
}

// Who still waits is told so. Then the server waits for a moment, until the last bytes are out of
// the door.
static void stop(struct http_server *s) {
    static const struct timeval soon = {0, FLUSH_MS * 1000};
    static const struct api_error stopped = {503, "server_error", "draining", 1};
    http_exchange_abort_all(s, &stopped,
                            "the server stopped before the answer was complete");
    bool is_drained = s->lifecycle.n_in_flight == 0;
    bool is_read = http_connections_unread(&s->connections) == 0;
    if (is_drained && !is_read && s->n_flush_left-- > 0) {
        event_add(s->on_tick, &soon);
    } else {
        event_base_loopbreak(s->base);
    }
}

// A second, or as often as the watchdog needs it.
static struct timeval tick_time(const struct http_server *s) {
    int64_t us = 1000000;
    if (s->options.manager && s->options.manager->watchdog_ns > 0) {
        int64_t third_us = s->options.manager->watchdog_ns / 3000;
        if (third_us < us) us = third_us > 1000 ? third_us : 1000;
    }
    return (struct timeval){us / 1000000, us % 1000000};
}

static void on_tick(evutil_socket_t fd, short what, void *ctx) {
    struct http_server *s = ctx;
    struct timeval soon = tick_time(s);
    (void)fd;
    (void)what;

    lifecycle_tick(&s->lifecycle, clock_now(s->options.clock));
    if (s->lifecycle.state == SERVER_STOPPED) {
        stop(s);
        return;
    }
    look_at_engine(s);
    http_connections_tick(&s->connections);
    if (s->options.manager)
        service_manager_watchdog(s->options.manager, s->heartbeat.alive_ns);
    event_add(s->on_tick, &soon);
}

// ---- opening ------------------------------------------------------------------------------------

// Raises the limit of descriptors as far as allowed, and says how many connections fit below it.
static int connections_that_fit(int n_wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return n_wanted;
    rlim_t need = (rlim_t)n_wanted + SPARE_DESCRIPTORS;
    if (limit.rlim_cur < need) {
        limit.rlim_cur = limit.rlim_max < need ? limit.rlim_max : need;
        setrlimit(RLIMIT_NOFILE, &limit);
        getrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= need) return n_wanted;
    if (limit.rlim_cur > 2 * SPARE_DESCRIPTORS)
        return (int)limit.rlim_cur - SPARE_DESCRIPTORS;
    return limit.rlim_cur > 1 ? (int)limit.rlim_cur / 2 : 1;
}

static void fill_limits(struct http_limits *l) {
    if (l->n_connections == 0) l->n_connections = LIMIT_CONNECTIONS;
    if (l->idle_ms == 0) l->idle_ms = LIMIT_IDLE_S * 1000;
    if (l->ping_ms == 0) l->ping_ms = LIMIT_PING_MS;
    if (l->stall_ms == 0) l->stall_ms = LIMIT_STALL_S * 1000;
    if (l->request_ms == 0) l->request_ms = LIMIT_REQUEST_S * 1000;
    if (l->body_bytes == 0) l->body_bytes = LIMIT_BODY_BYTES;
    if (l->tool_bytes == 0) l->tool_bytes = LIMIT_TOOL_BYTES;
    if (l->incoming_bytes == 0) l->incoming_bytes = LIMIT_INCOMING_BYTES;
    if (l->out_bytes == 0) l->out_bytes = LIMIT_OUT_BYTES;
    if (l->outgoing_bytes == 0) l->outgoing_bytes = LIMIT_OUTGOING_BYTES;
    l->n_connections = connections_that_fit(l->n_connections);
}

static enum status open_loop(struct http_server *s, struct error *err) {
    s->base = event_base_new();
    s->http = s->base ? evhttp_new(s->base) : NULL;
    if (!s->http) return error_set(err, ERR_MEMORY, "cannot make an event loop");
    evhttp_set_allowed_methods(s->http, ALL_METHODS);
    evhttp_set_max_headers_size(s->http, LIMIT_HEADER_BYTES);
    evhttp_set_gencb(s->http, http_request_handle, s);
    return OK;
}

static enum status open_connections(struct http_server *s, struct error *err) {
    const struct http_limits *l = &s->options.limits;
    const struct http_connection_limits limits = {
        .n_connections = l->n_connections,
        .idle_ns = (int64_t)l->idle_ms * 1000000,
        // A chunked body may be half marks; a too large one should still be read to its end
        // when it is not far, so that the client sees a clean answer.
        .request_bytes = 2 * l->body_bytes + LIMIT_HEADER_BYTES,
        .incoming_bytes = l->incoming_bytes,
    };
    int listen_fd = -1;

    s->connections = (struct http_connections){
        .base = s->base,
        .clock = s->options.clock,
        .log = s->options.log,
        .limits = limits,
        .refused = http_exchange_refused,
        .gone = http_exchange_gone,
        .silent = http_exchange_silent,
        .expired = http_exchange_expired,
        .ctx = s,
    };
    s->gone = ARENA_NEW(&s->arena, exchange_id, l->n_connections);
    if (!s->gone) return error_set(err, ERR_MEMORY, "no memory for connections");

    s->port = s->options.port;
    enum status st = http_listen(&listen_fd, s->options.host, &s->port, err);
    if (st) return st;
    st = http_connections_open(&s->connections, s->http, listen_fd, &s->arena, err);
    if (st) close(listen_fd);
    return st;
}

static struct event *watch(struct http_server *s, int fd, short what,
                           event_callback_fn fn) {
    struct event *e = event_new(s->base, fd, what, fn, s);
    if (e && what) event_add(e, NULL);
    return e;
}

static enum status open_events(struct http_server *s, struct error *err) {
    static const struct timeval at_once = {0, 0};
    struct exchange_queues *q = s->options.queues;
    short reads = EV_READ | EV_PERSIST, signals = EV_SIGNAL | EV_PERSIST;

    s->on_note = watch(s, s->note.read_fd, reads, on_note);
    s->on_delivery = watch(s, q->deliveries_signal.read_fd, reads, on_delivery);
    s->on_tick = watch(s, -1, 0, on_tick);
    s->on_retry = watch(s, -1, 0, on_retry);
    bool is_whole = s->on_note && s->on_delivery && s->on_tick && s->on_retry;
    if (s->options.takes_signals) {
        s->on_term = watch(s, SIGTERM, signals, on_signal);
        s->on_int = watch(s, SIGINT, signals, on_signal);
        is_whole = is_whole && s->on_term && s->on_int;
    }
    // A service manager that tells us to read again must not end us. A terminal that closes should.
    bool is_managed = s->options.manager && s->options.manager->is_there;
    if (s->options.takes_signals && (s->options.key_file || is_managed)) {
        s->on_hup = watch(s, SIGHUP, signals, on_hup);
        is_whole = is_whole && s->on_hup;
    }
    if (!is_whole) return error_set(err, ERR_MEMORY, "cannot make the events of the loop");
    event_add(s->on_tick, &at_once);
    return OK;
}

enum status http_server_open(struct http_server *s, const struct http_options *options,
                             struct error *err) {
    enum status st;

    memset(s, 0, sizeof(*s));
    s->options = *options;
    s->note.read_fd = -1; // 0 is a real descriptor
    s->n_flush_left = FLUSH_TICKS;
    s->id_seed = (uint64_t)clock_unix_s() << 20 ^ (uint64_t)getpid();
    fill_limits(&s->options.limits);
    arena_init(&s->arena, ARENA_BYTES);
    lifecycle_init(&s->lifecycle);
    admission_init(&s->admission, options->max_inside);

    st = os_signal_open(&s->note, err);
    if (st) {
        s->note.read_fd = -1;
        goto fail;
    }
    st = open_loop(s, err);
    if (st) goto fail;
    st = open_connections(s, err);
    if (st) goto fail;
    st = open_events(s, err);
    if (st) goto fail;
    return OK;
fail:
    http_server_close(s);
    return st;
}

// ---- the rest -----------------------------------------------------------------------------------

void http_server_run(struct http_server *s) {
    event_base_dispatch(s->base);
}

void http_server_close(struct http_server *s) {
    struct event *events[] = {s->on_note, s->on_delivery, s->on_tick, s->on_term,
                              s->on_int,  s->on_hup,      s->on_retry};

    if (!s->base && !s->options.queues) return;                    // zeroed
    if (s->http) http_connections_close(&s->connections, s->http); // uses the events
    for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
        if (events[i]) event_free(events[i]);
    }
    if (s->base) event_base_free(s->base);
    if (s->note.read_fd >= 0) os_signal_close(&s->note);
    arena_free(&s->arena);
    memset(s, 0, sizeof(*s));
}

void http_server_ready(struct http_server *s, const struct served *served) {
    s->first_served = served;
    atomic_store(&s->is_ready, true);
    os_signal_raise(&s->note);
}

void http_server_failed(struct http_server *s) {
    atomic_store(&s->is_failed, true);
    os_signal_raise(&s->note);
}

void http_server_terminate(struct http_server *s) {
    atomic_fetch_add(&s->n_terminate, 1);
    os_signal_raise(&s->note);
}
