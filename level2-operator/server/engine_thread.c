// Step until told to stop; between steps, free what nobody needs.
#include "level2-operator/server/engine_thread.h"

#include <limits.h>
#include <string.h>

#include "common/os.h"

// Team and trace: 64 lanes of spans, with room to spare.
static const size_t team_bytes = (size_t)1 << 30;

static void wake(struct engine_thread *t) {
    atomic_fetch_add(&t->wakes, 1);
    os_wake_all(&t->wakes);
}

// ---- the thread ---------------------------------------------------------------------------------

static void close_place(struct engine_place *place) {
    struct loaded_model *model = atomic_exchange(&place->model, NULL);
    if (model) loaded_model_close(model);
    atomic_store(&place->is_closing, false);
}

// One step of this place's engine. false: there was nothing to do.
static bool take_turn(struct engine_thread *t, int i_model) {
    struct engine_place *place = &t->places[i_model];
    struct loaded_model *model = atomic_load(&place->model);

    if (atomic_load(&place->is_closing)) {
        close_place(place);
        t->options.closed(t->options.ctx, i_model);
        return true;
    }
    return model && engine_step(model->served.engine);
}

// Whichever engine the thread is parked in, a wake of any other wakes it: they share the count.
static void park(struct engine_thread *t, uint32_t wakes_seen) {
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        struct loaded_model *model = atomic_load(&t->places[i].model);
        if (!model) continue;
        engine_park(model->served.engine, -1);
        return;
    }
    os_wait(&t->wakes, wakes_seen, -1); // there is no model yet
}

// Until it is told to stop, or cannot go on.
static void *run(void *thread) {
    struct engine_thread *t = thread;
    enum status st = OK;
    int n_steps = 0; // stands still long before it overflows

    while (!st && !atomic_load(&t->is_stopping)) {
        uint32_t wakes_seen = atomic_load(&t->wakes); // before looking: nothing is missed
        bool has_worked = false;
        for (int i = 0; i < LIFECYCLE_MODELS; i++) has_worked |= take_turn(t, i);
        if (!has_worked) {
            park(t, wakes_seen);
            continue;
        }
        if (n_steps < INT_MAX) n_steps++;
        st = fault_strike(&t->options.fault, n_steps, &t->err);
    }
    if (st) t->options.failed(t->options.ctx);
    return NULL;
}

// ---- from other threads -------------------------------------------------------------------------

static enum status open_team(struct engine_thread *t, struct error *err) {
    const struct engine_thread_options *o = &t->options;
    arena_init(&t->arena, team_bytes);
    enum status st = team_open(&t->team, &t->arena, o->n_threads, err);
    if (st || !o->has_trace) return st;
    st = trace_init(&t->trace, &t->arena, o->n_threads, o->clock, err);
    if (!st) team_set_trace(&t->team, &t->trace);
    return st;
}

enum status engine_thread_start(struct engine_thread *t,
                                const struct engine_thread_options *options,
                                struct error *err) {
    memset(t, 0, sizeof(*t));
    t->options = *options;
    enum status st = open_team(t, err);
    if (st) {
        engine_thread_close(t);
        return st;
    }
    int failed = pthread_create(&t->thread, NULL, run, t);
    if (failed) {
        engine_thread_close(t);
        return error_set(err, ERR_IO, "cannot start the engine: %s", strerror(failed));
    }
    t->is_running = true;
    return OK;
}

void engine_thread_add(struct engine_thread *t, int i_model, struct loaded_model *model) {
    MUST(!atomic_load(&t->places[i_model].model));
    atomic_store(&t->places[i_model].model, model);
    wake(t);
}

void engine_thread_close_model(struct engine_thread *t, int i_model) {
    atomic_store(&t->places[i_model].is_closing, true);
    wake(t);
}

void engine_thread_stop(struct engine_thread *t) {
    if (!t->is_running) return;
    atomic_store(&t->is_stopping, true);
    wake(t);
    pthread_join(t->thread, NULL);
    t->is_running = false;
}

void engine_thread_close(struct engine_thread *t) {
    engine_thread_stop(t);
    for (int i = 0; i < LIFECYCLE_MODELS; i++) close_place(&t->places[i]);
    team_close(&t->team);
    arena_free(&t->arena);
    memset(t, 0, sizeof(*t));
}
