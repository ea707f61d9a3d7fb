// Published boards, and this one.
#include "level2-operator/fit/fit_machine.h"

#include <stdio.h>

#include "common/os.h"
#include "level2-operator/fit/fit_constants.h"

static enum status lacks(const char *list, const char *name, struct error *err) {
    return error_set(err, ERR_FORMAT, "the list of %s has no \"%s\"", list, name);
}

static uint64_t middle(const struct fit_overhead *o) {
    return (uint64_t)(o->low_bytes + (o->high_bytes - o->low_bytes) / 2);
}

enum status fit_machine_of_entry(struct fit_machine *m, const struct device_entry *e,
                                 const struct data_table *overheads, struct error *err) {
    static const char *const names[] = {"context", "activations", "graphs"};
    *m = (struct fit_machine){
        .name = e->name,
        .n_devices = 1,
        .n_split = 1,
        .device = {.memory_bytes = (uint64_t)e->usable_bytes, .share = FIT_DEFAULT_SHARE},
        .bandwidth = (double)e->bandwidth,
        .ops = (double)e->flops_16,
    };
    double gb[3];
    for (int i = 0; i < 3; i++) {
        const struct fit_overhead *o = fit_overhead_find(overheads, names[i]);
        if (!o) return lacks("overheads", names[i], err);
        gb[i] = (double)middle(o) / 1e9;
        m->device.overhead_bytes += middle(o);
        m->highest_overhead += (uint64_t)o->high_bytes;
    }
    const struct fit_overhead *one = fit_overhead_find(overheads, "context");
    const struct fit_overhead *split = fit_overhead_find(overheads, "context-split");
    if (!split) return lacks("overheads", "context-split", err);
    if (middle(split) > middle(one)) m->device.split_bytes = middle(split) - middle(one);
    if (split->high_bytes > one->high_bytes)
        m->highest_split = (uint64_t)(split->high_bytes - one->high_bytes);
    snprintf(m->source, sizeof(m->source), "%s (%s)", e->source,
             *e->tag_usable ? e->tag_usable : "label, in decimal GB");
    snprintf(m->overhead_words, sizeof(m->overhead_words),
             "context %.1f, activations %.1f, graphs %.1f GB (middles of logs, S2)", gb[0],
             gb[1], gb[2]);
    snprintf(m->split_words, sizeof(m->split_words),
             "each: context %.1f, activations %.1f, graphs %.1f, buffers %.1f GB (S2)",
             gb[0], gb[1], gb[2], (double)m->device.split_bytes / 1e9);
    return OK;
}

void fit_machine_here(struct fit_machine *m, const struct fit_subject *s,
                      uint64_t serve_bytes) {
    *m = (struct fit_machine){
        .name = "here",
        .is_here = true,
        .n_devices = 1,
        .n_split = 1,
        .device = {.memory_bytes = os_memory_bytes(),
                   .share = FIT_DEFAULT_SHARE,
                   .overhead_bytes = serve_bytes + s->tables_bytes},
    };
    m->highest_overhead = m->device.overhead_bytes;
    snprintf(m->source, sizeof(m->source), "RAM, or the control group's limit");
    snprintf(m->overhead_words, sizeof(m->overhead_words),
             "serve's activations and queues%s",
             s->tables_bytes ? ", tables of the file" : "");
}

enum status fit_machine_rates(struct fit_machine *m, const struct data_table *rates,
                              struct error *err) {
    static const char *const names[FIT_PLACES] = {"page-cache", "disk", "network"};
    for (int i = 0; i < FIT_PLACES; i++) {
        const struct fit_rate *r = fit_rate_find(rates, names[i]);
        if (!r) return lacks("rates", names[i], err);
        m->load_rates[i] = (double)r->bytes_per_s;
    }
    return OK;
}
