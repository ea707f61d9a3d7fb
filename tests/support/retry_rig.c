// What the suite of retry shares. Policy, failure and moment stand in what a failing test says.
#include "tests/support/retry_rig.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/support/suite.h"

static const char *const reason_names[] = {
    [RETRY_OWN_PACE] = "own pace", [RETRY_AS_TOLD] = "as told",
    [RETRY_BEGUN] = "begun",       [RETRY_CANNOT_HELP] = "cannot help",
    [RETRY_ENOUGH] = "enough",     [RETRY_TOO_LONG] = "too long",
    [RETRY_LATE] = "late",
};
static const char *const end_names[] = {
    [RETRY_REFUSED] = "refused", [RETRY_LOST] = "lost", [RETRY_HOPELESS] = "hopeless"};

enum { WHAT_BYTES = 400 };

static void name_case(char what[WHAT_BYTES], const struct retry_policy *p,
                      const struct retry_failure *f, int attempt,
                      const struct retry_moment *at) {
    snprintf(what, WHAT_BYTES,
             "retry_decide(%d retries, %" PRId64 " to %" PRId64 " ns, told at most %" PRId64
             "; %s, status %d, Retry-After %s, %" PRId64 " bytes, harmless %d; attempt %d; "
             "now %" PRId64 ", deadline %" PRId64 ", random %g)",
             p->max_retries, p->base_ns, p->cap_ns, p->max_told_ns, end_names[f->end],
             f->http_status, f->retry_after ? f->retry_after : "none", f->n_received,
             f->is_harmless, attempt, at->now_ns, at->deadline_ns, at->random);
}

// Doubles may round either way: one nanosecond, and one in 10^12 of a long wait.
static void assert_wait(const char *what, int64_t got, int64_t want) {
    int64_t slack = 1 + want / (1000 * S);
    bool is_close =
        got >= want - slack && (want > INT64_MAX - slack || got <= want + slack);
    assert_number(what, is_close ? want : got, want);
}

void check_decision(const struct retry_policy *p, const struct retry_failure *f,
                    int attempt, const struct retry_moment *at,
                    struct retry_decision want) {
    char call[WHAT_BYTES], what[WHAT_BYTES + 16];
    struct retry_decision got = retry_decide(p, f, attempt, at);
    bool is_known = (int)got.reason >= 0 && got.reason <= RETRY_LATE;

    name_case(call, p, f, attempt, at);
    snprintf(what, sizeof(what), "%s: reason", call);
    assert_text(what, is_known ? reason_names[got.reason] : "no such reason",
                reason_names[want.reason]);
    snprintf(what, sizeof(what), "%s: again", call);
    assert_number(what, got.again, want.again);
    snprintf(what, sizeof(what), "%s: wait_ns", call);
    assert_wait(what, got.wait_ns, want.wait_ns);
}

struct retry_failure refused(int http_status, const char *retry_after) {
    return (struct retry_failure){
        .end = RETRY_REFUSED, .http_status = http_status, .retry_after = retry_after};
}

struct retry_moment moment(int64_t now_ns, int64_t deadline_ns, double random) {
    return (struct retry_moment){now_ns, deadline_ns, WALL_S, random};
}

void check_plain(struct retry_failure f, int attempt, struct retry_decision want) {
    const struct retry_moment at = moment(0, INT64_MAX, 0);
    check_decision(&retry_default_policy, &f, attempt, &at, want);
}

void check_backoff(const struct retry_policy *p, int attempt, double random, int64_t want) {
    char what[160];
    snprintf(what, sizeof(what),
             "retry_backoff_ns(base %" PRId64 ", cap %" PRId64 "; attempt %d, random %g)",
             p->base_ns, p->cap_ns, attempt, random);
    assert_wait(what, retry_backoff_ns(p, attempt, random), want);
}

void check_told(const char *header, int64_t wall_s, int64_t want) {
    char what[160];
    snprintf(what, sizeof(what), "retry_told_ns(%s%s%s, wall %" PRId64 ")",
             header ? "\"" : "", header ? header : "NULL", header ? "\"" : "", wall_s);
    assert_number(what, retry_told_ns(header, wall_s), want);
}
