// Load, then step until told to stop.
#include "level2-operator/engine_thread.h"

#include <limits.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/serial_fit.h"

// Team and trace: 64 lanes of spans, with room to spare.
static const size_t team_bytes = (size_t)1 << 30;

// ---- loading -----------------------------------------------------------------------------------

static double mib(uint64_t n_bytes) {
    return (double)n_bytes / (1 << 20);
}

static void print_ledger(const struct engine_thread *t,
                         const struct engine_serial_options *o,
                         const struct engine_ledger *l) {
    uint64_t total = l->weights_bytes + l->packed_bytes + l->kv_bytes +
                     l->activation_bytes + l->other_bytes;
    log_line(
        t->options.log, LOG_INFO, "memory",
        "weights_mib=%.1f packed_mib=%.1f kv_mib=%.1f activations_mib=%.1f other_mib=%.1f "
        "total_mib=%.1f allowed_mib=%.1f context=%d",
        mib(l->weights_bytes), mib(l->packed_bytes), mib(l->kv_bytes),
        mib(l->activation_bytes), mib(l->other_bytes), mib(total),
        mib(t->options.memory_bytes), o->n_ctx);
}

// Nobody asked for less: so it must not go unsaid.
static void print_shortened(const struct engine_thread *t, int n_ctx) {
    int n_model = t->model.config.n_ctx;
    int usual = n_model < LIMIT_DEFAULT_CONTEXT ? n_model : LIMIT_DEFAULT_CONTEXT;
    if (t->options.n_ctx == 0 && n_ctx < usual)
        log_line(t->options.log, LOG_WARN, "context made shorter, to fit --memory",
                 "context=%d usual=%d", n_ctx, usual);
}

static void print_model(const struct engine_thread *t, struct engine *engine,
                        double seconds) {
    char name[256];
    log_line(t->options.log, LOG_INFO, "model loaded",
             "name=%s arch=%s context=%d threads=%d seconds=%.2f",
             log_quote(name, sizeof(name), t->model.name), arch_name(t->model.config.arch),
             engine_context(engine), t->options.n_threads, seconds);
    if (t->model.chat.st)
        log_line(t->options.log, LOG_WARN, "no chat: its template is not understood",
                 "reason=%s", log_quote(name, sizeof(name), t->model.chat.why.text));
}

static enum status create_engine(struct engine_thread *t, struct engine **engine,
                                 struct error *err) {
    struct engine_serial_options options = {
        .n_ctx = t->options.n_ctx,
        .step_rows = t->options.step_rows,
        .team = &t->team,
        .clock = t->options.clock,
        .trace = t->options.has_trace ? &t->trace : NULL,
        .listener = t->options.listener,
    };
    struct engine_ledger ledger;

    enum status st = serial_fit(&options, &t->model, t->options.memory_bytes, err);
    if (!st) st = engine_serial_ledger(&t->model, &options, &ledger, err);
    if (st) return st;
    print_ledger(t, &options, &ledger); // before anything is taken
    print_shortened(t, options.n_ctx);
    return engine_serial_create(engine, &t->model, &options, err);
}

static enum status load(struct engine_thread *t, struct engine **engine,
                        struct error *err) {
    const struct model_options model = {.pre = t->options.pre, .chat = t->options.chat};
    int64_t began_ns = clock_now(t->options.clock);

    arena_init(&t->arena, team_bytes);
    enum status st = model_open(&t->model, t->options.model_path, &model, err);
    if (st) return st;
    st = team_open(&t->team, &t->arena, t->options.n_threads, err);
    if (st) return st;
    if (t->options.has_trace) {
        st = trace_init(&t->trace, &t->arena, t->options.n_threads, t->options.clock, err);
        if (st) return st;
        team_set_trace(&t->team, &t->trace);
    }
    st = create_engine(t, engine, err);
    if (st) return st;
    print_model(t, *engine, (double)(clock_now(t->options.clock) - began_ns) / 1e9);
    return OK;
}

// ---- the thread --------------------------------------------------------------------------------

// Until it is told to stop, or cannot go on.
static enum status step_on(struct engine_thread *t, struct engine *engine) {
    enum status st = OK;
    int n_steps = 0; // stands still long before it overflows
    while (!st && !atomic_load(&t->is_stopping)) {
        if (!engine_step(engine)) {
            engine_park(engine, -1);
            continue;
        }
        if (n_steps < INT_MAX) n_steps++;
        st = fault_strike(&t->options.fault, n_steps, &t->err);
    }
    return st;
}

static void *run(void *thread) {
    struct engine_thread *t = thread;
    struct engine *engine = NULL;

    enum status st = load(t, &engine, &t->err);
    atomic_store(&t->engine, engine);
    t->options.loaded(t->options.ctx, st);
    if (!st && step_on(t, engine) != OK) t->options.failed(t->options.ctx);
    team_close(&t->team); // by the thread that opened it
    return NULL;
}

enum status engine_thread_start(struct engine_thread *t,
                                const struct engine_thread_options *options,
                                struct error *err) {
    memset(t, 0, sizeof(*t));
    t->options = *options;
    int failed = pthread_create(&t->thread, NULL, run, t);
    if (failed)
        return error_set(err, ERR_IO, "cannot start the engine: %s", strerror(failed));
    t->is_running = true;
    return OK;
}

void engine_thread_stop(struct engine_thread *t) {
    if (!t->is_running) return;
    atomic_store(&t->is_stopping, true);
    // Not loaded yet: the thread looks at is_stopping before it parks.
    struct engine *engine = atomic_load(&t->engine);
    if (engine) engine_wake(engine);
    pthread_join(t->thread, NULL);
    t->is_running = false;
}

void engine_thread_close(struct engine_thread *t) {
    engine_thread_stop(t);
    engine_destroy(atomic_load(&t->engine));
    model_close(&t->model);
    arena_free(&t->arena);
    memset(t, 0, sizeof(*t));
}
