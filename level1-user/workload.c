// Requests, counted.
#include "level1-user/workload.h"

#include <inttypes.h>

#include "level1-user/digits.h"

int64_t workload_times(const struct workload *w) {
    return w->is_sum ? 1 : w->n_requests;
}

struct workload workload_recorded(const struct price_list *list) {
    struct workload w = {.is_sum = true, .n_steps = list->n_steps};
    for (int i = 0; i < list->n_steps; i++) w.above[i].step = list->steps[i];
    return w;
}

static struct invoice_usage uncached(const struct invoice_usage *used) {
    return (struct invoice_usage){.input = used->input, .output = used->output};
}

struct workload workload_uncached(const struct workload *w) {
    struct workload all = *w;
    all.used = uncached(&w->used);
    for (int i = 0; i < w->n_steps; i++) all.above[i].used = uncached(&w->above[i].used);
    return all;
}

// ---- at which price -----------------------------------------------------------------------------

// The requests above the entry's step. NULL: a sum in which nobody counted them.
static const struct workload_part *part_above(const struct workload *w,
                                              const struct price_entry *entry) {
    for (int i = 0; i < w->n_steps; i++)
        if (w->above[i].step == entry->step.tokens) return &w->above[i];
    return NULL;
}

int64_t workload_n_above(const struct workload *w, const struct price_entry *entry) {
    const struct workload_part *above = part_above(w, entry);
    if (!price_entry_is_above(entry, w->used.input)) return 0;
    if (w->is_sum) return above ? above->n_requests : 0;
    return w->n_requests;
}

static struct invoice_usage without(const struct invoice_usage *all,
                                    const struct invoice_usage *part) {
    return (struct invoice_usage){all->input - part->input, all->cached - part->cached,
                                  all->cache_write - part->cache_write,
                                  all->output - part->output};
}

// A sum that is above the step may hold requests that are not.
static enum status bill_parts(struct invoice *bill, const struct workload *w,
                              const struct price_entry *entry, struct error *err) {
    const struct workload_part *part = part_above(w, entry);
    struct invoice below, above;
    if (!part)
        return error_set_param(err, ERR_INPUT, "step",
                               "requests above %" PRId64 " tokens were not counted apart",
                               entry->step.tokens);
    const struct invoice_usage rest = without(&w->used, &part->used);
    enum status st = invoice_of_request(&below, &rest, &entry->price, err);
    if (st == OK) st = invoice_of_request(&above, &part->used, &entry->step.price, err);
    *bill = (struct invoice){0};
    if (st == OK) st = invoice_add(bill, &below, 1, err);
    if (st == OK) st = invoice_add(bill, &above, 1, err);
    return st;
}

enum status workload_bill_once(struct invoice *bill, const struct workload *w,
                               const struct price_entry *entry, struct error *err) {
    const int64_t n_input = w->used.input;
    if (w->is_sum && price_entry_is_above(entry, n_input))
        return bill_parts(bill, w, entry, err);
    return invoice_of_request(bill, &w->used, price_entry_price(entry, n_input), err);
}

enum status workload_bill(struct invoice *bill, const struct workload *w,
                          const struct price_entry *entry, struct error *err) {
    struct invoice one;
    *bill = (struct invoice){0};
    enum status st = workload_bill_once(&one, w, entry, err);
    if (st == OK) st = invoice_add(bill, &one, workload_times(w), err);
    return st;
}

// ---- adding up ----------------------------------------------------------------------------------

static bool add_count(int64_t *sum, int64_t n) {
    if (n > INT64_MAX - *sum) return false;
    *sum += n;
    return true;
}

static bool add_usage(struct invoice_usage *sum, int64_t *n_requests,
                      const struct invoice_usage *used) {
    return add_count(&sum->input, used->input) && add_count(&sum->cached, used->cached) &&
           add_count(&sum->cache_write, used->cache_write) &&
           add_count(&sum->output, used->output) && add_count(n_requests, 1);
}

enum status workload_add(struct workload *w, const struct invoice_usage *used,
                         struct error *err) {
    struct workload next = *w;
    bool fits = add_usage(&next.used, &next.n_requests, used);
    for (int i = 0; i < w->n_steps; i++) {
        struct workload_part *part = &next.above[i];
        if (used->input > part->step)
            fits = fits && add_usage(&part->used, &part->n_requests, used);
    }
    if (!fits)
        return error_set(err, ERR_LIMIT, "the tokens of all requests are above 2^63 - 1");
    *w = next;
    return OK;
}

// ---- for people and for programs ----------------------------------------------------------------

void workload_print(FILE *out, const struct workload *w) {
    char text[DIGITS_BYTES];
    fprintf(out, "%s %srequest%s", digits_grouped(text, w->n_requests),
            w->is_sum ? "recorded " : "", w->n_requests == 1 ? "" : "s");
    fprintf(out, "; tokens of %s: %s input", w->is_sum ? "all" : "each",
            digits_grouped(text, w->used.input));
    if (w->used.cached)
        fprintf(out, ", %s of them cached", digits_grouped(text, w->used.cached));
    if (w->used.cache_write)
        fprintf(out, ", %s of them written to the cache",
                digits_grouped(text, w->used.cache_write));
    fprintf(out, ", %s output\n", digits_grouped(text, w->used.output));
}

void workload_print_step(FILE *out, const char *indent, int64_t n_above, int64_t n_requests,
                         const struct price_entry *entry) {
    char above[DIGITS_BYTES], all[DIGITS_BYTES], step[DIGITS_BYTES];
    if (n_above == 0) return;
    fprintf(out, "%s%s of %s requests above %s input tokens: wholly at that step's price\n",
            indent, digits_grouped(above, n_above), digits_grouped(all, n_requests),
            digits_grouped(step, entry->step.tokens));
}

json_t *workload_step_json(int64_t n_above, const struct price_entry *entry) {
    if (n_above == 0) return json_null();
    return json_pack("{s:I, s:I}", "above_tokens", (json_int_t)entry->step.tokens,
                     "requests", (json_int_t)n_above);
}

json_t *workload_tokens_json(const struct workload *w) {
    return json_pack("{s:I, s:I, s:I, s:I}", "input", (json_int_t)w->used.input, "cached",
                     (json_int_t)w->used.cached, "cache_write",
                     (json_int_t)w->used.cache_write, "output", (json_int_t)w->used.output);
}
