// Where the time goes: spans (request, step, stage, barrier wait), one lane per worker, written as
// Chrome trace JSON (load it at ui.perfetto.dev). Off means a NULL pointer: one branch per span.
//
//   lane 0 (engine) |step.........................|step....
//                   |norm_qkv|w|attend   |w|out...|
//   lane 1 (worker)  |norm_qkv  |attend|ww|out...|
#ifndef COMMON_TRACE_H
#define COMMON_TRACE_H

#include <stdint.h>

#include "common/arena.h"
#include "common/clock.h"
#include "common/status.h"

struct trace_span {
    const char *name;         // a literal; borrowed for ever
    int64_t begin_ns, end_ns; // on the trace's clock
    int64_t arg;              // rows of a step, layer of a stage, id of a request; -1: none
};

struct trace_lane {
    struct trace_span *spans; // (LIMIT_TRACE_SPANS)
    int n_spans;
    long n_dropped; // spans that found the lane full
};

struct trace {
    struct trace_lane *lanes; // (n_lanes); each written by one thread only
    int n_lanes;
    struct clock *clock; // borrowed
};

enum status trace_init(struct trace *t, struct arena *arena, int n_lanes,
                       struct clock *clock, struct error *err);

// Time now if t is on, else 0.
static inline int64_t trace_begin(const struct trace *t) {
    return t ? clock_now(t->clock) : 0;
}

// Records [begin_ns, now) on the lane. Nothing when t is NULL. Never blocks, never allocates.
void trace_end(struct trace *t, int lane, const char *name, int64_t begin_ns, int64_t arg);

// Writes the file anew. Call it when no lane is being written.
enum status trace_write(const struct trace *t, const char *path, struct error *err);

#endif
