// The bodies of the requests of a session.
#ifndef LEVEL1_SESSION_BODY_H
#define LEVEL1_SESSION_BODY_H

#include "common/status.h"
#include "level1-user/session.h"

// System message, the oldest n_messages of the conversation, and the question, in the order that a cache
// likes. request: all but its messages. *body is the caller's to free; NULL on failure.
enum status session_body(char **body, const struct session *s,
                         const struct chat_request *request, int n_messages,
                         const char *question, struct error *err);

#endif
