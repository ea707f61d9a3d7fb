// The engine on a thread of its own, which is also rank 0 of the compute team: it loads the model,
// says so, and then steps while there is work and sleeps while there is none.
//
//   start ──▶ model_open ──▶ ledger ──▶ engine ──▶ loaded(OK) ──▶ step, step, ... ──▶ stop
//                 └────────────┴───────────┴─────▶ loaded(status), t->err says why
#ifndef LEVEL2_ENGINE_THREAD_H
#define LEVEL2_ENGINE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/team.h"
#include "common/trace.h"
#include "level2-operator/engine_serial.h"
#include "level2-operator/fault.h"
#include "level2-operator/model.h"

struct engine_thread_options {
    const char *model_path;
    const char *pre, *chat; // see struct model_options
    int n_threads;          // of the compute team
    int n_ctx, step_rows;   // 0: see struct engine_serial_options
    uint64_t memory_bytes;  // 0: no limit
    bool has_trace;
    struct fault fault;              // on purpose
    struct clock *clock;             // borrowed
    const struct log *log;           // borrowed
    struct engine_listener listener; // of the engine
    // Called on the engine's thread, once: loaded, or not (then nothing else happens).
    void (*loaded)(void *ctx, enum status st);
    // The same, once it had been loaded and cannot go on: err says why.
    void (*failed)(void *ctx);
    void *ctx;
};

struct engine_thread { // all-zero: not running
    struct engine_thread_options options;
    pthread_t thread;
    bool is_running;
    atomic_bool is_stopping;
    // owned by the thread; others may read engine and model after loaded(OK), err after it failed
    struct arena arena; // team and trace
    struct team team;
    struct trace trace;
    struct model model;
    _Atomic(struct engine *) engine;
    struct error err;
};

// t must not move while it runs.
enum status engine_thread_start(struct engine_thread *t,
                                const struct engine_thread_options *options,
                                struct error *err);

// Ends after the step under way; requests inside vanish. A load under way is waited for. Afterwards
// only the trace is left to be written. Safe on one that does not run.
void engine_thread_stop(struct engine_thread *t);

// The rest: trace, model, memory. Safe on a zeroed one.
void engine_thread_close(struct engine_thread *t);

#endif
