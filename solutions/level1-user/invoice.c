// From tokens and prices to an invoice, and from one request to many.
#include "level1-user/invoice.h"

#include <inttypes.h>

static enum status check_count(int64_t n_tokens, const char *field, struct error *err) {
    if (n_tokens >= 0) return OK;
    return error_set_param(err, ERR_INPUT, field, "%s is %" PRId64 ", must be 0 or more",
                           field, n_tokens);
}

enum status invoice_usage_check(const struct invoice_usage *used, struct error *err) {
    enum status st = check_count(used->input, "input", err);
    if (st == OK) st = check_count(used->cached, "cached", err);
    if (st == OK) st = check_count(used->cache_write, "cache_write", err);
    if (st == OK) st = check_count(used->output, "output", err);
    if (st != OK) return st;

    if (used->cached > used->input)
        return error_set_param(err, ERR_INPUT, "cached",
                               "cached is %" PRId64 ", but it is a part of input, %" PRId64,
                               used->cached, used->input);
    if (used->cache_write > used->input - used->cached)
        return error_set_param(err, ERR_INPUT, "cache_write",
                               "cache_write is %" PRId64 ", but input that is not cached "
                               "is only %" PRId64,
                               used->cache_write, used->input - used->cached);
    return OK;
}

// [exercise invoice drop]
// n times each: on its own line and in the total.
static enum status charge(struct invoice *bill, int64_t *line, int64_t n, int64_t each,
                          const char *field, struct error *err) {
    enum status st = money_add(line, n, each, field, err);
    if (st == OK) st = money_add(&bill->total, n, each, "total", err);
    return st;
}
// [end]

enum status invoice_of_request(struct invoice *bill, const struct invoice_usage *used,
                               const struct price *price, struct error *err) {
    // [exercise invoice]
    enum status st = invoice_usage_check(used, err);
    if (st != OK) return st;

    int64_t rest = used->input - used->cached - used->cache_write;
    *bill = (struct invoice){0};
    st = charge(bill, &bill->input, rest, price->input, "input", err);
    if (st == OK)
        st = charge(bill, &bill->cached, used->cached, price->cached_input, "cached", err);
    if (st == OK)
        st = charge(bill, &bill->cache_write, used->cache_write, price->cache_write,
                    "cache_write", err);
    if (st == OK)
        st = charge(bill, &bill->output, used->output, price->output, "output", err);
    return st;
    // [end]
}

enum status invoice_add(struct invoice *sum, const struct invoice *one, int64_t n_requests,
                        struct error *err) {
    // [exercise invoice]
    enum status st = check_count(n_requests, "requests", err);
    if (st == OK) st = charge(sum, &sum->input, n_requests, one->input, "input", err);
    if (st == OK) st = charge(sum, &sum->cached, n_requests, one->cached, "cached", err);
    if (st == OK)
        st = charge(sum, &sum->cache_write, n_requests, one->cache_write, "cache_write",
                    err);
    if (st == OK) st = charge(sum, &sum->output, n_requests, one->output, "output", err);
    return st;
    // [end]
}
