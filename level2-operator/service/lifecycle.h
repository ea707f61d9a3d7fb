// The states of a server and of the models in it, and the only moves between them.
//
//   server   loading ──▶ ready ──▶ draining ──▶ stopped
//               └──────────┴───────────────────────▲    (a failed load, a second SIGTERM)
//
//   model    empty ──▶ loading ──▶ serving ──▶ draining ──▶ closing ──▶ empty
//              ▲          │           └── nobody holds it ─────▲
//              └── failed ┘
//
// A ready server can change its model without a pause. It has places for two: while one
// serves, another is loaded into the other place, takes over, and the old one drains. A
// request is bound to the model that serves when it comes in, and holds it until it leaves;
// n_holders is the reference count. At 0 a draining model is closing: nobody uses it, the
// caller frees it, and says so.
//
// Pure: no threads, no lock, no clock of its own. The HTTP loop is the only caller. What
// has no arrow in the present state changes nothing.
#ifndef LEVEL2_LIFECYCLE_H
#define LEVEL2_LIFECYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"

enum server_state { SERVER_LOADING, SERVER_READY, SERVER_DRAINING, SERVER_STOPPED };

enum model_state {
    MODEL_EMPTY, // no model in this place
    MODEL_LOADING,
    MODEL_SERVING,  // new requests are bound to it; at most one
    MODEL_DRAINING, // another took over, but requests still hold this one
    MODEL_CLOSING   // nobody holds it: to be freed by the caller
};

enum { LIFECYCLE_MODELS = 2 }; // places

struct lifecycle_model {
    enum model_state state;
    int n_holders; // requests bound to it that have not left
};

struct lifecycle {
    enum server_state state;
    int n_in_flight; // requests taken and not yet answered: the holders of all models
    int64_t drain_until_ns; // SERVER_DRAINING: when it stops whatever still runs
    struct lifecycle_model models[LIFECYCLE_MODELS];
};

// SERVER_LOADING; place 0 is MODEL_LOADING, the other MODEL_EMPTY.
void lifecycle_init(struct lifecycle *l);

// ---- the server ---------------------------------------------------------------------------------

// The first model is loaded: a loading server is ready, and place 0 serves.
void lifecycle_ready(struct lifecycle *l);
// It could not be: a loading server has stopped. Models keep their states.
void lifecycle_failed(struct lifecycle *l);

// SIGTERM. A ready server with requests in flight drains until now_ns + drain_ns (INT64_MAX
// if that is beyond it). It stops at once if nothing is in flight or drain_ns <= 0. In
// every other state it stops: while loading, and at the second SIGTERM. Models keep their
// states.
void lifecycle_terminate(struct lifecycle *l, int64_t now_ns, int64_t drain_ns);

// A draining server stops at drain_until_ns; to be called now and then.
void lifecycle_tick(struct lifecycle *l, int64_t now_ns);

// ---- requests -----------------------------------------------------------------------------------

// A request wants in. Ready: OK, it is counted in flight and as a holder of the serving
// model, and *i_model is that model's place. Else ERR_STATE, nothing is counted or written,
// and the message has the state's name in it ("loading", "draining", "stopped").
enum status lifecycle_enter(struct lifecycle *l, int *i_model, struct error *err);

// It leaves the model in place i_model, in any state of the server. The last holder of a
// draining model closes it; the last one out of a draining server stops it. Somebody must
// hold this model: MUST (common/status.h).
void lifecycle_leave(struct lifecycle *l, int i_model);

// ---- another model ------------------------------------------------------------------------------

// Takes the empty place for a model to be loaded: OK, *i_model, now MODEL_LOADING. Refused,
// and nothing changes: ERR_STATE if the server is not ready, with its state's name; else
// ERR_BUSY if no place is empty, and the message says why: "loading", or "draining" and how
// many requests hold the old model, or "closing".
enum status lifecycle_swap(struct lifecycle *l, int *i_model, struct error *err);

// The model in place i_model, which must be MODEL_LOADING for each of the two (MUST), is
// loaded. In a ready server it serves from now on, and the one that served drains, or is
// closing if nobody holds it. In a server that is ready no more it came too late, and is
// closing itself.
void lifecycle_swap_loaded(struct lifecycle *l, int i_model);
// Or it could not be loaded: its place is empty again, whatever the server does.
void lifecycle_swap_failed(struct lifecycle *l, int i_model);

// The caller has freed the model in place i_model, which was closing (MUST): it is empty.
void lifecycle_closed(struct lifecycle *l, int i_model);

// ---- given --------------------------------------------------------------------------------------

const char *lifecycle_name(enum server_state s);      // "loading", ...
const char *lifecycle_model_name(enum model_state s); // "empty", ...

// The place of the model in this state; -1: none.
int lifecycle_find(const struct lifecycle *l, enum model_state s);

#endif
