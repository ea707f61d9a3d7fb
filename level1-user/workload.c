// Requests, counted.
#include "level1-user/workload.h"

#include "level1-user/digits.h"

int64_t workload_times(const struct workload *w) {
    return w->is_sum ? 1 : w->n_requests;
}

enum status workload_bill(struct invoice *bill, const struct workload *w,
                          const struct price *price, struct error *err) {
    struct invoice one;
    *bill = (struct invoice){0};
    enum status st = invoice_of_request(&one, &w->used, price, err);
    if (st == OK) st = invoice_add(bill, &one, workload_times(w), err);
    return st;
}

static bool add_count(int64_t *sum, int64_t n) {
    if (n > INT64_MAX - *sum) return false;
    *sum += n;
    return true;
}

enum status workload_add(struct workload *w, const struct invoice_usage *used,
                         struct error *err) {
    struct workload next = *w;
    bool fits = add_count(&next.used.input, used->input) &&
                add_count(&next.used.cached, used->cached) &&
                add_count(&next.used.cache_write, used->cache_write) &&
                add_count(&next.used.output, used->output) &&
                add_count(&next.n_requests, 1);
    if (!fits)
        return error_set(err, ERR_LIMIT, "the tokens of all requests are above 2^63 - 1");
    *w = next;
    return OK;
}

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

json_t *workload_tokens_json(const struct workload *w) {
    return json_pack("{s:I, s:I, s:I, s:I}", "input", (json_int_t)w->used.input, "cached",
                     (json_int_t)w->used.cached, "cache_write",
                     (json_int_t)w->used.cache_write, "output", (json_int_t)w->used.output);
}
