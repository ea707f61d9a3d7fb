// The connections of a server: one slot each, and in it the one request that the connection can
// have under way. evhttp reads and writes; what it leaves open is done here:
//
//   accepted ──▶ waiting ──first byte──▶ receiving ──whole──▶ running ──reply out──▶ waiting
//                   │ idle too long          │ too slow: 408      │ client gone
//                   ▼                        │ too large: 413     ▼ reader too slow
//                 closed                     └──▶ refused ──▶ closed
//
// - a client that leaves while its request runs is seen at once, not when the next byte is written
// - what evhttp cannot read is answered with our error object, not with its HTML page
// - a request must be whole within the idle time, however the bytes trickle (slow loris)
// - a body without end costs no memory: it is answered early, and the rest is thrown away
// - all requests that are not whole yet share one budget of bytes
// - a client may send ahead of the reply only so much; more, and he is cut off
// - when all slots are taken, who has gone longest without sending a whole request makes room for the
//   next one: ten thousand silent connections do not lock anybody out
// - without a descriptor for the next client nobody is accepted for a moment, and nothing spins
//
// A client that closes only its sending half counts as gone: nobody can tell the two apart.
#ifndef LEVEL2_HTTP_CONNECTION_H
#define LEVEL2_HTTP_CONNECTION_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/limits.h"
#include "common/log.h"
#include "level2-operator/api/api_error.h"
#include "level2-operator/api/exchange.h"

struct bufferevent;
struct event;
struct event_base;
struct evconnlistener;
struct evhttp;
struct evhttp_connection;
struct evhttp_request;
struct http_connections;

// The request under way: from the whole request to the reply handed over.
struct http_exchange {
    exchange_id id;             // 0: none
    struct evhttp_request *req; // borrowed from evhttp until the reply is handed over
    const char *method, *path;  // for the log
    char request_id[LIMIT_REQUEST_ID + 1];
    char key_name[LIMIT_KEY_NAME + 1]; // of the API key; "": none
    int64_t arrived_ns;
    int64_t first_byte_ns;          // of a stream; 0: none yet
    size_t n_bytes;                 // of the reply's body so far
    bool is_in_flight, is_admitted; // counted by lifecycle, by admission
    int i_model;                    // is_in_flight: the place of the model that it holds
    bool has_quota;                 // counted by the quota of its key
    uint64_t scope;                 // of the key; 0: no key is asked for
    bool has_job;                   // the worker knows it
    bool is_stream, has_head;       // events follow; status and headers are out
};

struct http_connection {
    struct http_connections *all;    // borrowed
    struct bufferevent *bev;         // borrowed from evhttp; NULL: a free slot
    struct evhttp_connection *evcon; // the same, seen from above; NULL: just accepted
    struct event *accepted;          // owned: finds evcon
    struct event *ping;              // owned: a stream has been silent for too long
    struct event *deadline;          // owned: its request has run for too long
    struct event *overrun;           // owned: he has sent too far ahead
    struct event *page;              // owned: evhttp writes an answer of its own
    int64_t began_ns;                // first byte of the request coming in; 0: waiting
    int64_t since_ns;                // that, or the time when waiting began
    size_t n_received;               // bytes of it, while it is coming in
    bool is_running;                 // from the whole request to the last byte of the reply
    bool is_refused;                 // answered early, the rest is thrown away
    struct http_exchange exchange;
};

struct http_connection_limits {
    int n_connections;
    int64_t idle_ns;
    size_t request_bytes;  // received for one request, chunk marks and all
    size_t incoming_bytes; // received for all requests that are not whole yet
};

struct http_connections {
    struct http_connection *slots; // (limits.n_connections); in the arena
    int n_open;
    size_t n_incoming;    // sum of n_received
    bool is_deaf;         // there was no descriptor for the next client at the last tick
    uint64_t n_sent_away; // for want of room
    // borrowed
    struct event_base *base;
    struct evconnlistener *listener;
    struct clock *clock;
    const struct log *log;
    struct http_connection_limits limits;
    // Called when a request was answered before it was whole.
    void (*refused)(void *ctx, const struct api_error *e);
    // Called when a connection with a running exchange goes; the request is freed afterwards.
    void (*gone)(void *ctx, struct http_connection *c);
    // Called when the stream of a connection has been silent for the time given to set_ping.
    void (*silent)(void *ctx, struct http_connection *c);
    // Called when the time given to set_deadline is over.
    void (*expired)(void *ctx, struct http_connection *c);
    void *ctx;
};

// Takes over the connections of http, which must have no socket bound yet. The caller fills in
// limits, base, clock, log, gone, silent and ctx before.
enum status http_connections_open(struct http_connections *cs, struct evhttp *http,
                                  int listen_fd, struct arena *arena, struct error *err);

// Closes what is still open, frees http and all slots. Safe when zeroed; http may be NULL.
void http_connections_close(struct http_connections *cs, struct evhttp *http);

// The slot of a request that evhttp hands over; NULL when there is none.
struct http_connection *http_connection_of(struct http_connections *cs,
                                           struct evhttp_request *req);

// The request c->exchange.req is whole: from here on leaving is noticed.
void http_connection_run(struct http_connection *c);

// Bytes that the client has not read yet.
size_t http_connection_unread(const struct http_connection *c);
size_t http_connections_unread(const struct http_connections *cs); // all of them

// (Re)starts the wait for silence, in milliseconds; 0 stops it.
void http_connection_set_ping(struct http_connection *c, int ping_ms);

// (Re)starts the time until expired is called; 0 stops it.
void http_connection_set_deadline(struct http_connection *c, int64_t deadline_ms);

// Ends it now, whatever it does. gone is called if an exchange runs.
void http_connection_cut(struct http_connection *c);

// Refuses what has been coming in for too long. To be called about once a second.
void http_connections_tick(struct http_connections *cs);

#endif
