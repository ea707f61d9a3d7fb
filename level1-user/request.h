// What a chat request says, and the JSON body that says it (POST /chat/completions).
#ifndef LEVEL1_REQUEST_H
#define LEVEL1_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"
#include "level1-user/message.h"

struct chat_request {
    const char *model;
    const struct chat_message *messages; // (n_messages)
    int n_messages;
    int max_tokens; // 0: not sent, the server decides
    // send it as max_completion_tokens: all that reasoning models take
    bool is_completion_bound;
    bool has_temperature, has_seed;
    double temperature;
    uint64_t seed; // below 2^63
    bool stream;   // with usage in the last chunk
};

// *body is the caller's to free; NULL on failure: ERR_INPUT (a text is not UTF-8), ERR_MEMORY.
enum status chat_request_body(char **body, const struct chat_request *r, struct error *err);

#endif
