// How a session stays inside its context and its price: budget.h decides, this carries it out.
#ifndef LEVEL1_SESSION_BUDGET_H
#define LEVEL1_SESSION_BUDGET_H

#include "common/status.h"
#include "level1-user/reply.h"
#include "level1-user/session.h"

// Before a question is asked. Old turns go, or become a summary that the model is asked for, and one
// line on standard error says how many and why. A conversation that fits, and one without limits, stay.
// What is too long for the context even so is sent: the server counts better, and refuses it.
// ERR_LIMIT: what has to stay costs too much; nothing changed. A summary that does not come is an error
// as in attempts_chat, and nothing changed.
enum status session_budget_fit(struct session *s, const char *question, struct error *err);

// After an answer: what the server counted of the request that session_budget_fit saw last.
void session_budget_learn(struct session *s, const struct reply_usage *usage);

#endif
