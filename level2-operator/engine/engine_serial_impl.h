// The inside of the serial engine, shared by the two files that make it: engine_serial.c (birth,
// death, and what any thread may call) and serial_step.c (what the engine thread does).
#ifndef LEVEL2_ENGINE_SERIAL_IMPL_H
#define LEVEL2_ENGINE_SERIAL_IMPL_H

#include "common/engine_impl.h"
#include "common/ring.h"
#include "level2-operator/engine/engine_serial.h"
#include "level2-operator/engine/sampler.h"
#include "level2-operator/engine/sequence_rows.h"
#include "level2-operator/engine/serial_cache.h"
#include "level2-operator/engine/serial_queue.h"

struct engine_serial {
    struct engine base; // first: struct engine * is this
    // owned
    struct arena own; // closed when the arena is the caller's
    // any thread, each with its own lock
    struct serial_queue queue;
    struct ring events;
    _Atomic uint32_t own_wakes; // when options has no other
    _Atomic uint32_t *wakes;    // counts reasons to look up; a parked engine waits on it
    // engine thread only
    uint32_t wakes_seen;
    struct serial_request *running; // NULL: none
    int64_t running_since_ns;       // on the trace's clock
    struct serial_cache cache;
    struct sequence_rows rows;
    struct run *run;
    struct sampler sampler;
    bool *banned;              // (n_vocab): cannot be drawn before min_tokens
    struct engine_event event; // being written
    bool has_news;             // events were put in this step
    // borrowed
    const struct model *model;
    // fixed at create: options with the defaults filled in
    struct engine_serial_options options;
};

// A step says at most: progress, a token, the end.
enum { SERIAL_STEP_EVENTS = 3 };

static inline struct engine_serial *engine_serial_of(struct engine *e) {
    return (struct engine_serial *)(void *)e;
}

// engine_step; see common/engine.h.
bool serial_step(struct engine *e);

// The engine thread is alive: renews last_step_ns.
void serial_heartbeat(struct engine_serial *s);

#endif
