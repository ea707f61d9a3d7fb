// What was said so far, in order: the messages of the next request.
#ifndef LEVEL1_CONVERSATION_H
#define LEVEL1_CONVERSATION_H

#include "common/status.h"
#include "level1-user/message.h"

struct conversation {
    // owned; roles are borrowed literals
    struct chat_message *messages; // (n_messages)
    int n_messages, capacity;
};

// Copies the text. ERR_LIMIT above LIMIT_MESSAGES, ERR_MEMORY: nothing changed.
enum status conversation_add(struct conversation *c, const char *role, const char *text,
                             struct error *err);

// Takes back the newest messages until n_messages are left.
void conversation_cut(struct conversation *c, int n_messages);

// Takes away the oldest n messages, at least 1, and puts a text in their place unless it is NULL.
// ERR_MEMORY: nothing changed.
enum status conversation_shorten(struct conversation *c, int n, const char *role,
                                 const char *text, struct error *err);

void conversation_free(struct conversation *c); // safe on a zeroed conversation

#endif
