// Yours to write. Contract: level1-user/budget.h. Explained: docs/level1/budget.md.
// Red or green: make test EX=budget
//
// A conversation that outgrows its budget: what it costs, and what goes.
#include "level1-user/budget.h"

#include <inttypes.h>
#include <stddef.h>

#include "common/exercise.h"
#include "level1-user/money.h"

static enum status refuse(const char *field, int64_t value, struct error *err) {
    return error_set_param(err, ERR_INPUT, field, "%s is %" PRId64 ", which cannot be",
                           field, value);
}

static enum status check_turns(const struct budget_conversation *c, int64_t n_summary,
                               struct error *err) {
    int64_t n_left = INT64_MAX - n_summary;
    if (c->n_turns < 1) return refuse("turns", c->n_turns, err);
    for (int t = 0; t < c->n_turns; t++) {
        int64_t n = c->turns[t].n_tokens;
        if (n < 0) return refuse("turns", n, err);
        if (n > n_left)
            return error_set_param(err, ERR_LIMIT, "turns", "too many tokens to count");
        n_left -= n;
    }
    return OK;
}

static enum status check_price(int64_t n_tokens, int64_t price, const char *kind,
                               struct error *err) {
    if (n_tokens == 0 || price >= 0) return OK;
    return error_set_param(err, ERR_UNSUPPORTED, kind, "no price is known for %s", kind);
}

enum status budget_check(const struct budget_conversation *c, const struct budget_limits *l,
                         struct error *err) {
    if (c->n_cached < 0) return refuse("n_cached", c->n_cached, err);
    if (l->n_context < 0) return refuse("n_context", l->n_context, err);
    if (l->n_answer < 0 || l->n_answer > l->n_context)
        return refuse("n_answer", l->n_answer, err);
    if (l->max_price < 0) return refuse("max_price", l->max_price, err);
    if (l->low_percent < 1 || l->low_percent > 100)
        return refuse("low_percent", l->low_percent, err);
    if (l->n_summary < 0) return refuse("n_summary", l->n_summary, err);

    enum status st = check_turns(c, l->n_summary, err);
    if (st == OK) st = check_price(1, l->price.input, "input", err);
    if (st == OK) st = check_price(c->n_cached, l->price.cached_input, "cached", err);
    if (st == OK) st = check_price(l->n_answer, l->price.output, "output", err);
    return st;
}

int64_t budget_price(const struct budget_limits *l, int64_t n_cached, int64_t n_rest) {
    int64_t sum = 0;
    enum status st = money_add(&sum, n_cached, l->price.cached_input, "cached", NULL);
    if (st == OK) st = money_add(&sum, n_rest, l->price.input, "input", NULL);
    if (st == OK) st = money_add(&sum, l->n_answer, l->price.output, "output", NULL);
    return st == OK ? sum : INT64_MAX;
}

void budget_measure(struct budget_request *r, const struct budget_conversation *c,
                    const struct budget_limits *l, int keep_from, int64_t n_summary) {
    EXERCISE("budget.measure");
}

enum status budget_decide(struct budget_plan *plan, const struct budget_conversation *c,
                          const struct budget_limits *l, struct error *err) {
    EXERCISE("budget.decide");
}
