// One chat or completions exchange while it runs: its choices inside the engine, and what of them
// still has to be told. The request itself, which may be large, is gone once it is submitted.
//
//   answer_start ──▶ answer_event ... ──▶ answer_write ──▶ is_over ──▶ answer_free
//                         ▲                    │
//                         └────────────────────┘   streams: after every batch of events
//
// It fills buffers and leaves queues and sockets to the text worker.
#ifndef LEVEL2_ANSWER_H
#define LEVEL2_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "level2-operator/api_reply.h"
#include "level2-operator/api_request.h"
#include "level2-operator/generation.h"
#include "level2-operator/text_worker.h"

struct answer {
    struct answer *next; // of the worker's list
    exchange_id exchange;
    // owned
    struct arena arena;         // stop strings and filters; the answer itself lies in it
    struct generation *choices; // (n_choices): prompt * n + i
    bool *has_begun;            // (n_choices): its first event was written
    bool *has_ended;            // (n_choices): its last one was
    int n_choices;
    // borrowed
    struct engine *engine;
    const struct model *model;
    size_t max_piece; // bytes of the vocabulary's longest piece
    // what is left of the request once it is submitted
    struct api_reply reply;
    int n; // choices per prompt
    bool is_stream;
    // state
    bool has_news; // something came since the last answer_write
    bool is_over;  // everything is written, or it failed
};

// Reads the request and submits every choice to the engine. On failure nothing is left, neither
// here nor in the engine. max_piece: bytes of the vocabulary's longest piece.
enum status answer_start(struct answer **answer, const struct job *job,
                         const struct text_worker_options *options, size_t max_piece,
                         struct error *err);

// false: the event is of somebody else.
bool answer_event(struct answer *a, const struct engine_event *event);

// Appends what can be told now. Streams: the events since the last time, and the end behind the
// last. Whole replies: nothing until all choices are over, then the body. A failure of the engine
// comes back as an error: it is the whole reply, or the stream's last event; a->is_over is set
// either way.
enum status answer_write(struct answer *a, struct buffer *out, struct error *err);

// Prompts count once, however many answers each has.
struct api_usage answer_usage(const struct answer *a);

// Cancels what still runs. Safe on NULL.
void answer_free(struct answer *a);

#endif
