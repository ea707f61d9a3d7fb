// A conversation that outgrows its budget: what it costs, and what goes.
#include "level1-user/budget.h"

#include <inttypes.h>
#include <stddef.h>

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
    // [exercise budget.measure]
    bool is_cut = false;
    int64_t n_front = 0; // in front of the first turn that goes
    r->n_tokens = 0;
    for (int t = 0; t < c->n_turns; t++) {
        int64_t n = c->turns[t].n_tokens;
        if (t < keep_from && !c->turns[t].is_pinned) {
            is_cut = true;
            continue;
        }
        r->n_tokens += n;
        if (!is_cut) n_front += n;
    }
    if (is_cut) r->n_tokens += n_summary;
    r->n_cached = c->n_cached < n_front ? c->n_cached : n_front;
    r->price = budget_price(l, r->n_cached, r->n_tokens - r->n_cached);
    // [end]
}

// [exercise budget.decide drop]
struct marks {
    int64_t n_tokens, price;
};

// Multiplied after the division: n itself may be as large as a number can be.
static int64_t percent_of(int64_t n, int percent) {
    return n / 100 * percent + n % 100 * percent / 100;
}

// What is left of a limit besides the answer, and percent of that. An answer that is too dear
// alone leaves nothing.
static struct marks marks_at(const struct budget_limits *l, int percent) {
    int64_t answer = budget_price(l, 0, 0), room = l->max_price - answer;
    return (struct marks){
        .n_tokens = percent_of(l->n_context - l->n_answer, percent),
        .price = room < 0 ? l->max_price : answer + percent_of(room, percent),
    };
}

static bool is_within(const struct budget_request *r, struct marks m) {
    return r->n_tokens <= m.n_tokens && r->price <= m.price;
}

// The smallest cut that leads down to the marks. Without one, *plan holds the deepest.
static bool find_cut(struct budget_plan *plan, const struct budget_conversation *c,
                     const struct budget_limits *l, struct marks m, int64_t n_summary) {
    int first = 0;
    while (first < c->n_turns && c->turns[first].is_pinned) first++;

    for (int keep_from = first + 1; keep_from < c->n_turns; keep_from++) {
        *plan = (struct budget_plan){first, keep_from, n_summary, {0}};
        budget_measure(&plan->request, c, l, keep_from, n_summary);
        if (is_within(&plan->request, m)) return true;
    }
    return false;
}

// [end]
enum status budget_decide(struct budget_plan *plan, const struct budget_conversation *c,
                          const struct budget_limits *l, struct error *err) {
    // [exercise budget.decide]
    enum status st = budget_check(c, l, err);
    if (st != OK) return st;

    struct marks limits = marks_at(l, 100), low = marks_at(l, l->low_percent);
    *plan = (struct budget_plan){0};
    budget_measure(&plan->request, c, l, 0, 0);
    if (is_within(&plan->request, limits)) return OK;
    if (find_cut(plan, c, l, low, l->n_summary)) return OK;
    if (find_cut(plan, c, l, limits, l->n_summary)) return OK;
    if (find_cut(plan, c, l, limits, 0)) return OK;

    if (plan->request.n_tokens > limits.n_tokens)
        return error_set_param(err, ERR_CONTEXT, "n_context",
                               "what has to stay is %" PRId64
                               " tokens, room is for %" PRId64,
                               plan->request.n_tokens, limits.n_tokens);
    return error_set_param(err, ERR_LIMIT, "max_price",
                           "what has to stay costs %" PRId64
                           " x 10^-12 dollars, above %" PRId64,
                           plan->request.price, l->max_price);
    // [end]
}
