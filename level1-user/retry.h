// Whether a request that failed is sent again, and when. Time and a random number come in,
// a decision comes out: nothing here sleeps, sends, or looks at a clock.
//
//   try 1 ──fails──▶ decide ──wait──▶ try 2 ──fails──▶ decide ──wait──▶ try 3 ── ...
//                       └── give up, and why
//
// How long the wait is:
//
//   the server says   Retry-After: exactly so long, with no jitter and no bound of ours
//   nobody says       our own pace: at random between 0 and a bound that doubles from try
//                     to try ("full jitter": a thousand clients that failed together must
//                     not come back together)
#ifndef LEVEL1_RETRY_H
#define LEVEL1_RETRY_H

#include <stdbool.h>
#include <stdint.h>

// Fixed for a program. Times in ns.
struct retry_policy {
    int max_retries;     // tries after the first one; 0: none
    int64_t base_ns;     // bound of the wait behind the first try; above 0
    int64_t cap_ns;      // no bound is above it; base_ns .. 2^53
    int64_t max_told_ns; // the longest Retry-After that is obeyed; 0 .. 2^53
};

// 2 retries; 0.5 s, then 1 s, up to 8 s; at most a minute when the server says so.
extern const struct retry_policy retry_default_policy;

// How a try ended.
enum retry_end {
    RETRY_REFUSED, // an answer came whose HTTP status is not 200
    RETRY_LOST,    // not connected, out of time, or broken off, also in the middle of an
                   // answer
    RETRY_HOPELESS // wrong at our end or theirs, and it stays so: certificate, URL, an
                   // answer in no known format
};

struct retry_failure {
    enum retry_end end;
    int http_status;         // of RETRY_REFUSED
    const char *retry_after; // value of that header, as it came; NULL: there was none
    int64_t n_received;      // bytes of an answer that are here. The page that comes with
                             // a refusal is no answer: 0
    bool is_harmless; // the caller knows that a repeat does no harm, whatever is here
};

struct retry_moment {
    int64_t now_ns;      // from 0 on
    int64_t deadline_ns; // on the same clock, from 0 on; INT64_MAX: none
    int64_t wall_s;      // seconds since 1970, of years up to 9999: for dates
    double random;       // uniform in [0, 1)
};

enum retry_reason {
    // again, at
    RETRY_OWN_PACE,
    RETRY_AS_TOLD, // by Retry-After
    // give up
    RETRY_CANNOT_HELP, // the same request would fail in the same way
    RETRY_BEGUN,       // a part of the answer is here; a repeat would be shown, and billed,
                       // twice
    RETRY_ENOUGH,      // max_retries are used up
    RETRY_TOO_LONG,    // Retry-After is above max_told_ns
    RETRY_LATE         // the wait would end at the deadline or behind it
};

struct retry_decision {
    bool again;
    enum retry_reason reason;
    int64_t wait_ns; // before the next try. RETRY_TOO_LONG, RETRY_LATE: how long it would
                     // have been; other reasons to give up: 0
};

// true for RETRY_LOST, and for RETRY_REFUSED with status 408, 409, 429 or 500 to 599.
// Nothing else of the failure counts.
bool retry_can_help(const struct retry_failure *f);

// Our own pace. The bound is base_ns behind try 1 and doubles with each further try, but
// never above cap_ns; attempt is 1 or more, and may be large. Result: bound minus random
// times bound, so that 0 gives the whole bound; to the nanosecond, rounded either way.
int64_t retry_backoff_ns(const struct retry_policy *policy, int attempt, double random);

// How long from now Retry-After says, in ns. header is one of
//   digits       seconds: "20". No sign, no point, no unit
//   an HTTP date a moment: http_date_parse (level1-user/http_date.h) knows the forms, and
//                wall_s is now
// with spaces and tabs around it, which do not count. What does not fit into an int64_t is
// INT64_MAX. 0: nothing of use is told; that is NULL, "0", a date not behind wall_s, and
// anything else.
int64_t retry_told_ns(const char *header, int64_t wall_s);

// What to do after try number attempt (1, 2, ...) failed. The first reason to give up that
// holds counts, in their order above; with none of them, the wait is what Retry-After
// tells, and our own pace if it tells nothing of use. RETRY_BEGUN: n_received is above 0,
// and the repeat is not harmless.
struct retry_decision retry_decide(const struct retry_policy *policy,
                                   const struct retry_failure *f, int attempt,
                                   const struct retry_moment *at);

#endif
