// The serial engine: how it is made and counted, and what any thread may ask of it. What the engine
// thread does is in serial_step.c. Not here: batches, paging, sharing among several sequences.
#include "level2-operator/engine/engine_serial.h"

#include "common/limits.h"
#include "common/os.h"
#include "level2-operator/engine/engine_serial_impl.h"

// How long a park without limit sleeps at a stretch.
static const int64_t LONG_NS = 3600 * INT64_C(1000000000);

static enum status serial_submit(struct engine *e, const struct engine_params *params,
                                 request_id *id, struct error *err) {
    struct engine_serial *s = engine_serial_of(e);
    int n_ctx = s->options.n_ctx;
    enum status st = engine_params_check(params, s->model->config.n_vocab, err);
    if (st != OK) return st;
    if (params->n_prompt >= n_ctx)
        return error_set_param(
            err, ERR_CONTEXT, "prompt",
            "the prompt has %d tokens, but prompt and answer together may "
            "have %d: shorten it",
            params->n_prompt, n_ctx);
    st = serial_queue_put(&s->queue, params, id, err);
    if (st == OK) engine_wake(e);
    return st;
}

static void serial_cancel(struct engine *e, request_id id) {
    serial_queue_cancel(&engine_serial_of(e)->queue, id);
    engine_wake(e);
}

static int serial_poll(struct engine *e, struct engine_event *events, int max_events) {
    int n = 0;
    while (n < max_events && ring_take(&engine_serial_of(e)->events, &events[n])) n++;
    if (n > 0) engine_wake(e); // it may have stood still for want of room
    return n;
}

static void serial_stats(struct engine *e, struct engine_stats *stats) {
    struct serial_queue *q = &engine_serial_of(e)->queue;
    pthread_mutex_lock(&q->lock);
    *stats = q->stats;
    pthread_mutex_unlock(&q->lock);
}

static bool may_have_work(struct engine_serial *s) {
    struct engine_stats stats;
    serial_stats(&s->base, &stats);
    return stats.n_waiting + stats.n_running > 0 &&
           ring_space(&s->events) >= SERIAL_STEP_EVENTS;
}

// A wake that came since the last park returned is not lost: the counter differs from wakes_seen.
static void serial_park(struct engine *e, int64_t timeout_ns) {
    struct engine_serial *s = engine_serial_of(e);
    uint32_t wakes = atomic_load(s->wakes);
    if (wakes == s->wakes_seen && !may_have_work(s))
        os_wait(s->wakes, wakes, timeout_ns < 0 ? LONG_NS : timeout_ns);
    s->wakes_seen = atomic_load(s->wakes);
    serial_heartbeat(s);
}

static void serial_wake(struct engine *e) {
    struct engine_serial *s = engine_serial_of(e);
    atomic_fetch_add(s->wakes, 1);
    os_wake_all(s->wakes);
}

static int serial_context(const struct engine *e) {
    return ((const struct engine_serial *)(const void *)e)->options.n_ctx;
}

static void serial_destroy(struct engine *e) {
    struct engine_serial *s = engine_serial_of(e);
    serial_queue_free(&s->queue);
    ring_free(&s->events);
    struct arena own = s->own; // it holds *s
    arena_free(&own);
}

static const struct engine_table serial_table = {
    .name = "serial",
    .submit = serial_submit,
    .cancel = serial_cancel,
    .poll = serial_poll,
    .stats = serial_stats,
    .step = serial_step,
    .park = serial_park,
    .wake = serial_wake,
    .context = serial_context,
    .destroy = serial_destroy,
};

// ---- making one ---------------------------------------------------------------------------------

static enum status option_check(const char *name, int *value, int fallback, int low,
                                int high, struct error *err) {
    if (*value == 0) *value = fallback;
    if (*value >= low && *value <= high) return OK;
    return error_set_param(err, ERR_INPUT, name, "%s is %d, must be between %d and %d",
                           name, *value, low, high);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

// Fills in the defaults and refuses what is out of range.
static enum status options_settle(struct engine_serial_options *o,
                                  const struct model *model, struct error *err) {
    int n_ctx = model->config.n_ctx;
    MUST(o->team && o->clock);
    if (!o->ops) o->ops = &ops_plain;
    enum status st = option_check("context", &o->n_ctx, least(n_ctx, LIMIT_DEFAULT_CONTEXT),
                                  2, n_ctx, err);
    if (st == OK)
        st = option_check("step_rows", &o->step_rows, LIMIT_STEP_ROWS, 1, LIMIT_STEP_ROWS,
                          err);
    if (st == OK)
        st = option_check("max_waiting", &o->max_waiting, LIMIT_QUEUE, 1, LIMIT_QUEUE, err);
    return st;
}

static struct run_limits limits_of(const struct engine_serial_options *o) {
    return (struct run_limits){.max_rows = o->step_rows,
                               .max_logit_rows = 1,
                               .max_workers = o->team->n_workers,
                               .n_ctx = o->n_ctx};
}

static uint64_t weights_bytes(const struct model *m) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < m->gguf.n_tensors; i++) sum += m->gguf.tensors[i].view.n_bytes;
    return sum;
}

// All but weights, KV and activations. In the order of parts_make.
static uint64_t other_bytes(const struct config *c, const struct run_limits *limits,
                            int max_waiting) {
    size_t n_vocab = (size_t)c->n_vocab;
    return arena_bytes(1, sizeof(struct engine_serial)) +
           serial_queue_bytes(max_waiting, limits->n_ctx) +
           arena_bytes(LIMIT_ENGINE_EVENTS, sizeof(struct engine_event)) +
           serial_cache_bytes(limits->n_ctx) +
           sequence_rows_bytes(limits->max_rows, c->n_heads) + sampler_bytes(c->n_vocab) +
           arena_bytes(n_vocab, sizeof(bool));
}

// o is settled. layout is filled on the way.
static enum status count(struct engine_ledger *ledger, struct kv_layout *layout,
                         const struct model *model, const struct engine_serial_options *o,
                         struct error *err) {
    struct run_limits limits = limits_of(o);
    *layout = (struct kv_layout){.dtype = o->kv_dtype, .block_len = o->n_ctx};
    enum status st = o->ops->kv_layout(layout, &model->config, err);
    if (st != OK) return st;
    *ledger = (struct engine_ledger){
        .weights_bytes = weights_bytes(model),
        .tables_bytes = model->arena.used,
        .packed_bytes = o->ops->prepare_bytes(model),
        .kv_bytes = arena_bytes(1, layout->block_bytes),
        .activation_bytes = o->ops->run_bytes(&model->config, &limits),
        .other_bytes = other_bytes(&model->config, &limits, o->max_waiting),
    };
    uint64_t needed = ledger->packed_bytes + ledger->kv_bytes + ledger->activation_bytes +
                      ledger->other_bytes;
    if (o->memory_bytes == 0 || needed <= o->memory_bytes) return OK;
    return error_set(
        err, ERR_MEMORY,
        "the engine needs %llu bytes (KV cache %llu) besides the file, but %llu "
        "are allowed: ask for less context or allow more memory",
        (unsigned long long)needed, (unsigned long long)ledger->kv_bytes,
        (unsigned long long)o->memory_bytes);
}

static enum status parts_make(struct engine_serial *s, const struct kv_layout *layout,
                              struct arena *arena, struct error *err) {
    const struct engine_serial_options *o = &s->options;
    const struct config *c = &s->model->config;
    struct run_limits limits = limits_of(o);

    enum status st = serial_queue_init(&s->queue, o->max_waiting, o->n_ctx, arena, err);
    if (st == OK)
        st = ring_init(&s->events, LIMIT_ENGINE_EVENTS, sizeof(struct engine_event), arena,
                       err);
    if (st == OK) st = serial_cache_init(&s->cache, layout, arena, err);
    if (st == OK) st = sequence_rows_init(&s->rows, o->step_rows, c->n_heads, arena, err);
    if (st == OK) st = sampler_init(&s->sampler, c->n_vocab, arena, err);
    if (st == OK)
        st = o->ops->run_init(&s->run, s->model, &s->cache.pool, &limits, arena, err);
    if (st != OK) return st;
    s->banned = ARENA_NEW(arena, bool, c->n_vocab);
    if (!s->banned) return error_set(err, ERR_MEMORY, "no memory for the engine");
    s->cache.no_reuse = o->no_cache;
    s->queue.stats.n_kv_capacity = o->n_ctx;
    s->queue.stats.n_kv_bytes = layout->block_bytes;
    return OK;
}

enum status engine_serial_ledger(const struct model *model,
                                 const struct engine_serial_options *options,
                                 struct engine_ledger *ledger, struct error *err) {
    struct engine_serial_options o = *options;
    struct kv_layout layout;
    enum status st = options_settle(&o, model, err);
    return st == OK ? count(ledger, &layout, model, &o, err) : st;
}

uint64_t engine_serial_beside_kv(const struct config *c, const struct run_limits *limits,
                                 int max_waiting) {
    return ops_plain.run_bytes(c, limits) + other_bytes(c, limits, max_waiting);
}

enum status engine_serial_create_in(struct engine **e, struct model *model,
                                    const struct engine_serial_options *options,
                                    struct arena *arena, struct error *err) {
    struct engine_serial_options o = *options;
    struct engine_ledger ledger;
    struct kv_layout layout;
    *e = NULL;
    enum status st = options_settle(&o, model, err);
    if (st == OK) st = count(&ledger, &layout, model, &o, err);
    if (st == OK)
        st = o.ops->prepare(model, &model->arena, o.packers ? o.packers : o.team, err);
    if (st != OK) return st;

    struct engine_serial *s = ARENA_NEW(arena, struct engine_serial, 1);
    if (!s) return error_set(err, ERR_MEMORY, "no memory for the engine");
    s->base.table = &serial_table;
    s->model = model;
    s->options = o;
    s->wakes = o.wakes ? o.wakes : &s->own_wakes;
    st = parts_make(s, &layout, arena, err);
    if (st != OK) {
        serial_destroy(&s->base);
        return st;
    }
    arena_seal(arena); // the step loop allocates nothing
    serial_heartbeat(s);
    *e = &s->base;
    return OK;
}

enum status engine_serial_create(struct engine **e, struct model *model,
                                 const struct engine_serial_options *options,
                                 struct error *err) {
    struct engine_ledger l;
    struct arena arena;
    *e = NULL;
    enum status st = engine_serial_ledger(model, options, &l, err);
    if (st != OK) return st;

    arena_init(&arena, l.kv_bytes + l.activation_bytes + l.other_bytes);
    st = engine_serial_create_in(e, model, options, &arena, err);
    if (st == OK)
        engine_serial_of(*e)->own = arena;
    else
        arena_free(&arena);
    return st;
}
