// One sequence on one device that is all the engine's.
#include "level2-operator/engine/serial_fit.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/limits.h"
#include "common/os.h"
#include "level2-operator/fit/fit_subject.h"
#include "level2-operator/text/byte_text.h"

// What fit.h counts to, and more than any machine has.
static const uint64_t MOST_BYTES = UINT64_C(1) << 53;

struct sums {
    struct fit_model shape;
    struct fit_plan plan;
    struct fit_device device;
};

static struct fit_type type_of(enum dtype t) {
    const struct dtype_info *info = dtype_info(t);
    return (struct fit_type){info->block_len, info->block_bytes};
}

// An arena gives out whole lines: KV may take one more.
static struct sums sums_of(const struct engine_serial_options *o, const struct model *model,
                           const struct engine_ledger *l, int n_ctx,
                           uint64_t memory_bytes) {
    return (struct sums){
        .shape = fit_shape_of_config(&model->config),
        .plan = {.weight_bytes = l->weights_bytes,
                 .kv = type_of(o->kv_dtype),
                 .n_seqs = 1,
                 .n_ctx = (uint64_t)n_ctx,
                 .n_split = 1},
        .device = {.memory_bytes = memory_bytes,
                 .share = 1000,
                 .overhead_bytes = l->tables_bytes + l->packed_bytes +
                                     l->activation_bytes + l->other_bytes + ARENA_ALIGN},
    };
}

static int least(int a, int b) {
    return a < b ? a : b;
}

// The shortest context that serve would choose by itself, and what it needs: queues are shorter, too.
struct least {
    int n_ctx;
    uint64_t n_bytes;
};

static enum status least_of(struct least *l, const struct sums *s,
                            const struct engine_serial_options *options,
                            const struct model *model, struct error *err) {
    struct engine_serial_options o = *options;
    struct engine_ledger ledger;
    l->n_ctx = o.n_ctx = least((int)s->plan.n_ctx, LIMIT_LEAST_CONTEXT);
    enum status st = engine_serial_ledger(model, &o, &ledger, err);
    if (st != OK) return st;
    struct sums of = sums_of(&o, model, &ledger, o.n_ctx, s->device.memory_bytes);
    l->n_bytes = fit_device_bytes(&of.shape, &of.plan, &of.device);
    return OK;
}

static void write_advice(char *advice, size_t advice_bytes, const struct least *l,
                         uint64_t longest, uint64_t n_bytes) {
    if (longest > 1 && (longest >= (uint64_t)l->n_ctx || l->n_bytes == n_bytes))
        snprintf(advice, advice_bytes, "--context %" PRIu64 " or --memory %" PRIu64,
                 longest, n_bytes);
    else if (l->n_bytes < n_bytes)
        snprintf(advice, advice_bytes,
                 "--memory %" PRIu64 ", or at the least --memory %" PRIu64 " --context %d",
                 n_bytes, l->n_bytes, l->n_ctx);
    else
        snprintf(advice, advice_bytes, "--memory %" PRIu64, n_bytes);
}

static enum status refuse(const struct sums *s, const struct least *l, uint64_t longest,
                          struct error *err) {
    char needed[BYTE_TEXT_BYTES], weights[BYTE_TEXT_BYTES], kv[BYTE_TEXT_BYTES];
    char allowed[BYTE_TEXT_BYTES], advice[100];
    uint64_t n_bytes = fit_device_bytes(&s->shape, &s->plan, &s->device);
    write_advice(advice, sizeof(advice), l, longest, n_bytes);
    byte_text(weights, s->plan.weight_bytes);
    byte_text(allowed, s->device.memory_bytes);
    if (s->plan.weight_bytes > s->device.memory_bytes)
        return error_set_param(err, ERR_MEMORY, "memory",
                               "does not fit: the weights alone are %s, allowed are %s; "
                               "what would fit: %s",
                               weights, allowed, advice);
    return error_set_param(
        err, ERR_MEMORY, "memory",
        "does not fit: needs %s (weights %s, KV of %" PRIu64 " tokens %s), allowed are %s; "
        "what would fit: %s",
        byte_text(needed, n_bytes), weights, s->plan.n_ctx,
        byte_text(kv, fit_kv_bytes(&s->shape, &s->plan, s->plan.n_ctx)), allowed, advice);
}

// *n_ctx: what is wanted, then what fits. Only if nobody asked for it (o->n_ctx is 0) it may be shorter.
static enum status choose_context(int *n_ctx, const struct sums *s,
                                  const struct engine_serial_options *o,
                                  const struct model *model, struct error *err) {
    uint64_t room = fit_room(&s->plan, &s->device);
    uint64_t longest = fit_max_context(&s->shape, &s->plan, room, (uint64_t)*n_ctx);
    struct least l;
    enum status st = least_of(&l, s, o, model, err);
    if (st != OK) return st;
    if (o->n_ctx == 0 && longest < (uint64_t)l.n_ctx && l.n_bytes <= s->device.memory_bytes)
        longest = (uint64_t)l.n_ctx; // its own queues leave room for it
    uint64_t wanted = (uint64_t)(o->n_ctx ? *n_ctx : l.n_ctx);
    if (longest < wanted) return refuse(s, &l, longest, err);
    *n_ctx = (int)longest;
    return OK;
}

enum status serial_fit(struct engine_serial_options *options, const struct model *model,
                       uint64_t memory_bytes, struct error *err) {
    struct engine_serial_options o = *options;
    struct engine_ledger ledger;
    o.memory_bytes = 0;
    enum status st = engine_serial_ledger(model, &o, &ledger, err);
    if (st != OK) return st;

    int n_ctx = o.n_ctx ? o.n_ctx : least(model->config.n_ctx, LIMIT_DEFAULT_CONTEXT);
    if (memory_bytes > MOST_BYTES) memory_bytes = MOST_BYTES;
    if (memory_bytes) {
        struct sums s = sums_of(&o, model, &ledger, n_ctx, memory_bytes);
        st = choose_context(&n_ctx, &s, &o, model, err);
        if (st != OK) return st;
        memory_bytes -= ledger.weights_bytes + ledger.tables_bytes;
    }
    options->n_ctx = n_ctx;
    options->memory_bytes = memory_bytes;
    return OK;
}

uint64_t serial_fit_beside_kv(const struct config *c, uint64_t n_ctx) {
    const struct run_limits limits = {
        .max_rows = LIMIT_STEP_ROWS,
        .max_logit_rows = 1,
        .max_workers = least(os_cpu_count(), LIMIT_WORKERS),
        .n_ctx = n_ctx < LIMIT_CONTEXT ? (int)n_ctx : LIMIT_CONTEXT,
    };
    return engine_serial_beside_kv(c, &limits, LIMIT_QUEUE);
}
