// One step of the serial engine: cancelled requests leave, the next one comes in, a few rows go
// through the model, and perhaps a token comes out.
//
//   cancelled? ──▶ finish      room for all we may say? ──no──▶ nothing
//   running?   ──▶ a piece of the prompt, or the last drawn token ──▶ forward ──▶ draw ──▶ event
#include "level2-operator/engine/engine_serial_impl.h"

#include "level2-operator/model/forward.h"

static void note(struct engine_serial *s, const struct serial_request *r,
                 enum event_kind kind) {
    s->event.id = r->id;
    s->event.kind = kind;
    s->event.n_prompt = r->params.n_prompt;
    s->event.n_cached = r->n_cached;
    s->event.n_prefilled = r->n_prefilled;
    s->event.n_completion = r->n_completion;
    s->event.started_ns = r->started_ns;
    s->event.at_ns = clock_now(s->options.clock);
}

static void say(struct engine_serial *s) {
    bool had_room = ring_put(&s->events, &s->event);
    MUST(had_room); // only this thread puts, and it looked before it began
    s->has_news = true;
    s->event = (struct engine_event){0};
}

// The slot is free before the event is out: who reads it may submit again at once.
static void finish(struct engine_serial *s, struct serial_request *r,
                   enum finish_reason reason) {
    note(s, r, EVENT_FINISH);
    s->event.reason = reason;
    if (r == s->running) {
        s->running = NULL;
        trace_end(s->options.trace, 0, "request", s->running_since_ns, (int64_t)r->id);
    }
    serial_queue_remove(&s->queue, r, reason);
    say(s);
}

static void finish_cancelled(struct engine_serial *s) {
    while (ring_space(&s->events) > 0) {
        struct serial_request *r = serial_queue_cancelled(&s->queue);
        if (!r) return;
        finish(s, r, FINISH_CANCELLED);
    }
}

// Whether a drawn token ends the answer.
static bool is_terminator(const struct engine_serial *s, const struct engine_params *p,
                          token_id token) {
    if (!p->ignore_eos && tokenizer_is_end(&s->model->tokenizer, token)) return true;
    for (int i = 0; i < p->n_stop_ids; i++) {
        if (p->stop_ids[i] == token) return true;
    }
    return false;
}

static void start_next(struct engine_serial *s) {
    struct serial_request *r = serial_queue_next(&s->queue);
    if (!r) return;
    const struct engine_params *p = &r->params;

    s->running = r;
    s->running_since_ns = trace_begin(s->options.trace);
    r->started_ns = clock_now(s->options.clock);
    r->n_cached = serial_cache_begin(&s->cache, p->cache_scope, p->prompt, p->n_prompt);
    r->n_prefilled = r->n_cached;
    int64_t cache_ns = clock_now(s->options.clock) - r->started_ns;
    sampler_start(&s->sampler, p->prompt, p->n_prompt);
    for (int v = 0; p->min_tokens > 0 && v < s->sampler.n_vocab; v++) {
        s->banned[v] = is_terminator(s, p, v);
    }

    pthread_mutex_lock(&s->queue.lock);
    s->queue.stats.n_prompt_tokens += (uint64_t)p->n_prompt;
    s->queue.stats.n_cached_tokens += (uint64_t)r->n_cached;
    s->queue.stats.cache_ns += cache_ns;
    pthread_mutex_unlock(&s->queue.lock);
}

static void report_token(struct engine_serial *s, struct serial_request *r,
                         const float *logits) {
    int n_vocab = s->sampler.n_vocab, n_top = r->params.n_top_logprobs;
    s->event.drawn.token = r->last;
    if (n_top >= 0) {
        s->event.n_top = n_top < n_vocab ? n_top : n_vocab;
        sampler_logprobs(logits, n_vocab, r->last, &s->event.drawn, s->event.top,
                         s->event.n_top);
    }
    note(s, r, EVENT_TOKEN);
    say(s);
}

// From the logits of the last row to a token, and to the end if it is one.
static void draw(struct engine_serial *s, struct serial_request *r) {
    const struct engine_params *p = &r->params;
    const float *logits = s->options.ops->logit_row(s->run, 0);
    const bool *banned = r->n_completion < p->min_tokens ? s->banned : NULL;
    uint32_t position = (uint32_t)s->cache.table.n_tokens; // of the token to be drawn

    if (sampler_draw(&s->sampler, logits, &p->sampling, banned, p->choice, position,
                     &r->last, &s->event.err) != OK) {
        serial_cache_drop(&s->cache);
        finish(s, r, FINISH_ERROR);
        return;
    }
    if (is_terminator(s, p, r->last)) {
        finish(s, r, FINISH_STOP);
        return;
    }
    sampler_accept(&s->sampler, r->last);
    r->n_completion++;
    pthread_mutex_lock(&s->queue.lock);
    s->queue.stats.n_completion_tokens++;
    pthread_mutex_unlock(&s->queue.lock);
    report_token(s, r, logits);
    if (r->n_completion == p->max_tokens) finish(s, r, FINISH_LENGTH);
}

// Before anything is said of the step: who reads the counts when he has the answer finds it in them.
static void count_rows(struct engine_serial *s, int n_rows) {
    struct engine_stats *stats = &s->queue.stats;
    int size = 0;
    while (size < ENGINE_STEP_SIZES - 1 && n_rows > 1 << size) size++;

    pthread_mutex_lock(&s->queue.lock);
    stats->n_steps++;
    stats->n_step_rows += (uint64_t)n_rows;
    stats->n_steps_by_rows[size]++;
    pthread_mutex_unlock(&s->queue.lock);
}

static void count_time(struct engine_serial *s, bool is_prompt, int64_t began_ns) {
    struct engine_stats *stats = &s->queue.stats;
    int64_t now_ns = clock_now(s->options.clock);
    pthread_mutex_lock(&s->queue.lock);
    *(is_prompt ? &stats->prefill_ns : &stats->decode_ns) += now_ns - began_ns;
    pthread_mutex_unlock(&s->queue.lock);
}

// The next piece of the prompt, or the last drawn token, through the model.
static void advance(struct engine_serial *s, struct serial_request *r) {
    const struct engine_params *p = &r->params;
    int64_t begin_ns = trace_begin(s->options.trace);
    int64_t began_ns = clock_now(s->options.clock);
    int n_left = p->n_prompt - r->n_prefilled, step_rows = s->options.step_rows;
    bool is_prompt = n_left > 0, wants_logits = n_left <= step_rows;
    const token_id *tokens = is_prompt ? p->prompt + r->n_prefilled : &r->last;
    int n_rows = 1;
    if (is_prompt) n_rows = n_left < step_rows ? n_left : step_rows;

    const struct step *step =
        sequence_rows_fill(&s->rows, &s->cache.table, tokens, n_rows, wants_logits ? 1 : 0);
    forward(s->options.ops, s->run, step, s->options.team);
    serial_cache_append(&s->cache, tokens, n_rows);
    count_rows(s, n_rows);
    if (is_prompt) {
        r->n_prefilled += n_rows;
        note(s, r, EVENT_PROGRESS);
        say(s);
    }
    if (wants_logits) draw(s, r);
    trace_end(s->options.trace, 0, "step", begin_ns, n_rows);
    count_time(s, is_prompt, began_ns);
}

void serial_heartbeat(struct engine_serial *s) {
    pthread_mutex_lock(&s->queue.lock);
    s->queue.stats.last_step_ns = clock_now(s->options.clock);
    s->queue.stats.n_kv_tokens = s->cache.table.n_tokens;
    pthread_mutex_unlock(&s->queue.lock);
}

bool serial_step(struct engine *e) {
    struct engine_serial *s = engine_serial_of(e);
    bool has_run = false;

    s->has_news = false;
    finish_cancelled(s);
    if (ring_space(&s->events) >= SERIAL_STEP_EVENTS) {
        if (!s->running) start_next(s);
        has_run = s->running != NULL;
        if (has_run) advance(s, s->running);
    }
    if (has_run) serial_heartbeat(s);
    bool has_worked = has_run || s->has_news;
    if (s->has_news && s->options.listener.notify)
        s->options.listener.notify(s->options.listener.ctx);
    return has_worked;
}
