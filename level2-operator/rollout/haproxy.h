// The servers behind HAProxy: what its runtime API says of them, and the two things we tell it.
// HAProxy management guide 2.6, chapters 9.1 (CSV) and 9.3 (UNIX socket).
//
//   "show stat BACKEND 4 -1\n"  ──▶  # pxname,svname,qcur,...     columns are found by their names
//                                    replicas,a,0,0,2,...
//
// do:    haproxy_parse on any bytes: it is a parser with a fuzz entry
// don't: keep a connection: the socket takes one command and closes
#ifndef LEVEL2_HAPROXY_H
#define LEVEL2_HAPROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"
#include "common/status.h"

// To new requests. What runs on a server goes on in each of them.
enum haproxy_state {
    HAPROXY_UP,
    HAPROXY_DRAINING, // told to take no more; its health is still looked at
    HAPROXY_DOWN,     // health checks fail
    HAPROXY_MAINT,    // told to be away; nobody looks
    HAPROXY_STATE_COUNT
};

struct haproxy_server {
    char name[LIMIT_REPLICA_NAME_BYTES];
    char address[LIMIT_REPLICA_NAME_BYTES]; // "127.0.0.1:8081"; "" where it is not told
    enum haproxy_state state;
    int64_t n_sessions; // running on it and waiting for it
    // since HAProxy started
    int64_t n_requests; // that ended in an answer or in one of n_errors
    // status 5xx, no connection, no answer, an answer that broke off, a retry
    int64_t n_errors;
};

struct haproxy_servers {
    struct haproxy_server items[LIMIT_REPLICAS];
    int n_items;
};

// The answer to "show stat BACKEND 4 -1". Left as it was on failure: ERR_FORMAT with line and column's
// name, ERR_LIMIT.
enum status haproxy_parse(struct haproxy_servers *servers, const char *text, size_t n_bytes,
                          struct error *err);

// Whether HAProxy takes this as a name of a server or backend: in a command it cannot mean anything else.
bool haproxy_is_name(const char *name);

// -1: there is none.
int haproxy_find(const struct haproxy_servers *servers, const char *name);

const char *haproxy_state_name(enum haproxy_state state); // "up", ...

// ---- over the socket. Names are haproxy_is_name, SIGPIPE is ignored; each has LIMIT_HAPROXY_MS of
// patience; errors name the socket.

enum status haproxy_show(struct haproxy_servers *servers, const char *socket_path,
                         const char *backend, struct error *err);

// state: HAPROXY_UP puts it back (health decides when), HAPROXY_DRAINING takes it out.
enum status haproxy_set(const char *socket_path, const char *backend, const char *server,
                        enum haproxy_state state, struct error *err);

#endif
