// What `ask` says of a prompt whose front changes: once from the shape of a system message, and with each
// request from the one before (prompt_compare). A warning costs nothing; an unread cache does.
#ifndef LEVEL1_PROMPT_WATCH_H
#define LEVEL1_PROMPT_WATCH_H

#include <stdbool.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/message.h"
#include "level1-user/text.h"

struct prompt_watch {
    // owned
    struct text system; // of the last request
    bool has_asked;     // there was one, about the same conversation
};

// A system message that begins to be used: one line if a word near its front looks volatile.
void prompt_watch_system(FILE *out, const char *system);

// A request that is about to be sent, and is remembered: one line if its system message is another
// than that of the request before, and stands before bytes that stay the same. ERR_MEMORY; ERR_INPUT and
// ERR_LIMIT where prompt_input_check refuses.
enum status prompt_watch_request(struct prompt_watch *w, FILE *out, const char *system,
                                 const struct chat_message *history, int n_history,
                                 const char *question, struct error *err);

// The next request begins anew: nothing is compared with what came before.
void prompt_watch_forget(struct prompt_watch *w);

void prompt_watch_free(struct prompt_watch *w); // safe on a zeroed watch

#endif
