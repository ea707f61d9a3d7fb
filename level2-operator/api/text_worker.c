// The text worker's loop: one job, one batch of events, and again, until there is neither; then it
// sleeps. Answers that run stand in a list; there are at most as many as the engine takes.
//
//   jobs ──▶ start an answer, or reply at once        deliveries are never dropped: a full
//   events ──▶ their answer ──▶ write ──▶ deliveries  queue is waited for
#include "level2-operator/api/text_worker.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/api/answer.h"
#include "level2-operator/api/api_error.h"
#include "level2-operator/api/text_tools.h"
#include "level2-operator/service/lifecycle.h"

enum { EVENT_BATCH = 64, FULL_QUEUE_WAIT_MS = 1 };

// A model that may be asked for.
struct text_place {
    struct served served; // engine NULL: none
    size_t max_piece;     // bytes of the vocabulary's longest piece
};

struct text_worker {
    const struct text_worker_options *options;  // borrowed
    struct answer *answers;                     // owned: those that run
    struct text_place places[LIFECYCLE_MODELS]; // a job says which
    bool is_stopping;
    struct engine_event events[EVENT_BATCH];
};

static size_t longest_piece(const struct tokenizer *t) {
    size_t longest = 1;
    for (token_id id = 0; id < t->n_vocab; id++) {
        struct token_piece piece = tokenizer_piece(t, id, true);
        if (piece.n_bytes > longest) longest = piece.n_bytes;
    }
    return longest;
}

// ---- deliveries ---------------------------------------------------------------------------------

// The loop takes deliveries as long as this thread runs, so a full queue is a matter of moments.
static void deliver(struct text_worker *w, const struct delivery *d) {
    struct exchange_queues *queues = w->options->queues;
    while (!ring_put(&queues->deliveries, d)) {
        os_signal_raise(&queues->deliveries_signal);
        poll(NULL, 0, FULL_QUEUE_WAIT_MS);
    }
    os_signal_raise(&queues->deliveries_signal);
}

// The bytes change hands; the buffer is empty afterwards.
static void deliver_buffer(struct text_worker *w, struct delivery d, struct buffer *b) {
    d.bytes = b->bytes;
    d.n_bytes = b->n_bytes;
    *b = (struct buffer){0};
    deliver(w, &d);
}

static void deliver_error(struct text_worker *w, exchange_id exchange,
                          const struct error *err) {
    struct api_error how = api_error_of(err);
    struct delivery d = {.kind = DELIVER_REPLY,
                         .exchange = exchange,
                         .http_status = how.http_status,
                         .retry_after_s = how.retry_after_s,
                         .code = how.code};

    d.bytes = api_error_body(&how, err->text, err->param, &d.n_bytes); // NULL: status alone
    log_line(w->options->log, how.http_status >= 500 ? LOG_ERROR : LOG_DEBUG,
             "request refused", "exchange=%" PRIu64 " status=%d reason=%s", exchange,
             how.http_status, status_name(err->code));
    deliver(w, &d);
}

// What log and metrics want to know of an answer.
static struct delivery sum_up(struct delivery d, const struct answer *a) {
    struct api_usage usage = answer_usage(a);
    const struct generation *g = &a->choices[0];
    const struct metrics_times *t = &g->times;

    if (t->started_ns) d.queue_ns = t->started_ns - t->submitted_ns;
    d.first_ns = t->first_ns;
    d.finish_reason = g->finish_reason;
    d.n_prompt = usage.n_prompt;
    d.n_cached = usage.n_cached;
    d.n_completion = usage.n_completion;
    return d;
}

// ---- answers ------------------------------------------------------------------------------------

static void list_remove(struct text_worker *w, struct answer *a) {
    struct answer **link = &w->answers;
    while (*link != a) link = &(*link)->next;
    *link = a->next;
    answer_free(a);
}

// A failure before the end is the stream's last event: its status line is long gone.
static void write_stream(struct text_worker *w, struct answer *a) {
    struct delivery data = {.kind = DELIVER_DATA, .exchange = a->exchange};
    struct delivery end = {.kind = DELIVER_END, .exchange = a->exchange};
    struct buffer out;
    struct error err;

    buffer_init(&out, LIMIT_REPLY_BYTES);
    if (answer_write(a, &out, &err) != OK) {
        buffer_clear(&out); // it may end inside an event
        api_reply_error(&out, &err, NULL);
        data.has_failed = true;
    }
    if (out.n_bytes > 0) deliver_buffer(w, data, &out);
    buffer_free(&out);
    if (a->is_over) {
        end = sum_up(end, a);
        deliver(w, &end);
    }
}

static void write_whole(struct text_worker *w, struct answer *a) {
    struct delivery reply = {
        .kind = DELIVER_REPLY, .exchange = a->exchange, .http_status = 200};
    struct buffer out;
    struct error err;

    buffer_init(&out, LIMIT_REPLY_BYTES);
    if (answer_write(a, &out, &err) != OK) {
        deliver_error(w, a->exchange, &err);
    } else if (a->is_over) {
        deliver_buffer(w, sum_up(reply, a), &out);
    }
    buffer_free(&out);
}

static void write_news(struct text_worker *w) {
    struct answer *next;
    for (struct answer *a = w->answers; a; a = next) {
        next = a->next;
        if (!a->has_news) continue;
        if (a->is_stream) {
            write_stream(w, a);
        } else {
            write_whole(w, a);
        }
        if (a->is_over) list_remove(w, a);
    }
}

// ---- jobs ---------------------------------------------------------------------------------------

static void start_answer(struct text_worker *w, const struct job *job) {
    struct delivery head = {.kind = DELIVER_HEAD, .exchange = job->exchange};
    const struct text_place *place = &w->places[job->i_model];
    struct answer *a;
    struct error err;

    if (answer_start(&a, job, w->options, &place->served, place->max_piece, &err) != OK) {
        deliver_error(w, job->exchange, &err);
        return;
    }
    struct answer **link = &w->answers; // behind the others: they wait for room longer
    while (*link) link = &(*link)->next;
    *link = a;
    if (a->is_stream) deliver(w, &head);
}

static void reply_at_once(struct text_worker *w, const struct job *job) {
    struct delivery reply = {
        .kind = DELIVER_REPLY, .exchange = job->exchange, .http_status = 200};
    struct buffer out;
    struct error err;

    buffer_init(&out, LIMIT_REPLY_BYTES);
    if (text_tool_reply(&out, job, w->places[job->i_model].served.model, &err) != OK) {
        deliver_error(w, job->exchange, &err);
    } else {
        deliver_buffer(w, reply, &out);
    }
    buffer_free(&out);
}

// Else who leaves before the last token would have used nothing.
static void deliver_used(struct text_worker *w, const struct answer *a) {
    struct api_usage usage = answer_used(a);
    const struct delivery used = {.kind = DELIVER_USED,
                                  .exchange = a->exchange,
                                  .cache_scope = a->key_scope,
                                  .n_prompt = usage.n_prompt,
                                  .n_completion = usage.n_completion};
    if (usage.n_prompt + usage.n_completion > 0) deliver(w, &used);
}

static void drop_answer(struct text_worker *w, exchange_id exchange) {
    for (struct answer *a = w->answers; a; a = a->next) {
        if (a->exchange != exchange) continue;
        log_line(w->options->log, LOG_INFO, "client gone", "exchange=%" PRIu64, exchange);
        deliver_used(w, a);
        list_remove(w, a);
        return;
    } // unknown: its reply was already on the way
}

static void serve(struct text_worker *w, int i_model, const struct served *served) {
    w->places[i_model] =
        (struct text_place){*served, longest_piece(&served->model->tokenizer)};
}

// Whoever asked this model has left before, so the loop says; what was his last word came earlier.
static void retire(struct text_worker *w, int i_model) {
    const struct engine *engine = w->places[i_model].served.engine;
    struct answer *next;
    for (struct answer *a = w->answers; a && engine; a = next) {
        next = a->next;
        if (a->engine == engine) list_remove(w, a);
    }
    w->places[i_model] = (struct text_place){0};
    if (w->options->retired) w->options->retired(w->options->ctx, i_model);
}

static bool take_job(struct text_worker *w) {
    struct job job;

    if (!ring_take(&w->options->queues->jobs, &job)) return false;
    switch (job.kind) {
    case JOB_STOP:
        w->is_stopping = true;
        break;
    case JOB_GONE:
        drop_answer(w, job.exchange);
        break;
    case JOB_SERVE:
        serve(w, job.i_model, job.served);
        break;
    case JOB_RETIRE:
        retire(w, job.i_model);
        break;
    case JOB_REQUEST:
        if (text_tool_serves(job.route)) {
            reply_at_once(w, &job);
        } else {
            start_answer(w, &job);
        }
    }
    free(job.body);
    return true;
}

// ---- events -------------------------------------------------------------------------------------

// Looks through all choices: there are fewer of them than a step takes microseconds.
// An id is an engine's own: two of them may give the same.
static void give_event(struct text_worker *w, const struct engine *engine,
                       const struct engine_event *event) {
    for (struct answer *a = w->answers; a; a = a->next) {
        if (a->engine == engine && answer_event(a, event)) return;
    } // nobody's: of an answer that is over or gone
}

static int take_events_of(struct text_worker *w, struct engine *engine) {
    int n = engine_poll(engine, w->events, EVENT_BATCH);
    for (int i = 0; i < n; i++) give_event(w, engine, &w->events[i]);
    return n;
}

static bool take_events(struct text_worker *w) {
    int n = 0;
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        struct engine *engine = w->places[i].served.engine;
        if (engine) n += take_events_of(w, engine);
    }
    if (n == 0) return false;
    for (struct answer *a = w->answers; a; a = a->next) answer_submit(a);
    write_news(w);
    return true;
}

static void sleep_until_raised(struct os_signal *signal) {
    struct pollfd wait = {.fd = signal->read_fd, .events = POLLIN};
    while (poll(&wait, 1, -1) < 0 && errno == EINTR) {}
}

void text_worker_run(const struct text_worker_options *options) {
    struct os_signal *signal = &options->queues->jobs_signal;
    struct text_worker w = {.options = options};

    serve(&w, 0, &options->served);
    while (!w.is_stopping) {
        os_signal_clear(signal); // before looking, so that nothing later is missed
        bool has_worked = take_job(&w);
        if (!w.is_stopping && take_events(&w)) has_worked = true;
        if (!has_worked) sleep_until_raised(signal);
    }
    while (w.answers) list_remove(&w, w.answers);
}
