// The answer as one document. Bytes are whole numbers; what exceeds them is refused before.
#include "level2-operator/fit/fit_report.h"

#include <string.h>

#include "level2-operator/text/json_output.h"

static json_t *number(uint64_t n) {
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static json_t *suggestion(const struct fit_advice *one) {
    return json_pack("{s:s, s:s, s:o}", "option", one->option, "text", one->words,
                     "max_sequences", number(one->max_sequences));
}

// NULL: no memory; a list that lacks one would be a lie.
static json_t *suggestions(const struct fit_answer *a) {
    json_t *list = json_array();
    for (int i = 0; list && i < a->n_advice; i++) {
        if (json_array_append_new(list, suggestion(&a->advice[i])) == 0) continue;
        json_decref(list);
        list = NULL;
    }
    return list;
}

static json_t *load_seconds(const struct fit_answer *a) {
    return json_pack("{s:f, s:f, s:f}", "page_cache", a->load_seconds[FIT_PAGE_CACHE],
                     "disk", a->load_seconds[FIT_DISK], "network",
                     a->load_seconds[FIT_NETWORK]);
}

// What was asked, with what fit took where nothing was said.
static json_t *asked(const struct fit_case *c, const struct fit_answer *a) {
    const struct fit_machine *m = &c->machine;
    return json_pack(
        "{s:o, s:s, s:i, s:i, s:i, s:s, s:s, s:o, s:b, s:o, s:b, s:o, s:f}", "model",
        json_output_text(c->subject->name, strlen(c->subject->name)), "device", m->name,
        "devices", m->n_devices, "split", m->n_split, "copies", a->n_copies, "weights",
        c->weights ? c->weights : "as stored", "kv", c->kv, "context", number(c->n_ctx),
        "context_assumed", c->is_ctx_assumed, "sequences", number(c->n_seqs),
        "sequences_assumed", c->is_seqs_assumed, "memory_bytes",
        number(m->device.memory_bytes), "utilization", m->device.share / 1000.0);
}

json_t *fit_json(const struct fit_case *c, const struct fit_answer *a) {
    return json_pack(
        "{s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:o}",
        "fits", a->fits, "weight_bytes", number(a->weight_bytes), "kv_bytes_per_token",
        number(a->kv_bytes_per_token), "kv_bytes", number(a->kv_bytes), "overhead_bytes",
        number(a->overhead_bytes), "usable_bytes", number(a->usable_bytes), "max_sequences",
        number(a->max_sequences), "max_context", number(a->max_context), "devices_needed",
        a->devices_needed ? json_integer(a->devices_needed) : json_null(), "load_seconds",
        load_seconds(a), "suggestions", suggestions(a), "kv_tokens", number(a->kv_tokens),
        "tokens_per_s", a->tokens_per_s > 0 ? json_real(a->tokens_per_s) : json_null(),
        "fits_at_worst", a->fits_at_worst, "asked", asked(c, a));
}
