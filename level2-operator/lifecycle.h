// The states of a server, and the only moves between them.
//
//   loading ──▶ ready ──▶ draining ──▶ stopped
//      └──────────┴───────────────────────▲      (a failed load, a second SIGTERM)
//
// Pure: no threads, no clock of its own. The HTTP loop is the only caller.
// An exercise: solutions/level2-operator/lifecycle.c.
#ifndef LEVEL2_LIFECYCLE_H
#define LEVEL2_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"

enum server_state { SERVER_LOADING, SERVER_READY, SERVER_DRAINING, SERVER_STOPPED };

struct lifecycle {
    enum server_state state;
    int n_in_flight;        // requests taken and not yet answered
    int64_t drain_until_ns; // SERVER_DRAINING: when it stops whatever still runs
};

void lifecycle_init(struct lifecycle *l); // SERVER_LOADING

void lifecycle_ready(struct lifecycle *l);  // the model is loaded: loading -> ready
void lifecycle_failed(struct lifecycle *l); // it could not be: -> stopped

// SIGTERM. The first drains until now_ns + drain_ns (stops at once if nothing runs, or while
// loading), the second stops.
void lifecycle_terminate(struct lifecycle *l, int64_t now_ns, int64_t drain_ns);

// A request wants in: OK and counted, or ERR_STATE with the reason (loading, draining, stopped).
enum status lifecycle_enter(struct lifecycle *l, struct error *err);
void lifecycle_leave(struct lifecycle *l); // the last one out of a draining server stops it
void lifecycle_tick(struct lifecycle *l, int64_t now_ns); // the drain time may be over

const char *lifecycle_name(enum server_state s); // "loading", ...

#endif
