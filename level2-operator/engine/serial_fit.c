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

// What the shortest context that serve would choose by itself needs; n_ctx if that is shorter still.
static enum status least_bytes(uint64_t *n_bytes, int *shortest, const struct sums *s,
                               const struct engine_serial_options *options,
                               const struct model *model, struct error *err) {
    struct engine_serial_options o = *options;
    struct engine_ledger ledger;
    *shortest = o.n_ctx = least((int)s->plan.n_ctx, LIMIT_LEAST_CONTEXT);
    enum status st = engine_serial_ledger(model, &o, &ledger, err);
    if (st != OK) return st;
    struct sums short_sums = sums_of(&o, model, &ledger, o.n_ctx, s->device.memory_bytes);
    *n_bytes = fit_device_bytes(&short_sums.shape, &short_sums.plan, &short_sums.device);
    return OK;
}

static enum status refuse(const struct sums *s, const struct engine_serial_options *o,
                          const struct model *model, uint64_t longest, struct error *err) {
    char needed[BYTE_TEXT_BYTES], weights[BYTE_TEXT_BYTES], kv[BYTE_TEXT_BYTES];
    char allowed[BYTE_TEXT_BYTES], advice[100];
    uint64_t n_bytes = fit_device_bytes(&s->shape, &s->plan, &s->device), n_least;
    int shortest;
    enum status st = least_bytes(&n_least, &shortest, s, o, model, err);
    if (st != OK) return st;

    if (longest > 1 && (longest >= (uint64_t)shortest || n_least == n_bytes))
        snprintf(advice, sizeof(advice), "--context %" PRIu64 " or --memory %" PRIu64,
                 longest, n_bytes);
    else if (n_least < n_bytes)
        snprintf(advice, sizeof(advice),
                 "--memory %" PRIu64 ", or at the least --memory %" PRIu64 " --context %d",
                 n_bytes, n_least, shortest);
    else
        snprintf(advice, sizeof(advice), "--memory %" PRIu64, n_bytes);

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

enum status serial_fit(struct engine_serial_options *options, const struct model *model,
                       uint64_t memory_bytes, struct error *err) {
    struct engine_serial_options o = *options;
    struct engine_ledger ledger;
    o.memory_bytes = 0;
    int own_choice = least(model->config.n_ctx, LIMIT_DEFAULT_CONTEXT);
    enum status st = engine_serial_ledger(model, &o, &ledger, err);
    if (st != OK) return st;

    int n_ctx = o.n_ctx ? o.n_ctx : own_choice;
    if (memory_bytes == 0) {
        options->n_ctx = n_ctx;
        options->memory_bytes = 0;
        return OK;
    }
    if (memory_bytes > MOST_BYTES) memory_bytes = MOST_BYTES;
    struct sums s = sums_of(&o, model, &ledger, n_ctx, memory_bytes);
    uint64_t room = fit_room(&s.plan, &s.device);
    uint64_t longest = fit_max_context(&s.shape, &s.plan, room, (uint64_t)n_ctx);
    bool is_too_short = longest < (uint64_t)least(own_choice, LIMIT_LEAST_CONTEXT);
    if (o.n_ctx ? longest < (uint64_t)n_ctx : is_too_short)
        return refuse(&s, &o, model, longest, err);
    options->n_ctx = (int)longest;
    options->memory_bytes = memory_bytes - ledger.weights_bytes - ledger.tables_bytes;
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
