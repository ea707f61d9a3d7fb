// How fast pieces of work go: each once to warm the caches, then MEASURE_RUNS times by the clock.
//
//   warm-up   a b c
//   rounds    a b c  a b c  a b c ...    a machine that slows down slows all of them alike
#ifndef LEVEL3_MEASURE_H
#define LEVEL3_MEASURE_H

#include "common/clock.h"
#include "common/progress.h"

enum { MEASURE_RUNS = 5 };

struct rate { // units per second
    double median, min, max;
};

struct measurement {
    double (*work)(void *arg); // does it, returns how many units that was
    void *arg;                 // borrowed
    struct rate rate;          // out
    double rates[MEASURE_RUNS];
};

// progress: started by the caller with n * MEASURE_RUNS; moved between the timed stretches.
void measure(struct measurement *list, int n, struct clock *clock,
             struct progress *progress);

#endif
