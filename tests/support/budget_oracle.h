// Conversations and limits that are drawn, and what must come of them, worked out in the plainest way.
#ifndef TESTS_SUPPORT_BUDGET_ORACLE_H
#define TESTS_SUPPORT_BUDGET_ORACLE_H

#include "level1-user/budget.h"
#include "tests/support/suite.h"

enum { DRAWN_BUDGET_TURNS = 17 };

// A conversation of n_turns, and limits that are often just right for it.
struct drawn_budget {
    struct budget_turn turns[DRAWN_BUDGET_TURNS];
    struct budget_conversation c;
    struct budget_limits l;
};
void drawn_budget(struct drawn_budget *x, struct draw *d, int n_turns);

// Writes both prompts down, token by token as the number of its turn, and compares them.
struct budget_request measured_slowly(const struct budget_conversation *c,
                                      const struct budget_limits *l, int keep_from,
                                      int64_t n_summary);

// Tries every kind of plan, in the header's order, with every cut.
enum status decided_slowly(struct budget_plan *plan, const struct budget_conversation *c,
                           const struct budget_limits *l);

#endif
