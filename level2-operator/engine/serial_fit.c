// One sequence on one device that is all the engine's.
#include "level2-operator/engine/serial_fit.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/limits.h"
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
                 .overhead_bytes = l->packed_bytes + l->activation_bytes +
                                     l->other_bytes + ARENA_ALIGN},
    };
}

static enum status refuse(const struct sums *s, uint64_t max_context, struct error *err) {
    char needed[BYTE_TEXT_BYTES], weights[BYTE_TEXT_BYTES], kv[BYTE_TEXT_BYTES];
    char allowed[BYTE_TEXT_BYTES], shorter[40] = "";
    uint64_t n_bytes = fit_device_bytes(&s->shape, &s->plan, &s->device);
    if (max_context > 1)
        snprintf(shorter, sizeof(shorter), "--context %" PRIu64 " or ", max_context);
    return error_set_param(
        err, ERR_MEMORY, "memory",
        "does not fit: needs %s (weights %s, KV of %" PRIu64 " tokens %s), allowed are %s; "
        "what would fit: %s--memory %" PRIu64,
        byte_text(needed, n_bytes), byte_text(weights, s->plan.weight_bytes), s->plan.n_ctx,
        byte_text(kv, fit_kv_bytes(&s->shape, &s->plan, s->plan.n_ctx)),
        byte_text(allowed, s->device.memory_bytes), shorter, n_bytes);
}

static int least(int a, int b) {
    return a < b ? a : b;
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
    if (o.n_ctx ? longest < (uint64_t)n_ctx : is_too_short) return refuse(&s, longest, err);
    options->n_ctx = (int)longest;
    options->memory_bytes = memory_bytes - ledger.weights_bytes;
    return OK;
}
