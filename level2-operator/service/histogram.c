// Adding without a lock: there is one writer, so that to load and to store is enough.
#include "level2-operator/service/histogram.h"

#include <string.h>

#include "common/status.h"

void histogram_init(struct histogram *h, const double *bounds, int n_bounds) {
    MUST(n_bounds >= 0 && n_bounds <= HISTOGRAM_BOUNDS);
    memset(h, 0, sizeof(*h));
    h->bounds = bounds;
    h->n_bounds = n_bounds;
}

void histogram_add(struct histogram *h, double value) {
    int i = 0;
    while (i < h->n_bounds && value > h->bounds[i]) i++;
    uint64_t n = atomic_load_explicit(&h->counts[i], memory_order_relaxed);
    double sum = atomic_load_explicit(&h->sum, memory_order_relaxed);
    atomic_store_explicit(&h->counts[i], n + 1, memory_order_relaxed);
    atomic_store_explicit(&h->sum, sum + value, memory_order_relaxed);
}
