// How many tokens stand in front of a place in a list of messages. Whoever has a tokenizer counts;
// whoever has none estimates. An auditor asks, and need not know which of the two it was.
#ifndef LEVEL1_TOKEN_METER_H
#define LEVEL1_TOKEN_METER_H

#include <stddef.h>
#include <stdint.h>

#include "level1-user/message.h"

// Tokens of the first n_messages messages, and of the first n_bytes bytes of the text behind them,
// that of messages[n_messages]. With n_bytes 0 that message need not be there. A token that reaches
// over the place does not count. 0 at the beginning, and never less at a later place; what a message
// takes besides its text (role, marks of the template) counts from the next message on.
typedef int64_t token_count_fn(const void *ctx, const struct chat_message *messages,
                               int n_messages, size_t n_bytes);

struct token_meter {
    token_count_fn *count;
    const void *ctx; // borrowed
};

// Asks it.
int64_t token_meter_count(const struct token_meter *meter,
                          const struct chat_message *messages, int n_messages,
                          size_t n_bytes);

// An estimate: all bytes of the texts in front, divided by bytes_per_token and rounded down, and
// tokens_per_message for each whole message.
struct token_estimate {
    int64_t bytes_per_token; // from 1 on. English: about 4
    int64_t tokens_per_message;
};

// The meter of an estimate, which it borrows.
struct token_meter token_meter_estimate(const struct token_estimate *estimate);

#endif
