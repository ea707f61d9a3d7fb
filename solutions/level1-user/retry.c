// Patience with a plan. Everything here is a pure function, so that a test can live through a day of
// failures in a microsecond.
#include "level1-user/retry.h"

// [exercise retry drop]
#include <stddef.h>
#include <string.h>

#include "level1-user/http_date.h"
// [end]

const struct retry_policy retry_default_policy = {
    .max_retries = 2,
    .base_ns = 500000000,
    .cap_ns = 8000000000,
    .max_told_ns = 60000000000,
};

bool retry_can_help(const struct retry_failure *f) {
    // [exercise retry]
    int status = f->http_status;
    if (f->end != RETRY_REFUSED) return f->end == RETRY_LOST;
    return status == 408 || status == 409 || status == 429 ||
           (status >= 500 && status < 600);
    // [end]
}

int64_t retry_backoff_ns(const struct retry_policy *policy, int attempt, double random) {
    // [exercise retry]
    int64_t bound = policy->base_ns;
    for (int i = 1; i < attempt && bound < policy->cap_ns; i++) bound *= 2;
    if (bound > policy->cap_ns) bound = policy->cap_ns;
    return bound - (int64_t)(random * (double)bound);
    // [end]
}

// [exercise retry drop]
static int64_t seconds_ns(int64_t seconds) {
    const int64_t ns_per_s = 1000000000;
    if (seconds <= 0) return 0;
    return seconds > INT64_MAX / ns_per_s ? INT64_MAX : seconds * ns_per_s;
}

// [end]
int64_t retry_told_ns(const char *header, int64_t wall_s) {
    // [exercise retry]
    int64_t seconds = 0;
    if (!header) return 0;
    if (http_date_parse(header, &seconds)) return seconds_ns(seconds - wall_s);

    header += strspn(header, " \t");
    size_t n_digits = strspn(header, "0123456789");
    if (header[n_digits + strspn(header + n_digits, " \t")] != '\0') return 0;
    for (size_t i = 0; i < n_digits && seconds < INT64_MAX / 10; i++) {
        seconds = seconds * 10 + (header[i] - '0');
    }
    return seconds_ns(seconds);
    // [end]
}

// [exercise retry drop]
static struct retry_decision give_up(enum retry_reason reason, int64_t wait_ns) {
    return (struct retry_decision){false, reason, wait_ns};
}

// [end]
struct retry_decision retry_decide(const struct retry_policy *policy,
                                   const struct retry_failure *f, int attempt,
                                   const struct retry_moment *at) {
    // [exercise retry]
    int64_t told_ns = retry_told_ns(f->retry_after, at->wall_s);
    int64_t wait_ns = told_ns > 0 ? told_ns : retry_backoff_ns(policy, attempt, at->random);

    if (!retry_can_help(f)) return give_up(RETRY_CANNOT_HELP, 0);
    if (f->n_received > 0 && !f->is_harmless) return give_up(RETRY_BEGUN, 0);
    if (attempt > policy->max_retries) return give_up(RETRY_ENOUGH, 0);
    if (told_ns > policy->max_told_ns) return give_up(RETRY_TOO_LONG, wait_ns);
    if (wait_ns >= at->deadline_ns - at->now_ns) return give_up(RETRY_LATE, wait_ns);
    return (struct retry_decision){true, told_ns > 0 ? RETRY_AS_TOLD : RETRY_OWN_PACE,
                                   wait_ns};
    // [end]
}
