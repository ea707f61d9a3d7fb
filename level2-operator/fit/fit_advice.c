// Each change is tried: only what then fits is said.
#include "level2-operator/fit/fit_advice.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "level2-operator/fit/fit_sums.h"
#include "level2-operator/fit/fit_type.h"
#include "level2-operator/text/byte_text.h"

static void add(struct fit_answer *a, uint64_t max_sequences, const char *option,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

static void add(struct fit_answer *a, uint64_t max_sequences, const char *option,
                const char *format, ...) {
    va_list words;
    if (a->n_advice == FIT_ADVICE_MAX) return;
    struct fit_advice *one = &a->advice[a->n_advice++];
    one->max_sequences = max_sequences;
    snprintf(one->option, sizeof(one->option), "%s", option);
    va_start(words, format);
    vsnprintf(one->words, sizeof(one->words), format, words);
    va_end(words);
}

// Whether it fits with another plan; then *n is how many sequences do, on all copies.
static bool tries(const struct fit_answer *a, const struct fit_case *c,
                  const struct fit_plan *plan, uint64_t *n) {
    const struct fit_model *shape = &c->subject->shape;
    if (!fit_fits(shape, plan, &c->machine.device)) return false;
    uint64_t room = fit_room(plan, &c->machine.device);
    *n = sum_times((uint64_t)a->n_copies, fit_max_sequences(shape, plan, room));
    return true;
}

static void advise_devices(struct fit_answer *a, const struct fit_case *c) {
    char option[64];
    struct fit_plan plan = a->plan;
    int n = a->devices_needed, split = a->needed_split;
    if (n == 0) return;
    plan.n_split = split;
    uint64_t room = fit_room(&plan, &c->machine.device);
    uint64_t fit = fit_max_sequences(&c->subject->shape, &plan, room);
    fit = sum_times((uint64_t)(n / split), fit);
    if (n == split && !c->machine.is_split_said)
        snprintf(option, sizeof(option), "--count %d", n);
    else
        snprintf(option, sizeof(option), "--count %d --tp %d", n, split);
    if (n == 1)
        add(a, fit, option, "one device alone");
    else if (split == 1)
        add(a, fit, option, "%d copies, each on a device of its own", n);
    else if (n == split)
        add(a, fit, option, "%d devices, the model split over them", n);
    else
        add(a, fit, option, "%d copies, each split over %d devices", n / split, split);
}

// The smallest machine with the same share for the engine.
static void advise_memory(struct fit_answer *a, const struct fit_case *c) {
    char option[64], words[BYTE_TEXT_BYTES];
    const struct fit_device *d = &c->machine.device;
    uint64_t needed = fit_device_bytes(&c->subject->shape, &a->plan, d);
    if (needed > (UINT64_C(1) << 52)) return;
    uint64_t memory = sum_parts(needed * 1000, (uint64_t)d->share);
    snprintf(option, sizeof(option), "--memory %" PRIu64, memory);
    add(a, a->plan.n_seqs, option, "a machine with %s", byte_text(words, memory));
}

// What the option of this value means: advice is tried as it is said.
static struct fit_type type_of(const char *value) {
    struct fit_type type = {0};
    bool is_known = fit_type_find(&type, value);
    MUST(is_known);
    return type;
}

static void advise_weights(struct fit_answer *a, const struct fit_case *c,
                           const char *value, const char *words) {
    char option[64];
    struct fit_plan plan = a->plan;
    uint64_t n;
    plan.weight_bytes = fit_bytes(type_of(value), c->subject->shape.n_weights);
    snprintf(option, sizeof(option), "--weights %s", value);
    if (plan.weight_bytes < a->weight_bytes && tries(a, c, &plan, &n))
        add(a, n, option, "%s", words);
}

static bool can_halve_kv(const struct fit_case *c) {
    return fit_type_bits(c->kv_type) > 8;
}

static void advise_kv(struct fit_answer *a, const struct fit_case *c) {
    struct fit_plan plan = a->plan;
    uint64_t n;
    plan.kv = type_of("int8");
    if (can_halve_kv(c) && tries(a, c, &plan, &n)) add(a, n, "--kv int8", "KV in 8 bits");
}

static void advise_traffic(struct fit_answer *a, const struct fit_case *c) {
    char option[64];
    if (a->max_context > 0 && a->max_context < c->n_ctx) {
        snprintf(option, sizeof(option), "--context %" PRIu64, a->max_context);
        add(a, c->n_seqs, option, "a context of %" PRIu64 " tokens", a->max_context);
    }
    if (a->max_sequences > 0 && a->max_sequences < c->n_seqs) {
        snprintf(option, sizeof(option), "--sequences %" PRIu64, a->max_sequences);
        add(a, a->max_sequences, option, "%" PRIu64 " sequences at a time",
            a->max_sequences);
    }
}

static void advise_both(struct fit_answer *a, const struct fit_case *c) {
    struct fit_plan plan = a->plan;
    uint64_t n;
    plan.weight_bytes = fit_bytes(type_of("int4"), c->subject->shape.n_weights);
    plan.kv = type_of("int8");
    if (can_halve_kv(c) && tries(a, c, &plan, &n))
        add(a, n, "--weights int4 --kv int8", "weights in 4 bits and KV in 8");
}

void fit_advise(struct fit_answer *a, const struct fit_case *c) {
    if (c->machine.is_here) {
        advise_memory(a, c);
    } else {
        advise_devices(a, c);
    }
    int n_bought = a->n_advice;
    if (c->machine.is_here) {
        advise_weights(a, c, "q8_0", "a file with weights in 8 bits");
        advise_weights(a, c, "q4_0", "a file with weights in 4 bits");
    } else {
        advise_weights(a, c, "int8", "weights in 8 bits");
        advise_weights(a, c, "int4", "weights in 4 bits (scales add 0.16 to 0.5)");
        advise_kv(a, c);
    }
    advise_traffic(a, c);
    if (a->n_advice == n_bought && !c->machine.is_here) advise_both(a, c);
}
