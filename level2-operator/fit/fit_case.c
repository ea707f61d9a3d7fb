// The sums of level2-operator/fit/fit.h, asked in turn; seconds by common/cost.h.
#include "level2-operator/fit/fit_case.h"

#include "common/cost.h"
#include "common/limits.h"
#include "level2-operator/fit/fit_advice.h"
#include "level2-operator/fit/fit_sums.h"

static struct fit_plan plan_of(const struct fit_case *c) {
    const struct fit_machine *m = &c->machine;
    uint64_t n_copies = (uint64_t)(m->n_devices / m->n_split);
    return (struct fit_plan){
        .weight_bytes = c->weights ? fit_bytes(c->weight_type, c->subject->shape.n_weights)
                                   : c->subject->stored_bytes,
        .kv = c->kv_type,
        .n_seqs = sum_parts(c->n_seqs, n_copies), // the copy with the most of them
        .n_ctx = c->n_ctx,
        .n_split = m->n_split,
    };
}

uint64_t fit_device_usable(const struct fit_device *d) {
    return d->memory_bytes * (uint64_t)d->share / 1000;
}

uint64_t fit_device_overhead(const struct fit_device *d, int n_split) {
    return d->overhead_bytes + (n_split > 1 ? d->split_bytes : 0);
}

static void fill_ledger(struct fit_answer *a, const struct fit_case *c) {
    const struct fit_model *shape = &c->subject->shape;
    const struct fit_device *d = &c->machine.device;
    uint64_t n = (uint64_t)a->plan.n_split;
    uint64_t one = fit_kv_bytes(shape, &a->plan, c->n_ctx);
    a->weight_bytes = a->plan.weight_bytes;
    a->kv_bytes_per_token = sum_times(n, fit_kv_bytes(shape, &a->plan, 1));
    a->kv_bytes = sum_times(n, sum_times(a->plan.n_seqs, one));
    a->overhead_bytes = sum_times(n, fit_device_overhead(d, a->plan.n_split));
    a->usable_bytes = sum_times(n, fit_device_usable(d));
    a->room = fit_room(&a->plan, d);
}

// Devices for all sequences in copies that are split over plan->n_split each; FIT_TOO_MUCH: a copy holds
// none.
static uint64_t devices_with(const struct fit_model *shape, const struct fit_plan *plan,
                             const struct fit_device *d, uint64_t n_seqs) {
    uint64_t n = fit_max_sequences(shape, plan, fit_room(plan, d));
    if (n == 0) return FIT_TOO_MUCH;
    return sum_times(sum_parts(n_seqs, n), (uint64_t)plan->n_split);
}

// One copy, unless several take fewer devices: MLA's rows are on each device of a split, and so is the
// overhead.
static void fill_devices(struct fit_answer *a, const struct fit_case *c) {
    const struct fit_model *shape = &c->subject->shape;
    const struct fit_device *d = &c->machine.device;
    struct fit_plan plan = a->plan;
    uint64_t most = c->machine.is_here ? 1 : LIMIT_FIT_DEVICES;
    plan.n_seqs = c->n_seqs;
    int one = fit_devices(shape, &plan, d);
    uint64_t fewest = one && (uint64_t)one <= most ? (uint64_t)one : most + 1;
    if (fewest <= most) a->devices_needed = a->needed_split = one;
    for (plan.n_split = 1; plan.n_split <= shape->n_heads; plan.n_split++) {
        if (shape->n_heads % plan.n_split) continue;
        uint64_t n = devices_with(shape, &plan, d, c->n_seqs);
        if (n >= fewest) continue;
        fewest = n;
        a->devices_needed = (int)n;
        a->needed_split = plan.n_split;
    }
}

static void fill_limits(struct fit_answer *a, const struct fit_case *c) {
    static const uint64_t endless = (UINT64_C(1) << 53) - 1;
    const struct fit_model *shape = &c->subject->shape;
    struct fit_plan alone = a->plan;
    uint64_t most = c->subject->n_ctx > c->n_ctx ? c->subject->n_ctx : c->n_ctx;
    alone.n_seqs = 1;
    a->max_sequences =
        sum_times((uint64_t)a->n_copies, fit_max_sequences(shape, &a->plan, a->room));
    a->max_context = fit_max_context(shape, &a->plan, a->room, most);
    a->kv_tokens = fit_max_context(shape, &alone, a->room, endless);
    fill_devices(a, c);
}

static bool fits_at_worst(const struct fit_answer *a, const struct fit_case *c) {
    struct fit_device d = c->machine.device;
    d.overhead_bytes = c->machine.highest_overhead;
    d.split_bytes = c->machine.highest_split;
    return fit_fits(&c->subject->shape, &a->plan, &d);
}

// Each token reads all weights that it meets, and the KV of its sequence, once. The embedding is looked
// up, not read through.
static double tokens_per_s(const struct fit_answer *a, const struct fit_case *c) {
    const struct fit_subject *s = c->subject;
    const struct fit_machine *m = &c->machine;
    if (m->bandwidth == 0 || m->ops == 0) return 0;
    double bytes_per_weight = (double)a->weight_bytes / (double)s->shape.n_weights;
    double not_in_layers = (double)s->n_head_weights * (s->is_tied ? 1 : 2);
    double kv = (double)a->plan.n_split *
                (double)fit_kv_bytes(&s->shape, &a->plan, c->n_ctx) / (double)c->n_ctx;
    const struct cost_model model = {
        .layer_weights = (double)s->n_active - not_in_layers,
        .head_weights = (double)s->n_head_weights,
        .bytes_per_weight = bytes_per_weight,
        .bytes_per_head_weight = bytes_per_weight,
        .kv_values = kv,
        .bytes_per_kv_value = 1,
    };
    const struct cost_step step = {
        .n_rows = 1, .n_logit_rows = 1, .n_keys_read = (double)c->n_ctx - 1};
    const struct cost_machine all = {m->bandwidth * m->n_split, m->ops * m->n_split};
    return 1 / cost_of_step(&model, &step, &all).seconds;
}

void fit_answer_of(struct fit_answer *a, const struct fit_case *c) {
    const struct fit_machine *m = &c->machine;
    *a = (struct fit_answer){.plan = plan_of(c), .n_copies = m->n_devices / m->n_split};
    fill_ledger(a, c);
    fill_limits(a, c);
    a->fits = fit_fits(&c->subject->shape, &a->plan, &m->device);
    a->fits_at_worst = a->fits && fits_at_worst(a, c);
    for (int i = 0; i < FIT_PLACES; i++) {
        a->load_seconds[i] = (double)a->weight_bytes / m->load_rates[i];
    }
    if (c->subject->n_active > 0) a->tokens_per_s = tokens_per_s(a, c);
    if (!a->fits) fit_advise(a, c);
}
