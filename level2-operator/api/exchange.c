// Opening and closing the two queues between HTTP loop and text worker.
#include "level2-operator/api/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"

// A stream makes many deliveries per job, so their queue is longer.
enum { DELIVERIES_PER_JOB = 4 };

enum status exchange_queues_open(struct exchange_queues *q, struct arena *arena,
                                 struct error *err) {
    enum status st;

    memset(q, 0, sizeof(*q));
    st = ring_init(&q->jobs, LIMIT_JOBS, sizeof(struct job), arena, err);
    if (st) goto fail;
    st = ring_init(&q->deliveries, DELIVERIES_PER_JOB * LIMIT_JOBS, sizeof(struct delivery),
                   arena, err);
    if (st) goto fail;
    st = os_signal_open(&q->jobs_signal, err);
    if (st) goto fail;
    st = os_signal_open(&q->deliveries_signal, err);
    if (st) goto fail;
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
    }
    os_signal_close(&q->jobs_signal);
    os_signal_close(&q->deliveries_signal);
    ring_free(&q->jobs);
    ring_free(&q->deliveries);
    memset(q, 0, sizeof(*q));
}
