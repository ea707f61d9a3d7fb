// Yours to write. Contract: level1-user/invoice.h. Explained: docs/level1/invoice.md.
// Red or green: make test EX=invoice
//
// From tokens and prices to an invoice, and from one request to many.
#include "level1-user/invoice.h"

#include <inttypes.h>

#include "common/exercise.h"

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

enum status invoice_of_request(struct invoice *bill, const struct invoice_usage *used,
                               const struct price *price, struct error *err) {
    EXERCISE("invoice");
}

enum status invoice_add(struct invoice *sum, const struct invoice *one, int64_t n_requests,
                        struct error *err) {
    EXERCISE("invoice");
}
