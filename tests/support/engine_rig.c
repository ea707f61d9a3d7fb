// Steps an engine on the test's own thread, so that every order of events can be arranged.
#include "tests/support/engine_rig.h"

#include <check.h>
#include <string.h>

#include "tests/support/fake_ops.h"
#include "tests/support/suite.h"

static void open_team(struct rig *r, int n_workers) {
    arena_init(&r->team_arena, 1 << 20);
    clock_init_real(&r->clock);
    ck_assert_int_eq(team_open(&r->team, &r->team_arena, n_workers, NULL), OK);
    r->options.team = &r->team;
    r->options.clock = &r->clock;
}

void rig_open_fake(struct rig *r, int n_vocab, int n_ctx, token_id eos) {
    memset(r, 0, sizeof(*r));
    open_team(r, 1);
    fake_model_open(&r->model, n_vocab, n_ctx, eos);
    fake_ops_script(NULL, NULL);
    r->options.ops = &fake_ops;
    for (int t = 0; t < RIG_PROMPT; t++) r->prompt[t] = (t * 7 + 3) % eos;
}

void rig_open_tiny(struct rig *r, int n_workers) {
    struct error err = {0};
    memset(r, 0, sizeof(*r));
    open_team(r, n_workers);
    enum status st = model_open(&r->model, tiny_model_path(), NULL, &err);
    ck_assert_msg(st == OK, "%s", err.text);
    for (int t = 0; t < RIG_PROMPT; t++)
        r->prompt[t] = (t * 31 + 5) % r->model.config.n_vocab;
}

void rig_start(struct rig *r) {
    struct error err = {0};
    engine_destroy(r->engine);
    enum status st = engine_serial_create(&r->engine, &r->model, &r->options, &err);
    ck_assert_msg(st == OK, "%s", err.text);
}

void rig_close(struct rig *r) {
    engine_destroy(r->engine);
    model_close(&r->model);
    team_close(&r->team);
    arena_free(&r->team_arena);
}

struct engine_params rig_greedy(const struct rig *r, int n_prompt, int max_tokens) {
    struct engine_params p;
    engine_params_init(&p);
    p.prompt = r->prompt;
    p.n_prompt = n_prompt;
    p.max_tokens = max_tokens;
    p.sampling.temperature = 0;
    return p;
}

struct engine_stats rig_stats(struct rig *r) {
    struct engine_stats stats;
    engine_stats(r->engine, &stats);
    return stats;
}

request_id rig_submit(struct rig *r, const struct engine_params *p) {
    struct error err = {0};
    request_id id = 0;
    enum status st = engine_submit(r->engine, p, &id, &err);
    ck_assert_msg(st == OK, "%s", err.text);
    ck_assert_uint_ne(id, 0);
    return id;
}

static void answer_add(struct answer *a, const struct engine_event *event) {
    ck_assert_msg(a->n_finishes == 0, "an event after the last one");
    switch (event->kind) {
    case EVENT_PROGRESS:
        a->n_progress++;
        break;
    case EVENT_TOKEN:
        ck_assert_int_lt(a->n_tokens, RIG_TOKENS);
        a->tokens[a->n_tokens++] = event->drawn.token;
        ck_assert_int_eq(event->n_completion, a->n_tokens);
        a->last_token = *event;
        break;
    case EVENT_FINISH:
        a->n_finishes++;
        a->finish = *event;
        ck_assert_int_eq(event->n_completion, a->n_tokens);
        break;
    }
}

void rig_drain(struct rig *r, request_id id, struct answer *a) {
    struct engine_event event;
    while (engine_poll(r->engine, &event, 1) == 1) {
        if (event.id == id) answer_add(a, &event);
    }
}

void rig_finish(struct rig *r, request_id id, struct answer *a) {
    memset(a, 0, sizeof(*a));
    while (a->n_finishes == 0) {
        ck_assert_msg(engine_step(r->engine), "the engine stands still");
        rig_drain(r, id, a);
    }
}

void rig_ask(struct rig *r, const struct engine_params *p, struct answer *a) {
    rig_finish(r, rig_submit(r, p), a);
}

void rig_check_same(const char *name, const struct answer *got, const struct answer *want) {
    ck_assert_msg(got->finish.reason == want->finish.reason, "%s: ends with %d, want %d",
                  name, (int)got->finish.reason, (int)want->finish.reason);
    ck_assert_msg(got->n_tokens == want->n_tokens, "%s: %d tokens, want %d", name,
                  got->n_tokens, want->n_tokens);
    for (int i = 0; i < got->n_tokens; i++)
        ck_assert_msg(got->tokens[i] == want->tokens[i], "%s: token %d is %d, want %d",
                      name, i, got->tokens[i], want->tokens[i]);
}
