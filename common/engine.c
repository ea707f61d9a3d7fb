// The front door of every engine: what a request may ask for, and the way to the engine that is
// behind the pointer. No engine lives here.
#include "common/engine.h"

#include <math.h>
#include <stddef.h>

#include "common/engine_impl.h"

// ---- the check: one function per shape of field, named in errors as in the API ------------------

static enum status check_int(const char *field, int value, int low, int high,
                             struct error *err) {
    if (value >= low && value <= high) return OK;
    if (high == INT32_MAX)
        return error_set_param(err, ERR_INPUT, field, "%s is %d, must be at least %d",
                               field, value, low);
    return error_set_param(err, ERR_INPUT, field, "%s is %d, must be between %d and %d",
                           field, value, low, high);
}

static enum status check_float(const char *field, float value, float low, float high,
                               struct error *err) {
    if (value >= low && value <= high) return OK; // false for NaN
    return error_set_param(err, ERR_INPUT, field, "%s is %g, must be between %g and %g",
                           field, (double)value, (double)low, (double)high);
}

static enum status check_tokens(const char *field, const token_id *tokens, int n_tokens,
                                int n_vocab, struct error *err) {
    for (int i = 0; i < n_tokens; i++) {
        if (tokens[i] >= 0 && tokens[i] < n_vocab) continue;
        return error_set_param(err, ERR_INPUT, field,
                               "%s[%d] is %d, must be a token id from 0 to %d", field, i,
                               (int)tokens[i], n_vocab - 1);
    }
    return OK;
}

// At most LIMIT_LOGIT_BIAS entries, so comparing each with those before it is cheap enough.
static enum status check_bias(const struct logit_bias *bias, int n_bias, int n_vocab,
                              struct error *err) {
    static const char field[] = "logit_bias";
    for (int i = 0; i < n_bias; i++) {
        enum status st = check_tokens(field, &bias[i].token, 1, n_vocab, err);
        if (st == OK) st = check_float(field, bias[i].bias, -100, 100, err);
        if (st != OK) return st;
        for (int j = 0; j < i; j++) {
            if (bias[j].token != bias[i].token) continue;
            return error_set_param(err, ERR_INPUT, field, "%s names token %d twice", field,
                                   (int)bias[i].token);
        }
    }
    return OK;
}

static enum status check_repetition(float penalty, struct error *err) {
    if (isfinite(penalty) && penalty > 0) return OK;
    return error_set_param(err, ERR_INPUT, "repetition_penalty",
                           "repetition_penalty is %g, must be above 0", (double)penalty);
}

static enum status check_sampling(const struct sampling *s, int n_vocab,
                                  struct error *err) {
    enum status st = check_float("temperature", s->temperature, 0, 2, err);
    if (st == OK) st = check_int("top_k", s->top_k, 0, INT32_MAX, err);
    if (st == OK) st = check_float("top_p", s->top_p, 0, 1, err);
    if (st == OK) st = check_float("min_p", s->min_p, 0, 1, err);
    if (st == OK) st = check_repetition(s->repetition_penalty, err);
    if (st == OK) st = check_float("frequency_penalty", s->frequency_penalty, -2, 2, err);
    if (st == OK) st = check_float("presence_penalty", s->presence_penalty, -2, 2, err);
    if (st == OK) st = check_int("logit_bias", s->n_bias, 0, LIMIT_LOGIT_BIAS, err);
    if (st == OK) st = check_bias(s->bias, s->n_bias, n_vocab, err);
    return st;
}

// ---- forwarding ---------------------------------------------------------------------------------

enum status engine_submit(struct engine *e, const struct engine_params *params,
                          request_id *id, struct error *err) {
    return e->table->submit(e, params, id, err);
}

void engine_cancel(struct engine *e, request_id id) {
    e->table->cancel(e, id);
}

int engine_poll(struct engine *e, struct engine_event *events, int max_events) {
    return e->table->poll(e, events, max_events);
}

void engine_stats(struct engine *e, struct engine_stats *stats) {
    e->table->stats(e, stats);
}

bool engine_step(struct engine *e) {
    return e->table->step(e);
}

void engine_park(struct engine *e, int64_t timeout_ns) {
    e->table->park(e, timeout_ns);
}

void engine_wake(struct engine *e) {
    e->table->wake(e);
}

int engine_context(const struct engine *e) {
    return e->table->context(e);
}

void engine_destroy(struct engine *e) {
    if (e) e->table->destroy(e);
}

// ---- statistics ---------------------------------------------------------------------------------

void engine_stats_add(struct engine_stats *sum, const struct engine_stats *more) {
    sum->n_waiting += more->n_waiting;
    sum->n_running += more->n_running;
    sum->n_finished += more->n_finished;
    sum->n_cancelled += more->n_cancelled;
    sum->n_failed += more->n_failed;
    sum->n_prompt_tokens += more->n_prompt_tokens;
    sum->n_cached_tokens += more->n_cached_tokens;
    sum->n_completion_tokens += more->n_completion_tokens;
    sum->n_steps += more->n_steps;
    if (more->last_step_ns > sum->last_step_ns) sum->last_step_ns = more->last_step_ns;
    sum->n_kv_tokens += more->n_kv_tokens;
    sum->n_kv_capacity += more->n_kv_capacity;
    sum->n_kv_bytes += more->n_kv_bytes;
    sum->cache_ns += more->cache_ns;
    sum->prefill_ns += more->prefill_ns;
    sum->decode_ns += more->decode_ns;
    sum->n_step_rows += more->n_step_rows;
    for (int i = 0; i < ENGINE_STEP_SIZES; i++)
        sum->n_steps_by_rows[i] += more->n_steps_by_rows[i];
}

// ---- parameters ---------------------------------------------------------------------------------

void sampling_init(struct sampling *s) {
    *s = (struct sampling){.temperature = 1, .top_p = 1, .repetition_penalty = 1};
}

void engine_params_init(struct engine_params *p) {
    *p = (struct engine_params){.max_tokens = 16, .n_top_logprobs = -1};
    sampling_init(&p->sampling);
}

enum status engine_params_check(const struct engine_params *p, int n_vocab,
                                struct error *err) {
    if (p->n_prompt < 1)
        return error_set_param(err, ERR_INPUT, "prompt", "the prompt has no tokens");
    enum status st = check_tokens("prompt", p->prompt, p->n_prompt, n_vocab, err);
    if (st == OK) st = check_int("max_tokens", p->max_tokens, 1, INT32_MAX, err);
    if (st == OK) st = check_int("min_tokens", p->min_tokens, 0, p->max_tokens, err);
    if (st == OK) st = check_int("stop_token_ids", p->n_stop_ids, 0, LIMIT_STOP_IDS, err);
    if (st == OK)
        st = check_tokens("stop_token_ids", p->stop_ids, p->n_stop_ids, n_vocab, err);
    if (st == OK)
        st = check_int("top_logprobs", p->n_top_logprobs, -1, LIMIT_TOP_LOGPROBS, err);
    if (st == OK) st = check_sampling(&p->sampling, n_vocab, err);
    if (st == OK && p->choice >= LIMIT_CHOICES)
        st = error_set_param(err, ERR_INPUT, "n", "n is more than %d", LIMIT_CHOICES);
    return st;
}
