// An engine on the table: a model, a team, a clock, and the answers that come out.
#ifndef TESTS_SUPPORT_ENGINE_RIG_H
#define TESTS_SUPPORT_ENGINE_RIG_H

#include "level2-operator/engine/engine_serial.h"

enum { RIG_TOKENS = 2048, RIG_PROMPT = 90 };

struct rig {
    struct model model;
    struct team team;
    struct arena team_arena;
    struct clock clock;
    struct engine_serial_options options; // change them before rig_start
    struct engine *engine;
    token_id prompt[RIG_PROMPT]; // some tokens to ask with; none is the end
};

// With the fake model of fake_ops.h, or with the tiny generated one and plain ops.
void rig_open_fake(struct rig *r, int n_vocab, int n_ctx, token_id eos);
void rig_open_tiny(struct rig *r, int n_workers);
void rig_start(struct rig *r); // creates the engine; destroys the one before
void rig_close(struct rig *r);

// All that was said about one request.
struct answer {
    token_id tokens[RIG_TOKENS];
    struct engine_event last_token; // EVENT_TOKEN
    struct engine_event finish;     // EVENT_FINISH
    int n_tokens, n_progress, n_finishes;
};

// Greedy, the first n_prompt tokens of r->prompt.
struct engine_params rig_greedy(const struct rig *r, int n_prompt, int max_tokens);

struct engine_stats rig_stats(struct rig *r);

// Submits and must succeed.
request_id rig_submit(struct rig *r, const struct engine_params *p);

// Steps until the request has finished; what other requests say meanwhile is dropped.
void rig_finish(struct rig *r, request_id id, struct answer *a);

// Submit and finish.
void rig_ask(struct rig *r, const struct engine_params *p, struct answer *a);

// Takes all events that are there.
void rig_drain(struct rig *r, request_id id, struct answer *a);

// The same tokens and the same end.
void rig_check_same(const char *name, const struct answer *got, const struct answer *want);

#endif
