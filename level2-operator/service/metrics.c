// Bounds in steps of 1, 2, 5: nobody has to guess where this machine and this model will lie.
#include "level2-operator/service/metrics.h"

#include <stdbool.h>
#include <string.h>

static const double seconds[] = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
                                 2,     5,     10,    20,   50,   100,  200, 500, 1000};
static const double tokens[] = {1,   2,    5,    10,   20,    50,    100,   200,
                                500, 1000, 2000, 5000, 10000, 20000, 50000, 100000};

enum {
    N_SECONDS = sizeof(seconds) / sizeof(*seconds),
    N_TOKENS = sizeof(tokens) / sizeof(*tokens)
};

void metrics_init(struct metrics *m) {
    struct histogram *const times[] = {&m->queue_s, &m->prefill_s,   &m->decode_s,
                                       &m->gap_s,   &m->per_token_s, &m->first_token_s,
                                       &m->whole_s};
    memset(m, 0, sizeof(*m));
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        histogram_init(times[i], seconds, N_SECONDS);
    }
    histogram_init(&m->n_prompt, tokens, N_TOKENS);
    histogram_init(&m->n_generated, tokens, N_TOKENS);
}

static double seconds_of(int64_t ns) {
    return (double)ns / 1e9;
}

void metrics_event(struct metrics *m, struct metrics_times *t,
                   const struct engine_event *event) {
    if (!t->started_ns) t->started_ns = event->started_ns;
    if (event->kind != EVENT_TOKEN) return;
    if (t->n_tokens++ > 0) {
        histogram_add(&m->gap_s, seconds_of(event->at_ns - t->last_ns));
    } else {
        t->first_ns = event->at_ns;
    }
    t->last_ns = event->at_ns;
}

void metrics_end(struct metrics *m, const struct metrics_times *t, enum metrics_end how,
                 int n_prompt, int n_generated) {
    atomic_fetch_add_explicit(&m->ended[how], 1, memory_order_relaxed);
    if (how != METRICS_STOP && how != METRICS_LENGTH) return;

    double decode_s = seconds_of(t->last_ns - t->first_ns);
    histogram_add(&m->queue_s, seconds_of(t->started_ns - t->submitted_ns));
    if (t->n_tokens > 0) {
        histogram_add(&m->prefill_s, seconds_of(t->first_ns - t->started_ns));
        histogram_add(&m->decode_s, decode_s);
    }
    if (t->n_tokens > 1) histogram_add(&m->per_token_s, decode_s / (t->n_tokens - 1));
    histogram_add(&m->n_prompt, n_prompt);
    histogram_add(&m->n_generated, n_generated);
}

// The row of a kind of refusal, made when it is the first; the last row is for all that find no room.
static struct metrics_refusal *refusal_of(struct metrics *m, int status, const char *code) {
    for (int i = 0; i < m->n_refusals; i++) {
        struct metrics_refusal *r = &m->refusals[i];
        if (r->status == status && strcmp(r->code, code) == 0) return r;
    }
    if (m->n_refusals == METRICS_REFUSALS) return &m->refusals[METRICS_REFUSALS - 1];
    struct metrics_refusal *fresh = &m->refusals[m->n_refusals++];
    bool is_last = m->n_refusals == METRICS_REFUSALS;
    *fresh = is_last ? (struct metrics_refusal){.code = "other"}
                     : (struct metrics_refusal){.status = status, .code = code};
    return fresh;
}

void metrics_refuse(struct metrics *m, int status, const char *code) {
    refusal_of(m, status, code ? code : "")->n++;
}
