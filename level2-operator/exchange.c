// Opening and closing the two queues between HTTP loop and text worker.
#include "level2-operator/exchange.h"

#include <stdlib.h>
#include <string.h>
#include "common/limits.h"

// A stream makes many deliveries per job, so their queue is longer.
enum { DELIVERIES_PER_JOB = 4 };

static void signal_close(struct os_signal *s) {
    if (s->read_fd >= 0) os_signal_close(s);
}

enum status exchange_queues_open(struct exchange_queues *q, struct arena *arena,
                                 struct error *err) {
    enum status st;

    memset(q, 0, sizeof(*q));
    q->jobs_signal.read_fd = q->deliveries_signal.read_fd = -1; // 0 is a real descriptor

    st = ring_init(&q->jobs, LIMIT_JOBS, sizeof(struct job), arena, err);
    if (st) goto fail;
    st = ring_init(&q->deliveries, DELIVERIES_PER_JOB * LIMIT_JOBS, sizeof(struct delivery),
                   arena, err);
    if (st) goto fail;
    st = os_signal_open(&q->jobs_signal, err);
    if (st) {
        q->jobs_signal.read_fd = -1;
        goto fail;
    }
    st = os_signal_open(&q->deliveries_signal, err);
    if (st) {
        q->deliveries_signal.read_fd = -1;
        goto fail;
    }
    return OK;
fail:
    exchange_queues_close(q);
    return st;
}

void exchange_queues_close(struct exchange_queues *q) {
    struct job job;
    struct delivery delivery;

    if (q->jobs.items) {
        while (ring_take(&q->jobs, &job)) free(job.body);
    }
    if (q->deliveries.items) {
        while (ring_take(&q->deliveries, &delivery)) free(delivery.bytes);
        // Only a queue that got this far has signals; a zeroed one must not close descriptor 0.
        signal_close(&q->jobs_signal);
        signal_close(&q->deliveries_signal);
    }
    ring_free(&q->jobs);
    ring_free(&q->deliveries);
    memset(q, 0, sizeof(*q));
}
