// A chat answer put together from its deltas: several choices, finish reasons, usage, refusal, an
// error object inside a 200 stream. Time comes in as a parameter.
// An exercise: solutions/level1-user/reply.c.
//
//   {"choices":[{"index":1,"delta":{"content":"Hel"}}]}      ──▶ choices[1].text "Hel"
//   {"choices":[{"index":1,"delta":{"content":"lo"},...}]}   ──▶ choices[1].text "Hello"
//   {"choices":[],"usage":{"prompt_tokens":9,...}}           ──▶ usage
//   [DONE]                                                   ──▶ is_done
#ifndef LEVEL1_REPLY_H
#define LEVEL1_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"
#include "common/status.h"
#include "level1-user/text.h"

struct reply_usage {
    int64_t prompt_tokens, cached_tokens, completion_tokens; // -1: not told
};

struct reply_choice {
    struct text text, refusal; // owned
    char finish_reason[32];    // "" until told
};

struct reply {
    // owned
    struct reply_choice *choices; // (n_choices); grows to the highest index seen
    int n_choices;
    // what was told
    struct reply_usage usage;
    char id[128], model[128];
    bool is_done;   // [DONE] was seen, or a whole (not streamed) answer
    bool has_error; // the server sent an error object
    char error_message[512];
    // counted here
    int64_t first_token_ns, last_token_ns; // 0: no text yet
    size_t n_bytes;                        // text and refusals of all choices
};

void reply_init(struct reply *r);
void reply_free(struct reply *r); // safe on a zeroed or already freed reply

// One event's data: a chunk object, "[DONE]", or an error object. What it adds stands at the end of
// the choices' texts. ERR_FORMAT: not JSON or not of the promised shape; ERR_LIMIT: more than
// LIMIT_REPLY_BYTES or LIMIT_CHOICES; ERR_MEMORY. Text that came before stays.
enum status reply_push(struct reply *r, const char *data, size_t n_data, int64_t now_ns,
                       struct error *err);

// A whole answer that was not streamed, or an error object. Errors as above.
enum status reply_whole(struct reply *r, const char *body, size_t n_body, int64_t now_ns,
                        struct error *err);

// Text of the first choice, "" if there is none yet.
const char *reply_text(const struct reply *r);

#endif
