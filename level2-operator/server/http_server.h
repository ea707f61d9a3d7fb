// The HTTP loop: one thread, libevent, never blocks. It knows sockets, keys, limits and the states
// of the server; what a request says is the text worker's business.
//
//   main ──open──▶ listening, 503 model_loading ──ready──▶ serving ──SIGTERM──▶ draining ──▶ stopped
//
// do:    open it first, load the model on another thread, then call http_server_ready from there
// don't: call anything but ready, failed and terminate from another thread
#ifndef LEVEL2_HTTP_SERVER_H
#define LEVEL2_HTTP_SERVER_H

#include <stdatomic.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "level2-operator/api/exchange.h"
#include "level2-operator/server/http_connection.h"
#include "level2-operator/server/http_cors.h"
#include "level2-operator/server/http_keys.h"
#include "level2-operator/server/http_swap.h"
#include "level2-operator/service/admission.h"
#include "level2-operator/service/heartbeat.h"
#include "level2-operator/service/lifecycle.h"
#include "level2-operator/service/metrics.h"
#include "level2-operator/service/served.h"
#include "level2-operator/service/service_manager.h"

struct event;
struct event_base;
struct evhttp;

enum { HTTP_HOST_BYTES = 256 };

struct http_limits { // 0: the limit of common/limits.h
    int n_connections;
    int idle_ms, ping_ms;
    int64_t stall_ms, request_ms;
    size_t body_bytes, tool_bytes; // of a request for the engine, for the worker alone
    size_t incoming_bytes, out_bytes, outgoing_bytes;
};

struct http_options {
    const char *host;
    int port; // 0: a free one
    struct http_keys *keys;
    const char *key_file; // SIGHUP reads it again; NULL: there is none
    const struct http_cors *cors;
    struct exchange_queues *queues;
    struct clock *clock;
    struct metrics *metrics; // its part of the HTTP loop
    const struct log *log;
    double hourly_price;             // of this machine, for the cost of tokens; 0: unknown
    FILE *announce;                  // gets "ready: http://HOST:PORT"; NULL: nobody
    int max_inside;                  // generations running and waiting
    int64_t drain_ns;                // what SIGTERM waits for
    struct service_manager *manager; // NULL: nobody wants to know our state
    bool takes_signals;              // SIGTERM and SIGINT mean http_server_terminate
    struct http_swap_options swap;
    struct http_limits limits;
};

struct http_server {
    // owned
    struct event_base *base;
    struct evhttp *http;
    struct event *on_delivery, *on_note, *on_tick, *on_term, *on_int, *on_hup, *on_retry;
    struct arena arena;
    struct http_connections connections;
    struct os_signal note;
    exchange_id *gone; // (n_connections): told to leave, not yet told to the worker
    int n_gone;
    // state
    struct lifecycle lifecycle;
    struct admission admission;
    struct heartbeat heartbeat;
    const struct served *served[LIFECYCLE_MODELS]; // borrowed until closed; NULL: none
    struct engine_stats past;                      // of models that are gone
    struct http_swap swap;
    uint64_t n_exchanges;
    uint64_t id_seed;
    int port;         // the real one
    int n_flush_left; // ticks that a stopped server still waits for its last bytes
    // written by other threads, read by the loop after note
    const struct served *first_served; // before is_ready
    atomic_bool is_ready, is_failed;
    atomic_int n_terminate;
    // fixed at open
    struct http_options options; // borrows what it points to
};

// Binds and listens: from here on clients connect, though nobody answers before run.
enum status http_server_open(struct http_server *s, const struct http_options *options,
                             struct error *err);

// Serves until stopped. Whoever still runs then is cut off by close.
void http_server_run(struct http_server *s);

// Safe on a zeroed server. Not while run.
void http_server_close(struct http_server *s);

// From any thread. ready: the worker takes jobs from now on; served lives until closed. failed: who
// waits is told so, then stop.
void http_server_ready(struct http_server *s, const struct served *served);
void http_server_failed(struct http_server *s);
void http_server_terminate(struct http_server *s);

#endif
