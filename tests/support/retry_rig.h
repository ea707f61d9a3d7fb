// Calls of retry.h, and what is judged of them: each assertion names the call with all that went in.
#ifndef TESTS_SUPPORT_RETRY_RIG_H
#define TESTS_SUPPORT_RETRY_RIG_H

#include "level1-user/retry.h"

static const int64_t S = 1000000000;      // a second, in ns
static const int64_t WALL_S = 1696004797; // Fri, 29 Sep 2023 16:26:37 GMT

struct retry_failure refused(int http_status, const char *retry_after);
struct retry_moment moment(int64_t now_ns, int64_t deadline_ns, double random); // at WALL_S

void check_decision(const struct retry_policy *p, const struct retry_failure *f,
                    int attempt, const struct retry_moment *at, struct retry_decision want);

// With the default policy, at the start of a clock, without a deadline, jitter left aside.
void check_plain(struct retry_failure f, int attempt, struct retry_decision want);

// Doubles may round either way: one nanosecond, and one in 10^12 of a long wait.
void check_backoff(const struct retry_policy *p, int attempt, double random, int64_t want);

void check_told(const char *header, int64_t wall_s, int64_t want);

#endif
