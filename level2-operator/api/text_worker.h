// The text worker: one thread that turns JSON into token ids and token ids into JSON. Everything
// that can take long or knows a tokenizer happens here, never in the HTTP loop.
#ifndef LEVEL2_TEXT_WORKER_H
#define LEVEL2_TEXT_WORKER_H

#include "common/clock.h"
#include "common/engine.h"
#include "common/log.h"
#include "level2-operator/api/exchange.h"
#include "level2-operator/service/metrics.h"
#include "level2-operator/service/served.h"

struct text_worker_options {
    struct served served;           // the first model: the one in place 0
    struct exchange_queues *queues; // borrowed
    struct clock *clock;            // borrowed
    struct metrics *metrics;        // borrowed: its part of the text worker
    const struct log *log;          // borrowed
    bool log_prompts;               // their text, too
    // After JOB_RETIRE: the worker has forgotten the model in this place. NULL: nobody asks.
    void (*retired)(void *ctx, int i_model);
    void *ctx;
};

// The thread's function: returns after JOB_STOP. The engine's listener must raise
// queues->jobs_signal, so that the worker wakes for events too.
// Whoever stops it goes on taking deliveries until it has returned: a full queue is waited for.
void text_worker_run(const struct text_worker_options *options);

#endif
