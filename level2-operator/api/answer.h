// One chat or completions exchange while it runs: its choices inside the engine, and what of them
// still has to be told. The request itself, which may be large, is gone once its prompts are ids.
//
//   answer_start ──▶ answer_event ... ──▶ answer_submit ──▶ answer_write ──▶ is_over ──▶ answer_free
//                         ▲                                      │
//                         └──────────────────────────────────────┘   after every batch of events
//
// No request fills the engine's queue alone: at most LIMIT_CHOICES_INSIDE of its choices are inside
// at a time, and who finds the queue full lets the rest wait here.
//
// It fills buffers and leaves queues and sockets to the text worker.
#ifndef LEVEL2_ANSWER_H
#define LEVEL2_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "level2-operator/api/api_reply.h"
#include "level2-operator/api/api_request.h"
#include "level2-operator/api/generation.h"
#include "level2-operator/api/text_worker.h"

// A prompt as ids, whatever it came as.
struct prompt_ids {
    const token_id *ids;
    int n_ids;
};

struct answer {
    struct answer *next; // of the worker's list
    exchange_id exchange;
    uint64_t key_scope; // of the API key that pays
    // owned
    struct arena arena;         // stop strings and filters; the answer itself lies in it
    struct generation *choices; // (n_choices): prompt * n + i
    bool *has_begun;            // (n_choices): its first event was written
    bool *has_ended;            // (n_choices): its last one was
    int n_choices;
    // owned until every choice is submitted
    struct arena prompt_arena;
    struct prompt_ids *prompts; // (n_prompts)
    int n_prompts;
    int n_submitted;             // choices, in order
    struct engine_params params; // but for what belongs to a prompt or a choice
    // borrowed
    struct engine *engine;
    const struct model *model;
    struct clock *clock;
    struct metrics *metrics;
    const struct log *prompt_log; // gets the text of prompts; NULL: nobody does
    size_t max_piece;             // bytes of the vocabulary's longest piece
    // what is left of the request once it is submitted
    struct api_reply reply;
    int n; // choices per prompt
    bool is_stream;
    // state
    bool has_news; // something came since the last answer_write
    bool is_over;  // everything is written, or it failed
};

// Reads and checks the whole request and submits its first choices to the engine; ERR_BUSY when not
// even one has room. On failure nothing is left, neither here nor in the engine. served outlives
// the answer. max_piece: bytes of the vocabulary's longest piece.
enum status answer_start(struct answer **answer, const struct job *job,
                         const struct text_worker_options *options,
                         const struct served *served, size_t max_piece, struct error *err);

// false: the event is of somebody else.
bool answer_event(struct answer *a, const struct engine_event *event);

// Submits more choices if some had to wait and there is room now. Why one cannot be submitted at all
// is told by answer_write.
void answer_submit(struct answer *a);

// Appends what can be told now. Streams: the events since the last time, and the end behind the
// last. Whole replies: nothing until all choices are over, then the body. A failure of the engine
// comes back as an error: it is the whole reply, or the stream's last event; a->is_over is set
// either way.
enum status answer_write(struct answer *a, struct buffer *out, struct error *err);

// Prompts count once, however many answers each has.
struct api_usage answer_usage(const struct answer *a);

// The same so far, without prompts that the engine has not begun: what a client who leaves has used.
struct api_usage answer_used(const struct answer *a);

// Cancels what still runs. Safe on NULL.
void answer_free(struct answer *a);

#endif
