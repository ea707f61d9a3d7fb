// One answer in the making: events of the engine go in, text and log probabilities come out, until
// something ends it. A request with n = 2 has two of them.
//
//   event ──▶ piece ──▶ stop ──▶ text       taken piece by piece (stream) or at the end (whole)
//                └─────────────▶ logprobs
//
// A stop string is found here, not in the engine: the answer is over at once, and whatever the
// engine still says about it is ignored.
#ifndef LEVEL2_GENERATION_H
#define LEVEL2_GENERATION_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/engine.h"
#include "common/status.h"
#include "level2-operator/api/api_reply.h"
#include "level2-operator/api/api_request.h"
#include "level2-operator/api/stop.h"
#include "level2-operator/service/metrics.h"
#include "level2-operator/text/buffer.h"
#include "level2-operator/tokenizer/tokenizer.h"

struct generation {
    request_id id; // the engine's; 0: not submitted
    int index;     // among the answers of its request
    // borrowed
    const struct tokenizer *tokenizer;
    // fixed at init
    bool show_special;
    int n_top; // alternatives per token; -1: no log probabilities
    // owned: what came since the last clear
    struct buffer text;     // whole UTF-8
    struct buffer logprobs; // struct token_logprob (n_tokens, 1 + n_top): first the drawn
    struct buffer offsets;  // int (n_tokens): characters of the answer before the token
    struct stop stop;
    // state
    int n_chars; // characters begun so far
    int n_prompt, n_cached, n_completion;
    bool is_over;
    const char *finish_reason; // "stop" or "length", once over; NULL: it failed, see err
    struct error err;
    struct metrics_times times;
};

// max_piece: bytes of the vocabulary's longest piece. max_tokens bounds the memory. The stop filter
// lives in the arena. The tokenizer and the bytes of the request's stop strings are borrowed, the
// request itself is not.
enum status generation_init(struct generation *g, int index,
                            const struct api_request *request,
                            const struct tokenizer *tokenizer, size_t max_piece,
                            int max_tokens, struct arena *arena, struct error *err);

// Takes one event of g->id. *cancel: the engine need not go on (a stop string is complete, or no
// memory is left).
void generation_event(struct generation *g, const struct engine_event *event, bool *cancel);

// What came since the last clear; points into g. finish_reason is set once it is over.
struct api_piece generation_piece(const struct generation *g);
void generation_clear(struct generation *g);

// Safe on a zeroed generation.
void generation_free(struct generation *g);

#endif
