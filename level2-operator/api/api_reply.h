// Answers as the OpenAI API writes them: whole, or as events of a stream. Pieces in, bytes out; it
// knows no engine and no socket.
//
//   whole:   {"id", "object", "created", "model", "choices": [...], "usage"}
//   stream:  data: {chunk}     first delta: role (chat)          per choice
//            data: {chunk} ... text, logprobs
//            data: {chunk}     finish_reason
//            data: {usage}     only if asked for                 once
//            data: [DONE]
//
// Every function appends to out. ERR_MEMORY: out may end inside an event, the answer is lost.
#ifndef LEVEL2_API_REPLY_H
#define LEVEL2_API_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/engine.h"
#include "common/status.h"
#include "level2-operator/api/exchange.h"
#include "level2-operator/text/buffer.h"
#include "level2-operator/tokenizer/tokenizer.h"

// What all parts of one reply share.
struct api_reply {
    enum route route; // chat or completions
    char id[48];      // "chatcmpl-..." or "cmpl-..."
    int64_t created_s;
    bool include_usage; // streams: usage null in every chunk, and one chunk for it
    // borrowed
    const char *model;                 // the served id
    const struct tokenizer *tokenizer; // texts of the log probabilities' tokens
};

// A stretch of one choice: all of it, or what came since the last one.
struct api_piece {
    int index;
    const char *text; // whole UTF-8
    size_t n_text;
    bool has_logprobs; // else the next four mean nothing
    int n_tokens;
    int n_top; // alternatives per token; one that is missing has token -1
    const struct token_logprob *logprobs; // (n_tokens, 1 + n_top): the drawn one first
    const int *offsets;                   // (n_tokens): characters of the choice before it
    const char *finish_reason;            // NULL: not over
};

// completion: tokens drawn, terminators not counted. cached is part of prompt.
struct api_usage {
    int n_prompt, n_cached, n_completion;
};

void api_reply_init(struct api_reply *r, enum route route, exchange_id exchange,
                    int64_t created_s, const char *model,
                    const struct tokenizer *tokenizer);

// The whole answer as one JSON object.
enum status api_reply_body(struct buffer *out, const struct api_reply *r,
                           const struct api_piece *pieces, int n_pieces,
                           const struct api_usage *usage, struct error *err);

// The events of a stream. begin says who speaks (chat only; nothing for completions); text is
// silent when the piece has neither text nor tokens; finish carries the piece's finish_reason.
enum status api_reply_begin(struct buffer *out, const struct api_reply *r, int index,
                            struct error *err);
enum status api_reply_text(struct buffer *out, const struct api_reply *r,
                           const struct api_piece *piece, struct error *err);
enum status api_reply_finish(struct buffer *out, const struct api_reply *r,
                             const struct api_piece *piece, struct error *err);

// The usage event if it is wanted, and the last event of all.
enum status api_reply_end(struct buffer *out, const struct api_reply *r,
                          const struct api_usage *usage, struct error *err);

// An error when the head is out already; the stream ends behind it.
enum status api_reply_error(struct buffer *out, const struct error *why, struct error *err);

// The logprobs of a piece in the shape of the route; null if it has none. Check out->failed.
void api_logprobs_put(struct buffer *out, const struct api_reply *r,
                      const struct api_piece *piece);

#endif
