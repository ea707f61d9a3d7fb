// Counts steps instead of comparing times: an engine that slept for an hour and has just got work
// has an old last step, and is well.
#include "level2-operator/service/heartbeat.h"

bool heartbeat_look(struct heartbeat *h, const struct engine_stats *stats, int64_t now_ns,
                    int64_t stall_ns) {
    bool has_work = stats->n_waiting + stats->n_running > 0;
    if (!has_work || stats->n_steps != h->n_steps || h->alive_ns == 0) {
        h->n_steps = stats->n_steps;
        h->alive_ns = now_ns;
    }
    return now_ns - h->alive_ns < stall_ns;
}
