// An engine without a model: each request gets the next script, and every poll moves all running
// requests one step on. So a text worker can be driven in one thread, and exactly.
#ifndef TESTS_SUPPORT_FAKE_ENGINE_H
#define TESTS_SUPPORT_FAKE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/engine_impl.h"

enum { FAKE_REQUESTS = 256 };

struct fake_script {
    const token_id *ids; // (n_ids): what is drawn; borrowed
    int n_ids;           // cut at max_tokens, then the reason is FINISH_LENGTH
    enum finish_reason reason;
    int n_cached;
    enum status error;    // FINISH_ERROR
    const token_id *best; // (n_ids): most likely token of each place; NULL: the drawn one
    bool is_stuck;        // says nothing until it is cancelled
};

struct fake_request {
    request_id id;
    const struct fake_script *script;
    struct engine_params params; // as submitted; pointers are dead
    token_id first_id;           // of the prompt
    int64_t started_ns;          // the test's to set, in on_submit
    int n_drawn;
    bool is_prefilled, is_cancelled, is_over;
};

struct fake_engine {
    struct engine base;
    // set by the test
    const struct fake_script *scripts; // (n_scripts), used in turn; borrowed
    int n_scripts;
    int n_vocab, n_ctx;
    int max_running;              // submit says ERR_BUSY above; 0: no limit
    int max_requests;             // submit says ERR_MEMORY above; 0: no limit
    int tokens_per_poll;          // of each request; 0: one
    void (*on_idle)(void *ctx);   // a poll found nothing to tell
    void (*on_submit)(void *ctx); // a request has come in; NULL: nobody looks
    void *ctx;
    // what happened
    struct fake_request requests[FAKE_REQUESTS]; // (n_requests), in order of submission
    int n_requests, n_cancels;
};

void fake_engine_init(struct fake_engine *f, const struct fake_script *scripts,
                      int n_scripts, int n_vocab, int n_ctx);

// Requests that neither finished nor were cancelled.
int fake_engine_running(const struct fake_engine *f);

#endif
