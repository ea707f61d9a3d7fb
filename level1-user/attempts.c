// The loop around retry_decide: it owns the clock, the random numbers and the sleep.
#include "level1-user/attempts.h"

#include "common/rng.h"

static const int64_t NAP_NS = 50000000; // how late a cancel may be noticed

// false: cancelled.
static bool sleep_on(struct clock *clock, const struct client_call *call, int64_t wait_ns) {
    int64_t end_ns = clock_now(clock) + wait_ns;
    while (!client_is_cancelled(call)) {
        int64_t left_ns = end_ns - clock_now(clock);
        if (left_ns <= 0) return true;
        clock->sleep(clock, left_ns < NAP_NS ? left_ns : NAP_NS);
    }
    return false;
}

// Adds to the failure why there is no further try.
static void explain(const struct retry_decision *d, int n_tries, struct error *err) {
    const enum status code = err->code;
    if (d->reason == RETRY_ENOUGH && n_tries > 1) {
        error_set(err, code, "%.200s (gave up after %d tries)", err->text, n_tries);
    } else if (d->reason == RETRY_TOO_LONG) {
        error_set(err, code, "%.180s (the server asks for %.0f s: try again then)",
                  err->text, (double)d->wait_ns / 1e9);
    } else if (d->reason == RETRY_LATE) {
        error_set(err, code, "%.180s (no time left for another try)", err->text);
    }
}

static struct retry_decision decide(struct attempts *a, const struct client_call *call,
                                    int attempt) {
    const struct retry_moment at = {
        .now_ns = clock_now(a->client->clock),
        .deadline_ns = call->deadline_ns > 0 ? call->deadline_ns : INT64_MAX,
        .wall_s = clock_unix_s(),
        .random = rng_unit(a->seed, 0, a->n_waits++, 0),
    };
    return retry_decide(&a->policy, &call->failure, attempt, &at);
}

static void tell(const struct attempts *a, const struct retry_decision *d, int attempt,
                 const struct error *why) {
    const struct attempts_wait wait = {
        .failure = why->text,
        .wait_ns = d->wait_ns,
        .is_told = d->reason == RETRY_AS_TOLD,
        .next_try = attempt + 1,
        .max_tries = a->policy.max_retries + 1,
    };
    if (a->on_wait) a->on_wait(a->ctx, &wait);
}

enum status attempts_chat(struct attempts *a, struct client_call *call, struct error *err) {
    struct clock *clock = a->client->clock;
    struct error unread;

    if (!err) err = &unread;
    call->deadline_ns = a->deadline_ns > 0 ? clock_now(clock) + a->deadline_ns : 0;
    for (int attempt = 1;; attempt++) {
        enum status st = client_chat(a->client, call, err);
        if (st == OK || client_is_cancelled(call)) return st;

        struct retry_decision d = decide(a, call, attempt);
        if (!d.again) {
            explain(&d, attempt, err);
            return st;
        }
        tell(a, &d, attempt, err);
        if (!sleep_on(clock, call, d.wait_ns))
            return error_set(err, ERR_STATE, "cancelled");
        reply_free(call->reply);
    }
}
