// Starting is easy. Stopping: the worker may be waiting for room in the queue of deliveries, and
// only he who empties it can set it free.
#include "level2-operator/api/text_thread.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 1 };

static void *run(void *thread) {
    struct text_thread *t = thread;
    text_worker_run(&t->options);
    atomic_store(&t->has_returned, true);
    return NULL;
}

enum status text_thread_start(struct text_thread *t,
                              const struct text_worker_options *options,
                              struct error *err) {
    t->options = *options;
    atomic_store(&t->has_returned, false);
    int failed = pthread_create(&t->thread, NULL, run, t);
    if (failed) {
        return error_set(err, ERR_IO, "cannot start the text worker: %s", strerror(failed));
    }
    t->is_running = true;
    return OK;
}

static void throw_away_deliveries(struct exchange_queues *q) {
    struct delivery d;
    while (ring_take(&q->deliveries, &d)) free(d.bytes);
}

void text_thread_stop(struct text_thread *t) {
    if (!t->is_running) return;
    struct exchange_queues *q = t->options.queues;
    const struct job stop = {.kind = JOB_STOP};

    for (bool is_told = false; !atomic_load(&t->has_returned); poll(NULL, 0, LOOK_MS)) {
        if (!is_told) is_told = ring_put(&q->jobs, &stop);
        os_signal_raise(&q->jobs_signal);
        throw_away_deliveries(q);
    }
    pthread_join(t->thread, NULL);
    t->is_running = false;
}
