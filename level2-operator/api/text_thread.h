// The text worker on a thread of its own.
#ifndef LEVEL2_TEXT_THREAD_H
#define LEVEL2_TEXT_THREAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "level2-operator/api/text_worker.h"

struct text_thread { // all-zero: not running
    struct text_worker_options options;
    pthread_t thread;
    bool is_running;
    atomic_bool has_returned;
};

// options are copied; what they point to is borrowed. t must not move while it runs.
enum status text_thread_start(struct text_thread *t,
                              const struct text_worker_options *options, struct error *err);

// Once nobody takes deliveries any more: throws them away until the worker has returned. Safe on
// one that does not run.
void text_thread_stop(struct text_thread *t);

#endif
