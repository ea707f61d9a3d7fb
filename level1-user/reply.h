// A chat answer put together from its deltas: several choices, finish reasons, usage, refusal, an
// error object inside a 200 stream. Time comes in as a parameter.
// An exercise: solutions/level1-user/reply.c.
#ifndef LEVEL1_REPLY_H
#define LEVEL1_REPLY_H

#include "common/limits.h"
#include "common/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct reply_usage {
    int64_t prompt_tokens, cached_tokens, completion_tokens; // -1: not told
};

struct reply_choice {
    char *text; // NUL-terminated; owned
    size_t n_text, cap_text;
    char *refusal; // NULL: none; owned
    size_t n_refusal, cap_refusal;
    char finish_reason[32]; // "" until told
};

struct reply {
    struct reply_choice *choices; // (n_choices); owned
    int n_choices;
    struct reply_usage usage;
    char id[128], model[128];
    int64_t first_token_ns, last_token_ns; // 0: no text yet
    bool is_done;   // [DONE] was seen, or a whole (not streamed) answer
    bool has_error; // the server sent an error object
    char error_message[512];
};

void reply_init(struct reply *r);
void reply_free(struct reply *r);

// One event's data: a chunk object, "[DONE]", or an error object. *piece (may be NULL) points to
// the text this chunk adds to choice 0, "" if none; valid until the next call.
// ERR_FORMAT: not JSON or not of the promised shape; ERR_LIMIT above LIMIT_REPLY_BYTES.
enum status reply_push(struct reply *r, const char *data, size_t n_data, int64_t now_ns,
                       const char **piece, struct error *err);

// A whole answer that was not streamed.
enum status reply_whole(struct reply *r, const char *body, size_t n_body, int64_t now_ns,
                        struct error *err);

#endif
