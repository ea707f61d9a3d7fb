// A list of messages that grows by doubling.
#include "level1-user/conversation.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"

static bool reserve_one(struct conversation *c) {
    if (c->n_messages < c->capacity) return true;
    int capacity = c->capacity > 0 ? 2 * c->capacity : 8;
    struct chat_message *messages =
        realloc(c->messages, (size_t)capacity * sizeof(*messages));
    if (!messages) return false;
    c->messages = messages;
    c->capacity = capacity;
    return true;
}

enum status conversation_add(struct conversation *c, const char *role, const char *text,
                             struct error *err) {
    if (c->n_messages == LIMIT_MESSAGES) {
        return error_set(err, ERR_LIMIT,
                         "the conversation is at its %d messages; begin anew",
                         LIMIT_MESSAGES);
    }
    char *copy = strdup(text);
    if (!copy || !reserve_one(c)) {
        free(copy);
        return error_set(err, ERR_MEMORY, "no memory for the conversation");
    }
    c->messages[c->n_messages++] = (struct chat_message){role, copy};
    return OK;
}

void conversation_cut(struct conversation *c, int n_messages) {
    while (c->n_messages > n_messages) free((char *)c->messages[--c->n_messages].text);
}

enum status conversation_shorten(struct conversation *c, int n, const char *role,
                                 const char *text, struct error *err) {
    int n_new = text ? 1 : 0;
    char *copy = text ? strdup(text) : NULL;
    if (text && !copy) return error_set(err, ERR_MEMORY, "no memory for the conversation");

    for (int i = 0; i < n; i++) free((char *)c->messages[i].text);
    c->n_messages += n_new - n;
    memmove(c->messages + n_new, c->messages + n,
            (size_t)(c->n_messages - n_new) * sizeof(c->messages[0]));
    if (text) c->messages[0] = (struct chat_message){role, copy};
    return OK;
}

void conversation_free(struct conversation *c) {
    conversation_cut(c, 0);
    free(c->messages);
    *c = (struct conversation){0};
}
