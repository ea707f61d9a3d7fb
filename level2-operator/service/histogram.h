// How values are spread: a count for each bucket, and the sum. Prometheus computes percentiles from
// such counts, and adds those of several servers up; of percentiles it could do neither.
//
//   bounds        0.001    0.002    0.005
//   counts  [ <= 0.001 | <= 0.002 | <= 0.005 | above ]
//
// One thread adds, any thread reads: a reader may see a value counted that is not yet in the sum.
#ifndef LEVEL2_HISTOGRAM_H
#define LEVEL2_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

enum { HISTOGRAM_BOUNDS = 20 };

struct histogram {
    const double *bounds;                          // (n_bounds), ascending; borrowed
    int n_bounds;                                  // at most HISTOGRAM_BOUNDS
    _Atomic uint64_t counts[HISTOGRAM_BOUNDS + 1]; // the last: above all bounds
    _Atomic double sum;
};

void histogram_init(struct histogram *h, const double *bounds, int n_bounds);

// A value that equals a bound is below it. The owner's thread only.
void histogram_add(struct histogram *h, double value);

#endif
