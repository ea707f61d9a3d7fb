// One conversation partner: a server that speaks the OpenAI API. Sends a chat request, hands the text
// on as it arrives, and turns everything that can go wrong into one sentence.
//
//   client_chat ──POST base/chat/completions──▶ server
//        on_text ◀── reply ◀── events ◀── bytes ─┘
//
// do:    look at the reply after a failure too: text that came before the failure is kept
// don't: retry here: attempts.h does
#ifndef LEVEL1_CLIENT_H
#define LEVEL1_CLIENT_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/clock.h"
#include "common/status.h"
#include "level1-user/reply.h"
#include "level1-user/retry.h"

struct client_options {
    const char *base_url; // "http://127.0.0.1:8080/v1"
    const char
        *api_key; // NULL or "": none. Sent as a header, never printed; outlives the client
    const char *prefix_key; // the same, as X-Prefix-Key
    int connect_timeout_ms; // 0: 10 s
    int silence_timeout_ms; // the longest time without a byte, from the request on; 0: any
};

struct client {
    // owned
    void *easy, *multi; // libcurl's handles
    void *headers;      // struct curl_slist
    char *url;          // base/chat/completions
    char *models_url;   // base/models
    char where[160];    // scheme, host and port, for errors: no password, no path
    // borrowed
    struct clock *clock;
    const char *api_key; // to be hidden in what a server says; NULL: none
    // fixed at open
    int silence_timeout_ms;
};

// Pieces of choice 0, in order; whole UTF-8 characters.
typedef void client_text_fn(void *ctx, const char *bytes, size_t n_bytes);

struct client_call {
    const char *body;        // from chat_request_body
    struct reply *reply;     // out; initialised by the caller
    client_text_fn *on_text; // may be NULL
    void *ctx;
    // Non-zero ends the call within 0.1 s. May be NULL.
    const volatile sig_atomic_t *cancelled;
    int64_t deadline_ns; // on the client's clock: then it ends; 0: never
    // out
    int64_t start_ns;             // when the request was sent
    struct retry_failure failure; // of a call that failed
    char retry_after[128];        // where failure.retry_after lies
};

// ERR_INPUT: the URL or the key is of no use. Nothing is sent yet. The clock must be a real one.
enum status client_open(struct client *c, const struct client_options *options,
                        struct clock *clock, struct error *err);
void client_close(struct client *c); // safe on a zeroed client

// ERR_IO: not reached, broken off, out of time, a fault of the server. ERR_BUSY: 429 or 503.
// ERR_INPUT: the server refuses the request. ERR_FORMAT: it does not speak this API. ERR_STATE:
// cancelled. ERR_LIMIT, ERR_MEMORY. A connection is kept for the next call.
enum status client_chat(struct client *c, struct client_call *call, struct error *err);

bool client_is_cancelled(const struct client_call *call);

#endif
