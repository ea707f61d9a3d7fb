// One question, asked until it is answered, or until retry.h says that it is enough. All tries and the
// waits between them share one deadline.
//
//   client_chat ──failed──▶ retry_decide ──again──▶ on_wait, sleep ──▶ client_chat ...
//                                └────give up: the last failure, and what was tried
#ifndef LEVEL1_ATTEMPTS_H
#define LEVEL1_ATTEMPTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"
#include "level1-user/client.h"
#include "level1-user/retry.h"

// A wait that begins now.
struct attempts_wait {
    const char *failure; // one sentence: why the try before it failed
    int64_t wait_ns;
    bool is_told; // by the server
    int next_try, max_tries;
};

typedef void attempts_wait_fn(void *ctx, const struct attempts_wait *wait);

struct attempts {
    // borrowed
    struct client *client;
    attempts_wait_fn *on_wait; // may be NULL
    void *ctx;
    // fixed
    struct retry_policy policy;
    int64_t deadline_ns; // from the first try on, for one question; 0: none
    uint64_t seed;       // of the jitter: clients with equal seeds would come back together
    // state
    uint32_t n_waits; // drawn so far
};

// As client_chat, with its errors, and what was tried at the end of the sentence. call->cancelled ends a
// wait within 0.05 s, too (ERR_STATE). call->deadline_ns is set here. A repeat starts with an empty
// reply; it is made only where nothing of an answer has come, so nothing is lost by that. Times in the
// call and in the reply are those of the last try.
enum status attempts_chat(struct attempts *a, struct client_call *call, struct error *err);

#endif
