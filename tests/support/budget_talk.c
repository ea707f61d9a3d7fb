// A long conversation, from the caller's side of budget.h.
#include "tests/support/budget_talk.h"

#include <stdio.h>

#include "tests/support/suite.h"

static void follow(struct budget_talk *x, const struct budget_plan *plan,
                   int64_t n_summary) {
    int n = 0;
    if (n_summary > plan->n_summary) n_summary = plan->n_summary;
    for (int t = 0; t < x->n_turns; t++) {
        bool goes = t < plan->keep_from && !x->turns[t].is_pinned;
        if (t == plan->first_gone && plan->n_summary > 0)
            x->turns[n++] = (struct budget_turn){n_summary, false};
        else if (!goes)
            x->turns[n++] = x->turns[t];
    }
    x->n_turns = n;
    x->n_cuts++;
}

static void assert_no(const struct budget_talk *x, const char *trouble, bool is_there) {
    char what[160];
    snprintf(what, sizeof(what), "budget_decide, request %d of a long conversation: %s",
             x->n_requests, trouble);
    assert_number(what, is_there, 0);
}

void talk_ask(struct budget_talk *x, const struct budget_limits *l, int64_t n_question,
              int64_t n_summary) {
    struct budget_plan plan;
    x->n_requests++;
    x->turns[x->n_turns++] = (struct budget_turn){n_question, false};
    const struct budget_conversation c = {x->turns, x->n_turns, x->n_cached};
    assert_status("budget_decide, of a long conversation: status",
                  budget_decide(&plan, &c, l, NULL), OK);
    if (plan.keep_from > 0) follow(x, &plan, n_summary);

    int64_t n_sent = 0;
    for (int t = 0; t < x->n_turns; t++) n_sent += x->turns[t].n_tokens;
    int64_t price = plan.request.n_cached * l->price.cached_input +
                    (n_sent - plan.request.n_cached) * l->price.input +
                    l->n_answer * l->price.output;
    assert_no(x, "tokens above the room", n_sent > l->n_context - l->n_answer);
    assert_no(x, "cached above what the provider keeps",
              plan.request.n_cached > x->n_cached);
    assert_no(x, "price above the limit", price > l->max_price);
    x->input += n_sent;
    x->cached += plan.request.n_cached;
    x->n_cached = n_sent;
}

void talk_answer(struct budget_talk *x, int64_t n_answer) {
    x->turns[x->n_turns - 1].n_tokens += n_answer;
}
