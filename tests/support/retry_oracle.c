// Reasons to give up, each as a claim that holds or does not.
#include "tests/support/retry_oracle.h"

struct retry_decision decided_by_list(const struct retry_policy *p,
                                      const struct retry_failure *f, int64_t told_ns,
                                      int attempt, const struct retry_moment *at) {
    double bound = (double)p->base_ns;
    for (int i = 1; i < attempt; i++) bound *= 2;
    if (bound > (double)p->cap_ns) bound = (double)p->cap_ns;
    int64_t own_ns = (int64_t)(bound - at->random * bound + 0.5);
    int64_t wait_ns = told_ns > 0 ? told_ns : own_ns;
    bool helps =
        f->end == RETRY_LOST ||
        (f->end == RETRY_REFUSED && (f->http_status == 408 || f->http_status == 409 ||
                                     f->http_status == 429 || f->http_status / 100 == 5));
    const struct {
        bool holds;
        struct retry_decision then;
    } list[] = {
        {!helps,                                  {false, RETRY_CANNOT_HELP, 0}                                },
        {f->n_received > 0 && !f->is_harmless,    {false, RETRY_BEGUN, 0}                                      },
        {attempt > p->max_retries,                {false, RETRY_ENOUGH, 0}                                     },
        {told_ns > p->max_told_ns,                {false, RETRY_TOO_LONG, told_ns}                             },
        {at->deadline_ns - at->now_ns <= wait_ns, {false, RETRY_LATE, wait_ns}                                 },
        {true,                                    {true, told_ns > 0 ? RETRY_AS_TOLD : RETRY_OWN_PACE, wait_ns}},
    };
    int i = 0;
    while (!list[i].holds) i++;
    return list[i].then;
}
