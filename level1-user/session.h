// What `ask` does once it knows whom to ask: one question, or a conversation on the terminal. Answers
// go to standard output as they arrive, everything else to standard error.
#ifndef LEVEL1_SESSION_H
#define LEVEL1_SESSION_H

#include <signal.h>
#include <stdbool.h>

#include "common/status.h"
#include "level1-user/account.h"
#include "level1-user/attempts.h"
#include "level1-user/conversation.h"
#include "level1-user/request.h"
#include "level1-user/text.h"
#include "level1-user/token_meter.h"

struct session {
    // borrowed
    volatile sig_atomic_t *interrupted; // set by Ctrl-C: the answer under way ends
    // owned
    struct text system;               // what each request says first; "": nothing
    struct attempts attempts;         // at its client, which is borrowed
    struct conversation conversation; // questions and their answers
    struct account account;           // what they took
    char *bodies[2];                  // the last two requests that were answered; NULL
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
