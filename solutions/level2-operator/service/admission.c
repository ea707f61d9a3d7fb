// Who may come in. A bounded house is what keeps an overload short: who is told "later" at once
// can go elsewhere, who waits in an endless queue cannot.
#include "level2-operator/service/admission.h"

// [exercise admission drop]
#include <math.h>

#include "common/limits.h"

static const double mean_weight = 1.0 / 8; // of the newest service time

// The mean service time in whole seconds, at least one.
static int promise_s(const struct admission *a) {
    double seconds = ceil(a->mean_service_s);
    if (!(seconds >= 1)) return 1; // also when nothing has finished yet
    return seconds < LIMIT_RETRY_AFTER_S ? (int)seconds : LIMIT_RETRY_AFTER_S;
}

// [end]
void admission_init(struct admission *a, int max_inside) {
    MUST(max_inside > 0);
    *a = (struct admission){.max_inside = max_inside};
}

enum status admission_enter(struct admission *a, int *retry_after_s, struct error *err) {
    // [exercise admission]
    if (a->n_inside < a->max_inside) {
        a->n_inside++;
        return OK;
    }
    *retry_after_s = promise_s(a);
    return error_set(err, ERR_BUSY, "all %d places are taken; try again in %d s",
                     a->max_inside, *retry_after_s);
    // [end]
}

void admission_leave(struct admission *a, double service_s) {
    // [exercise admission]
    MUST(a->n_inside > 0);
    a->n_inside--;
    bool is_first = a->mean_service_s == 0;
    a->mean_service_s +=
        is_first ? service_s : mean_weight * (service_s - a->mean_service_s);
    // [end]
}
