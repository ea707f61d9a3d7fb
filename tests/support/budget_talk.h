// A caller that keeps a conversation inside a budget: it asks, follows the plan, sends, and the provider
// keeps what it was sent. Each request is held against the limits.
#ifndef TESTS_SUPPORT_BUDGET_TALK_H
#define TESTS_SUPPORT_BUDGET_TALK_H

#include "level1-user/budget.h"

enum { TALK_TURNS = 256 };

struct budget_talk {
    struct budget_turn turns[TALK_TURNS];
    int n_turns;
    int64_t n_cached;
    // what came of it
    int n_requests, n_cuts;
    int64_t input, cached; // of all requests
};

// One more question; n_summary: how long a summary would come out, if one is to be made.
void talk_ask(struct budget_talk *x, const struct budget_limits *l, int64_t n_question,
              int64_t n_summary);
void talk_answer(struct budget_talk *x, int64_t n_answer);

#endif
