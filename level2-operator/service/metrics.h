// What a server counts about its requests, for GET /metrics. Fixed size; no lock: each number has
// one thread that writes it. What the engine counts is in struct engine_stats.
//
// One answer in the making is a sequence: a request with n = 2 has two of them.
//
//   arrival ──▶ submitted ──▶ started ──▶ first token ──▶ last token ──▶ last byte
//      │            └─ queue_s ─┴─ prefill_s ─┴── decode_s ───┘              │
//      ├────────────── first_token_s ─────────┘                              │
//      └─────────────────────────── whole_s ─────────────────────────────────┘
#ifndef LEVEL2_METRICS_H
#define LEVEL2_METRICS_H

#include "common/engine.h"
#include "level2-operator/service/histogram.h"

enum { METRICS_REFUSALS = 32 };

enum metrics_end { // how a sequence ended
    METRICS_STOP,
    METRICS_LENGTH,
    METRICS_ABORT, // its client left, or its time was over
    METRICS_ERROR,
    METRICS_ENDS
};

struct metrics_refusal {
    int status;
    const char *code; // of the error object; "" where that is null
    uint64_t n;
};

struct metrics {
    // the text worker writes
    struct histogram queue_s, prefill_s, decode_s;
    struct histogram gap_s;       // between two tokens of a sequence
    struct histogram per_token_s; // decode_s / (tokens - 1), of sequences with two or more
    struct histogram n_prompt, n_generated; // tokens
    _Atomic uint64_t ended[METRICS_ENDS];   // sequences
    // the HTTP loop writes
    struct histogram first_token_s, whole_s;           // of requests
    struct metrics_refusal refusals[METRICS_REFUSALS]; // (n_refusals); it alone reads them
    int n_refusals;
    uint64_t n_gone; // clients that left before the end of their answer
    // any thread writes
    _Atomic uint64_t n_lost_lines; // of the log
};

// When a sequence passed what, by the engine's clock; 0: not yet.
struct metrics_times {
    int64_t submitted_ns, started_ns, first_ns, last_ns;
    int n_tokens;
};

void metrics_init(struct metrics *m);

// An event of a sequence that is not over: its times move on, and the gap is counted.
void metrics_event(struct metrics *m, struct metrics_times *t,
                   const struct engine_event *event);

// The sequence is over. n_prompt and n_generated are counted for stop and length only.
void metrics_end(struct metrics *m, const struct metrics_times *t, enum metrics_end how,
                 int n_prompt, int n_generated);

// code NULL or "": the error has none. Kinds beyond METRICS_REFUSALS count as status 0, "other".
void metrics_refuse(struct metrics *m, int status, const char *code);

#endif
