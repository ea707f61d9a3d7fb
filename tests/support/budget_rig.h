// Calls of budget.h, and what is judged of them: each assertion names the call with its turns and limits.
#ifndef TESTS_SUPPORT_BUDGET_RIG_H
#define TESTS_SUPPORT_BUDGET_RIG_H

#include "level1-user/budget.h"

struct budget_plan plan_of(int first_gone, int keep_from, int64_t n_summary,
                           int64_t n_tokens, int64_t n_cached, int64_t price);

// budget_measure says want.
void check_measure(const struct budget_conversation *c, const struct budget_limits *l,
                   int keep_from, int64_t n_summary, struct budget_request want);

// budget_decide is OK and makes this plan.
void check_decide(const struct budget_conversation *c, const struct budget_limits *l,
                  struct budget_plan want);

// budget_decide refuses, and names the culprit. param: NULL where the contract names none.
void check_refused(const struct budget_conversation *c, const struct budget_limits *l,
                   enum status want, const char *param);

// The same for a conversation of at most eight turns, written as "10p 15 20 13"; p: pinned.
void measures(const char *turns, int64_t n_cached, const struct budget_limits *l,
              int keep_from, int64_t n_summary, struct budget_request want);
void decides(const char *turns, int64_t n_cached, const struct budget_limits *l,
             struct budget_plan want);
void refuses(const char *turns, const struct budget_limits *l, enum status want,
             const char *param); // 60 tokens of it are in the cache

#endif
