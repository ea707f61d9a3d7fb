// The engine as everyone above it sees it: token ids in, token ids out. It knows no text and no
// HTTP; whoever calls it knows no tensors. The only opaque type of the project.
//
//   submit ──▶ waiting ──▶ prefill ──▶ decode ──▶ finished     one EVENT_FINISH per request,
//                 └───────────┴── cancel ┴──────▶ finished     always, and always the last event
//
// Threads: submit, cancel, poll and stats are safe from any thread. step, park and destroy belong
// to one engine thread. Events of one request come in order.
// do:    poll until EVENT_FINISH; a full event queue stops the engine (nothing is ever dropped)
// don't: keep a pointer into struct engine_params: everything is copied by submit
#ifndef COMMON_ENGINE_H
#define COMMON_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/limits.h"
#include "common/status.h"
#include "common/token.h"

struct engine;               // opaque; made by engine_serial_create and its successors
typedef uint64_t request_id; // never 0, never reused within an engine

struct logit_bias {
    token_id token;
    float bias; // added to the logit, -100 .. 100
};

// How the next token is drawn. Order: bias, penalties, temperature, top_k, top_p, min_p.
struct sampling {
    float temperature; // 0 .. 2; 0: greedy (the first of equals); else logits / temperature
    int top_k;         // keep the k best; 0: off
    float top_p;       // 0 .. 1; keep the fewest best that sum to p, at least one; 1: off
    float min_p;       // 0 .. 1; keep those with probability >= min_p * best; 0: off
    // Above 0; of tokens in prompt or output: logit / r if it is positive, else logit * r; 1: off.
    float repetition_penalty;
    float frequency_penalty; // -2 .. 2; subtracted for each time in the output; 0: off
    float presence_penalty;  // -2 .. 2; subtracted once if in the output; 0: off
    uint64_t seed;
    const struct logit_bias *bias; // (n_bias), each token at most once
    int n_bias;
};

struct engine_params {
    const token_id *prompt; // (n_prompt), at least one
    int n_prompt;
    int max_tokens;  // tokens to draw at most, >= 1; cut to what the context leaves
    int min_tokens;  // no end of generation before that many; 0 .. max_tokens
    bool ignore_eos; // the model's end-of-generation set does not stop this request
    const token_id *stop_ids; // (n_stop_ids): these stop it as well
    int n_stop_ids;
    int n_top_logprobs; // -1: no logprobs; 0: of the drawn token; up to LIMIT_TOP_LOGPROBS
    struct sampling sampling;
    uint32_t choice;      // index within n: part of the generator's key
    uint64_t cache_scope; // only requests of equal scope share cached prefixes
};

enum event_kind {
    EVENT_PROGRESS, // a piece of the prompt was computed
    EVENT_TOKEN,    // a token was drawn; terminators are not reported
    EVENT_FINISH
};

enum finish_reason {
    FINISH_STOP,      // end of generation or stop id
    FINISH_LENGTH,    // max_tokens or the context is reached
    FINISH_CANCELLED, // engine_cancel
    FINISH_ERROR      // err says why; the engine goes on with the next request
};

struct token_logprob {
    token_id token;
    // Natural log of the raw model's probability: before bias, penalties, filters.
    float logprob;
};

struct engine_event {
    request_id id;
    enum event_kind kind;
    // EVENT_PROGRESS and EVENT_FINISH: so far
    int n_prompt;     // tokens of the prompt
    int n_cached;     // of these, taken from a cache
    int n_prefilled;  // of these, now known to the model (n_cached included)
    int n_completion; // tokens drawn and reported
    // engine clock: when it was taken out of the queue, and when this was said
    int64_t started_ns, at_ns;
    // EVENT_TOKEN
    struct token_logprob drawn; // logprob only if asked for
    int n_top;                  // alternatives, best first
    struct token_logprob top[LIMIT_TOP_LOGPROBS];
    // EVENT_FINISH
    enum finish_reason reason;
    struct error err; // FINISH_ERROR
};

// Row i counts steps of at most 2^i rows that fit into no row above; the last one has no bound.
enum { ENGINE_STEP_SIZES = 14 };

struct engine_stats {
    int n_waiting, n_running;
    uint64_t n_finished, n_cancelled, n_failed; // requests
    uint64_t n_prompt_tokens, n_cached_tokens, n_completion_tokens;
    uint64_t n_steps;
    int64_t last_step_ns;           // engine clock when the last step ended: the heartbeat
    int n_kv_tokens, n_kv_capacity; // tokens held, tokens that fit
    uint64_t n_kv_bytes;            // of the whole cache
    // where the time went: looking for cached prefixes, prompts, answers
    int64_t cache_ns, prefill_ns, decode_ns;
    uint64_t n_step_rows; // of all steps
    uint64_t n_steps_by_rows[ENGINE_STEP_SIZES];
};

// Called after events were put, from the engine thread. Must not block and not call the engine.
struct engine_listener {
    void (*notify)(void *ctx);
    void *ctx;
};

// Refusals: ERR_INPUT (a value out of range, err->param names it), ERR_CONTEXT (n_prompt leaves no
// room for a token), ERR_BUSY (queue full), ERR_MEMORY. On failure nothing was taken.
enum status engine_submit(struct engine *e, const struct engine_params *params,
                          request_id *id, struct error *err);

// Takes effect before the next step. A request that is unknown or already finished: nothing.
void engine_cancel(struct engine *e, request_id id);

// Takes up to max_events events out, oldest first; returns how many.
int engine_poll(struct engine *e, struct engine_event *events, int max_events);

void engine_stats(struct engine *e, struct engine_stats *stats);

// What several engines did and hold together; the newest of their heartbeats.
void engine_stats_add(struct engine_stats *sum, const struct engine_stats *more);

// Does one bounded piece of work: at most LIMIT_STEP_ROWS rows. false: there was nothing to do, or
// the event queue has no room for what a step may say.
bool engine_step(struct engine *e);

// Sleeps until engine_step may have work, engine_wake, or timeout_ns (< 0: no limit).
void engine_park(struct engine *e, int64_t timeout_ns);
void engine_wake(struct engine *e); // any thread

// Positions of the context: prompt and completion together.
int engine_context(const struct engine *e);

// Frees everything but the model. Safe on NULL. Requests still inside simply vanish.
void engine_destroy(struct engine *e);

// The defaults of the OpenAI API: temperature 1, everything else off, seed 0.
void sampling_init(struct sampling *s);
void engine_params_init(struct engine_params *p);

#endif
