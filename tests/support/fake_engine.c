// An engine that reads its answers from a script.
#include "tests/support/fake_engine.h"

#include <stddef.h>
#include <string.h>

static struct fake_engine *fake(const struct engine *e) {
    return (struct fake_engine *)(void *)(uintptr_t)e;
}

static enum status fake_submit(struct engine *e, const struct engine_params *params,
                               request_id *id, struct error *err) {
    struct fake_engine *f = fake(e);
    enum status st = engine_params_check(params, f->n_vocab, err);
    if (st) return st;
    if (params->n_prompt >= f->n_ctx) return error_set(err, ERR_CONTEXT, "too long");
    if (f->max_requests && f->n_requests == f->max_requests)
        return error_set(err, ERR_MEMORY, "scripted failure");
    if (f->n_requests == FAKE_REQUESTS ||
        (f->max_running && fake_engine_running(f) >= f->max_running)) {
        return error_set(err, ERR_BUSY, "the queue is full");
    }
    struct fake_request *r = &f->requests[f->n_requests];
    *r = (struct fake_request){
        .id = (request_id)f->n_requests + 1,
        .script = &f->scripts[f->n_requests % f->n_scripts],
        .params = *params,
        .first_id = params->prompt[0],
    };
    f->n_requests++;
    *id = r->id;
    if (f->on_submit) f->on_submit(f->ctx);
    return OK;
}

static void fake_cancel(struct engine *e, request_id id) {
    struct fake_engine *f = fake(e);
    if (id == 0 || id > (request_id)f->n_requests) return;
    f->requests[id - 1].is_cancelled = true;
    f->n_cancels++;
}

static struct engine_event event_of(const struct fake_request *r, enum event_kind kind) {
    return (struct engine_event){.id = r->id,
                                 .kind = kind,
                                 .started_ns = r->started_ns,
                                 .n_prompt = r->params.n_prompt,
                                 .n_cached = r->script->n_cached,
                                 .n_prefilled = r->params.n_prompt,
                                 .n_completion = r->n_drawn};
}

static struct engine_event finish_of(struct fake_request *r, enum finish_reason reason) {
    struct engine_event ev = event_of(r, EVENT_FINISH);
    r->is_over = true;
    ev.reason = reason;
    if (reason == FINISH_ERROR) error_set(&ev.err, r->script->error, "scripted failure");
    return ev;
}

// The drawn token has probability 1/4; where another one is the best, that has 1/2.
static struct engine_event token_of(struct fake_request *r) {
    struct engine_event ev = event_of(r, EVENT_TOKEN);
    token_id drawn = r->script->ids[r->n_drawn];
    token_id best = r->script->best ? r->script->best[r->n_drawn] : drawn;

    ev.drawn = (struct token_logprob){drawn, -1.386294361f};
    if (r->params.n_top_logprobs > 0) {
        ev.top[ev.n_top++] = (struct token_logprob){best, -0.693147181f};
    }
    if (r->params.n_top_logprobs > 1 && best != drawn) ev.top[ev.n_top++] = ev.drawn;
    r->n_drawn++;
    return ev;
}

static bool next_event(struct fake_request *r, struct engine_event *ev) {
    if (r->is_over) return false;
    if (r->is_cancelled) {
        *ev = finish_of(r, FINISH_CANCELLED);
    } else if (r->script->is_stuck) {
        return false;
    } else if (!r->is_prefilled) {
        *ev = event_of(r, EVENT_PROGRESS);
        r->is_prefilled = true;
    } else if (r->n_drawn == r->script->n_ids) {
        *ev = finish_of(r, r->script->reason);
    } else if (r->n_drawn == r->params.max_tokens) {
        *ev = finish_of(r, FINISH_LENGTH);
    } else {
        *ev = token_of(r);
    }
    return true;
}

static int fake_poll(struct engine *e, struct engine_event *events, int max_events) {
    struct fake_engine *f = fake(e);
    int n = 0, per_request = f->tokens_per_poll ? f->tokens_per_poll : 1;

    for (int i = 0; i < f->n_requests; i++) {
        for (int k = 0; k < per_request && n < max_events; k++) {
            if (!next_event(&f->requests[i], &events[n])) break;
            n++;
        }
    }
    if (n == 0 && f->on_idle) f->on_idle(f->ctx);
    return n;
}

static int fake_context(const struct engine *e) {
    return fake(e)->n_ctx;
}

static const struct engine_table table = {
    .name = "fake",
    .submit = fake_submit,
    .cancel = fake_cancel,
    .poll = fake_poll,
    .context = fake_context,
};

void fake_engine_init(struct fake_engine *f, const struct fake_script *scripts,
                      int n_scripts, int n_vocab, int n_ctx) {
    *f = (struct fake_engine){.base = {&table},
                              .scripts = scripts,
                              .n_scripts = n_scripts,
                              .n_vocab = n_vocab,
                              .n_ctx = n_ctx};
}

int fake_engine_running(const struct fake_engine *f) {
    int n = 0;
    for (int i = 0; i < f->n_requests; i++) {
        n += !f->requests[i].is_over && !f->requests[i].is_cancelled;
    }
    return n;
}
