// The thread that steps the engines, which is also rank 0 of the compute team. It sleeps while there
// is nothing to do. There are places for a few models, as in lifecycle.h: while one model drains and
// another serves, their engines take turns, a step each, and the team is lent to them by the step.
//
//   start ──▶ add(place) ──▶ step, step, ... ──▶ close(place) ──▶ closed(place) ──▶ ... ──▶ stop
#ifndef LEVEL2_ENGINE_THREAD_H
#define LEVEL2_ENGINE_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/team.h"
#include "common/trace.h"
#include "level2-operator/server/loaded_model.h"
#include "level2-operator/service/fault.h"
#include "level2-operator/service/lifecycle.h"

struct engine_thread_options {
    int n_threads; // of the compute team
    bool has_trace;
    struct fault fault;  // on purpose
    struct clock *clock; // borrowed
    // Called on the engine's thread: the model of this place is freed.
    void (*closed)(void *ctx, int i_model);
    // The same, once: the thread cannot go on and ends; err says why.
    void (*failed)(void *ctx);
    void *ctx;
};

struct engine_place {
    _Atomic(struct loaded_model *) model; // NULL: empty
    atomic_bool is_closing;
};

struct engine_thread { // all-zero: not running
    struct engine_thread_options options;
    pthread_t thread;
    bool is_running;
    atomic_bool is_stopping;
    // for the options of the engines to come
    struct team team; // stepped by the thread alone
    struct trace trace;
    _Atomic uint32_t wakes; // that all engines share
    struct arena arena;     // team and trace
    struct engine_place places[LIFECYCLE_MODELS];
    struct error err; // after failed
};

// t must not move while it runs.
enum status engine_thread_start(struct engine_thread *t,
                                const struct engine_thread_options *options,
                                struct error *err);

// From any thread. From add on the thread steps this model's engine; model outlives its closing. close:
// nobody uses the model any more; the thread frees it (loaded_model_close) and says closed.
void engine_thread_add(struct engine_thread *t, int i_model, struct loaded_model *model);
void engine_thread_close_model(struct engine_thread *t, int i_model);

// Ends after the step under way; requests inside vanish. Afterwards only the trace is left to be
// written. Safe on one that does not run.
void engine_thread_stop(struct engine_thread *t);

// The rest: models that were added, trace, memory. Safe on a zeroed one.
void engine_thread_close(struct engine_thread *t);

#endif
