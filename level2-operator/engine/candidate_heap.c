// A binary heap that shrinks from its front, where those that were taken gather in order.
#include "level2-operator/engine/candidate_heap.h"

#include <stdbool.h>

static bool is_better(struct candidate a, struct candidate b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

// The heap's element i, counted from its root, is end[-1 - i].
static void sift_down(struct candidate *end, int n_heap, int i) {
    struct candidate moving = end[-1 - i];
    for (int child; (child = 2 * i + 1) < n_heap; i = child) {
        if (child + 1 < n_heap && is_better(end[-2 - child], end[-1 - child])) child++;
        if (!is_better(end[-1 - child], moving)) break;
        end[-1 - i] = end[-1 - child];
    }
    end[-1 - i] = moving;
}

void candidate_heap_build(struct candidate *c, int n) {
    for (int i = n / 2 - 1; i >= 0; i--) sift_down(c + n, n, i);
}

void candidate_heap_take(struct candidate *c, int n_taken, int n) {
    struct candidate best = c[n - 1];
    c[n - 1] = c[n_taken];
    c[n_taken] = best;
    sift_down(c + n, n - n_taken - 1, 0);
}
