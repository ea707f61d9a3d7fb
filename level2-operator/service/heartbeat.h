// Is the engine alive? Not "did it answer lately" but "does it step when it has work": an idle
// engine is healthy, a busy one too, and one that has work and takes no step is wedged. Pure.
#ifndef LEVEL2_HEARTBEAT_H
#define LEVEL2_HEARTBEAT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/engine.h"

struct heartbeat {    // all-zero: nothing seen yet
    uint64_t n_steps; // when last looked at
    int64_t alive_ns; // last time it stepped or had nothing to do
};

// Looks at the engine: false once it has had work for stall_ns without a step. Look often, at least
// a few times per stall_ns; how often does not change the answer by more than one interval.
bool heartbeat_look(struct heartbeat *h, const struct engine_stats *stats, int64_t now_ns,
                    int64_t stall_ns);

#endif
