// What `ask` does once it knows whom to ask: one question, or a conversation on the terminal. Answers
// go to standard output as they arrive, everything else to standard error.
#ifndef LEVEL1_SESSION_H
#define LEVEL1_SESSION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"
#include "level1-user/account.h"
#include "level1-user/attempts.h"
#include "level1-user/conversation.h"
#include "level1-user/prompt_watch.h"
#include "level1-user/request.h"
#include "level1-user/text.h"
#include "level1-user/token_meter.h"

// What a conversation has to stay inside of, and what the answers taught about its tokens.
struct session_budget {
    // fixed, but for a context that the server tells
    int64_t n_context; // tokens; 0: not known
    int64_t max_price; // of one request, in 10^-12 dollars; 0: none
    bool wants_summary;
    // state
    bool has_looked; // the server was asked for its context
    int64_t n_asked; // our estimate of the prompt under way
    int64_t n_estimated,
        n_told;      // of the last answered one: our estimate, the server's count
    int64_t n_found; // tokens that the provider's cache is thought to know
};

struct session {
    // borrowed
    volatile sig_atomic_t *interrupted; // set by Ctrl-C: the answer under way ends
    // owned
    struct text system;               // what each request says first; "": nothing
    struct attempts attempts;         // at its client, which is borrowed
    struct conversation conversation; // questions and their answers
    struct account account;           // what they took
    struct prompt_watch watch;        // of what its prompts begin with
    char *bodies[2];                  // the last two requests that were answered; NULL
    struct session_budget budget;
    // fixed
    struct chat_request request; // all but its messages
    bool wants_json;             // one document in place of the text
    const char *rules;           // of /audit: the file of cache rules, and how to count
    struct token_estimate estimate;
};

// Asks, shows, and remembers what was said. A question without any answer is forgotten again.
enum status session_ask(struct session *s, const char *question, struct error *err);

// Reads questions until /quit or Ctrl-D. A failed answer is reported and does not end it.
enum status session_converse(struct session *s, struct error *err);

void session_free(struct session *s); // safe on a zeroed session

#endif
