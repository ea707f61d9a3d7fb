// What the suite of the budget shares. The turns and limits of a call stand in what a failing test says.
#include "tests/support/budget_rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/suite.h"

enum { CALL_BYTES = 420 };

// "10p 15 20 ... 13": the turns, p for pinned ones.
static void name_turns(char *text, size_t n_text, const struct budget_conversation *c) {
    size_t n = 0;
    *text = '\0';
    for (int t = 0; t < c->n_turns && n + 40 < n_text; t++) {
        bool is_last_place = n + 80 >= n_text && t + 1 < c->n_turns;
        if (is_last_place) t = c->n_turns - 1;
        n += (size_t)snprintf(text + n, n_text - n, "%s%s%" PRId64 "%s", t > 0 ? " " : "",
                              is_last_place ? "... " : "", c->turns[t].n_tokens,
                              c->turns[t].is_pinned ? "p" : "");
    }
}

static void name_limits(char *text, size_t n_text, const struct budget_limits *l) {
    snprintf(text, n_text,
             "context %" PRId64 ", answer %" PRId64 ", max_price %" PRId64
             ", prices %" PRId64 " %" PRId64 " %" PRId64 ", low %d %%, summary %" PRId64,
             l->n_context, l->n_answer, l->max_price, l->price.input, l->price.cached_input,
             l->price.output, l->low_percent, l->n_summary);
}

static void assert_part(const char *call, const char *part, int64_t got, int64_t want) {
    char what[CALL_BYTES + 40];
    snprintf(what, sizeof(what), "%s: %s", call, part);
    assert_number(what, got, want);
}

static void assert_request(const char *call, const struct budget_request *got,
                           const struct budget_request *want) {
    assert_part(call, "n_tokens", got->n_tokens, want->n_tokens);
    assert_part(call, "n_cached", got->n_cached, want->n_cached);
    assert_part(call, "price", got->price, want->price);
}

void check_measure(const struct budget_conversation *c, const struct budget_limits *l,
                   int keep_from, int64_t n_summary, struct budget_request want) {
    struct budget_request got = {-7, -7, -7};
    char turns[160], limits[200], call[CALL_BYTES];
    name_turns(turns, sizeof(turns), c);
    name_limits(limits, sizeof(limits), l);
    snprintf(call, sizeof(call),
             "budget_measure(turns %s, cached %" PRId64
             "; %s; keep_from %d, summary %" PRId64 ")",
             turns, c->n_cached, limits, keep_from, n_summary);
    budget_measure(&got, c, l, keep_from, n_summary);
    assert_request(call, &got, &want);
}

static void name_decide(char call[CALL_BYTES], const struct budget_conversation *c,
                        const struct budget_limits *l) {
    char turns[160], limits[200];
    name_turns(turns, sizeof(turns), c);
    name_limits(limits, sizeof(limits), l);
    snprintf(call, CALL_BYTES, "budget_decide(turns %s, cached %" PRId64 "; %s)", turns,
             c->n_cached, limits);
}

static void assert_returned(const char *call, enum status got, enum status want) {
    char what[CALL_BYTES + 16];
    snprintf(what, sizeof(what), "%s: status", call);
    assert_status(what, got, want);
}

static void assert_plan(const char *call, const struct budget_plan *got,
                        const struct budget_plan *want) {
    assert_part(call, "first_gone", got->first_gone, want->first_gone);
    assert_part(call, "keep_from", got->keep_from, want->keep_from);
    assert_part(call, "n_summary", got->n_summary, want->n_summary);
    assert_request(call, &got->request, &want->request);
}

struct budget_plan plan_of(int first_gone, int keep_from, int64_t n_summary,
                           int64_t n_tokens, int64_t n_cached, int64_t price) {
    const struct budget_request r = {n_tokens, n_cached, price};
    return (struct budget_plan){first_gone, keep_from, n_summary, r};
}

void check_decide(const struct budget_conversation *c, const struct budget_limits *l,
                  struct budget_plan want) {
    struct budget_plan got = plan_of(-7, -7, -7, -7, -7, -7);
    char call[CALL_BYTES];
    name_decide(call, c, l);
    assert_returned(call, budget_decide(&got, c, l, NULL), OK);
    assert_plan(call, &got, &want);
}

void check_refused(const struct budget_conversation *c, const struct budget_limits *l,
                   enum status want, const char *param) {
    struct budget_plan plan = {0};
    struct error err = {0};
    char call[CALL_BYTES], what[CALL_BYTES + 16];
    name_decide(call, c, l);
    assert_returned(call, budget_decide(&plan, c, l, &err), want);
    snprintf(what, sizeof(what), "%s: err.param", call);
    if (param) assert_text(what, err.param, param);
}

// ---- conversations written down -----------------------------------------------------------------

struct written {
    struct budget_turn turns[8];
    struct budget_conversation c;
};

static const struct budget_conversation *write_down(struct written *x, const char *turns,
                                                    int64_t n_cached) {
    x->c = (struct budget_conversation){x->turns, 0, n_cached};
    for (char *end; *turns; turns = end + (*end == ' ')) {
        struct budget_turn *turn = &x->turns[x->c.n_turns++];
        turn->n_tokens = strtoll(turns, &end, 10);
        turn->is_pinned = *end == 'p';
        if (turn->is_pinned) end++;
    }
    return &x->c;
}

void measures(const char *turns, int64_t n_cached, const struct budget_limits *l,
              int keep_from, int64_t n_summary, struct budget_request want) {
    struct written x;
    check_measure(write_down(&x, turns, n_cached), l, keep_from, n_summary, want);
}

void decides(const char *turns, int64_t n_cached, const struct budget_limits *l,
             struct budget_plan want) {
    struct written x;
    check_decide(write_down(&x, turns, n_cached), l, want);
}

void refuses(const char *turns, const struct budget_limits *l, enum status want,
             const char *param) {
    struct written x;
    check_refused(write_down(&x, turns, 60), l, want, param);
}
