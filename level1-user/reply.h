// A chat answer put together from its deltas: several choices, finish reasons, usage,
// refusal, an error object inside a 200 stream. Time comes in as a parameter.
//
//   {"choices":[{"index":1,"delta":{"content":"Hel"}}]}      ──▶ choices[1].text "Hel"
//   {"choices":[{"index":1,"delta":{"content":"lo"},...}]}   ──▶ choices[1].text "Hello"
//   {"choices":[],"usage":{"prompt_tokens":9,...}}           ──▶ usage
//   [DONE]                                                   ──▶ is_done
//
// A chunk, field by field. Absent and null are the same: nothing new. Unknown fields are
// not read.
//
//   choices   a list, perhaps an empty one; may be absent where there is a usage. Of each
//             choice, an object:
//             index          which of choices[] it is; its place in this list if absent
//             delta          content joins the end of text, refusal the end of refusal
//             finish_reason  copied; cut to what fits
//   usage     prompt_tokens, completion_tokens, prompt_tokens_details.cached_tokens: a
//             whole number from 0 on takes the place of what was told before; anything
//             else leaves it alone
//   error     nothing else of the object is read. error_message is error.message; or
//             error itself, if that is a string; or "no reason given"; cut to what fits
//   id, model copied; cut to what fits
//
// A whole answer is the same with "message" in place of "delta".
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
    struct reply_choice *choices; // (n_choices); those that nothing was said of are empty
    int n_choices;                // the highest index seen, plus 1; 0: none was
    // what was told
    struct reply_usage usage;
    char id[128], model[128];
    bool is_done; // [DONE] was seen, or a whole answer without an error: nothing is missing
    bool has_error; // the server sent an error object; what came before it stays
    char error_message[512];
    // counted here
    int64_t first_token_ns; // now_ns of the first push that added a byte of text or
    int64_t last_token_ns;  // refusal, and of the latest; 0: none did
    size_t n_bytes;         // text and refusals of all choices
};

void reply_init(struct reply *r);
void reply_free(struct reply *r); // safe on a zeroed or already freed reply

// One event's data: a chunk object, "[DONE]", or an error object. now_ns is above 0. An
// error object is OK, too: it was understood.
// ERR_FORMAT: not JSON, or a field that is neither absent nor of its type (a choice, a
// delta, an index, a string).
// ERR_LIMIT: an index outside 0 .. LIMIT_CHOICES - 1, or n_bytes above LIMIT_REPLY_BYTES;
// exactly so many pass.
// ERR_MEMORY: no memory. Nothing of a string that is refused is added; what earlier
// chunks brought stays.
enum status reply_push(struct reply *r, const char *data, size_t n_data, int64_t now_ns,
                       struct error *err);

// A whole answer that was not streamed, or an error object. Errors as above; an answer
// without any choice is ERR_FORMAT.
enum status reply_whole(struct reply *r, const char *body, size_t n_body, int64_t now_ns,
                        struct error *err);

// Text of the first choice, "" if there is none yet.
const char *reply_text(const struct reply *r);

#endif
