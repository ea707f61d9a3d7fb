// Yours to write. Contract: level1-user/retry.h. Explained: docs/level1/retry.md.
// Red or green: make test EX=retry
//
// Patience with a plan. Everything here is a pure function, so that a test can live through a day of
// failures in a microsecond.
#include "level1-user/retry.h"

#include "common/exercise.h"

const struct retry_policy retry_default_policy = {
    .max_retries = 2,
    .base_ns = 500000000,
    .cap_ns = 8000000000,
    .max_told_ns = 60000000000,
};

bool retry_can_help(const struct retry_failure *f) {
    EXERCISE("retry");
}

int64_t retry_backoff_ns(const struct retry_policy *policy, int attempt, double random) {
    EXERCISE("retry");
}

int64_t retry_told_ns(const char *header, int64_t wall_s) {
    EXERCISE("retry");
}

struct retry_decision retry_decide(const struct retry_policy *policy,
                                   const struct retry_failure *f, int attempt,
                                   const struct retry_moment *at) {
    EXERCISE("retry");
}
