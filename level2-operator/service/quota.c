// Two buckets and a count.
#include "level2-operator/service/quota.h"

#include <math.h>

#include "common/limits.h"

// Water that came in many drops is as good as what came at once.
static const double rounding = 1e-6;

bool quota_same_limits(const struct quota *a, const struct quota *b) {
    return a->max_inside == b->max_inside &&
           a->requests_per_minute == b->requests_per_minute &&
           a->tokens_per_minute == b->tokens_per_minute;
}

static double risen(double left, int per_minute, double minutes) {
    return per_minute > 0 ? fmin(per_minute, left + per_minute * minutes) : 0;
}

// Brings both buckets up to now.
static void fill(struct quota *q, int64_t now_ns) {
    double minutes = q->has_begun ? (double)(now_ns - q->filled_ns) / 60e9 : 1;
    q->requests = risen(q->requests, q->requests_per_minute, minutes);
    q->tokens = risen(q->tokens, q->tokens_per_minute, minutes);
    q->filled_ns = now_ns;
    q->has_begun = true;
}

// Seconds until a bucket that lacks so much has it.
static int wait_s(double lacking, int per_minute) {
    double seconds = ceil(lacking * 60 / per_minute - rounding);
    return seconds < 1                     ? 1
           : seconds < LIMIT_RETRY_AFTER_S ? (int)seconds
                                           : LIMIT_RETRY_AFTER_S;
}

enum status quota_enter(struct quota *q, int64_t now_ns, int *retry_after_s,
                        struct error *err) {
    fill(q, now_ns);
    if (q->max_inside > 0 && q->n_inside >= q->max_inside) {
        *retry_after_s = 1;
        return error_set(err, ERR_BUSY, "%d requests of this key are inside already",
                         q->n_inside);
    }
    if (q->requests_per_minute > 0 && q->requests < 1 - rounding) {
        *retry_after_s = wait_s(1 - q->requests, q->requests_per_minute);
        return error_set(
            err, ERR_BUSY, "this key may send %d request%s a minute; try again in %d s",
            q->requests_per_minute, q->requests_per_minute == 1 ? "" : "s", *retry_after_s);
    }
    if (q->tokens_per_minute > 0 && q->tokens <= 0) {
        *retry_after_s = wait_s(-q->tokens, q->tokens_per_minute);
        return error_set(err, ERR_BUSY,
                         "this key may use %d tokens a minute; try again in %d s",
                         q->tokens_per_minute, *retry_after_s);
    }
    q->n_inside++;
    q->requests -= 1; // without a limit the next fill says 0 again
    return OK;
}

void quota_leave(struct quota *q, int64_t now_ns, int n_tokens) {
    if (q->n_inside > 0) q->n_inside--;
    quota_charge(q, now_ns, n_tokens);
}

void quota_undo(struct quota *q) {
    if (q->n_inside > 0) q->n_inside--;
    q->requests += 1;
}

void quota_charge(struct quota *q, int64_t now_ns, int n_tokens) {
    fill(q, now_ns);
    q->tokens -= n_tokens;
}
