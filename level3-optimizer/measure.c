// The median says how fast it is, the spread whether to believe it.
#include "level3-optimizer/measure.h"

#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double timed_rate(const struct measurement *m, struct clock *clock) {
    int64_t begin_ns = clock_now(clock);
    double n_units = m->work(m->arg);
    return n_units / (1e-9 * (double)(clock_now(clock) - begin_ns));
}

void measure(struct measurement *list, int n, struct clock *clock,
             struct progress *progress) {
    uint64_t n_done = 0;

    for (int i = 0; i < n; i++) list[i].work(list[i].arg);
    for (int round = 0; round < MEASURE_RUNS; round++) {
        for (int i = 0; i < n; i++) {
            progress_update(progress, n_done++);
            list[i].rates[round] = timed_rate(&list[i], clock);
        }
    }
    for (int i = 0; i < n; i++) {
        double *rates = list[i].rates;
        qsort(rates, MEASURE_RUNS, sizeof(rates[0]), compare);
        list[i].rate =
            (struct rate){rates[MEASURE_RUNS / 2], rates[0], rates[MEASURE_RUNS - 1]};
    }
}
