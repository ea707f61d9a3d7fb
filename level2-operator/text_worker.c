// The text worker's loop: one job, one batch of events, and again, until there is neither; then it
// sleeps. Answers that run stand in a list; there are at most as many as the engine takes.
//
//   jobs ──▶ start an answer, or reply at once        deliveries are never dropped: a full
//   events ──▶ their answer ──▶ write ──▶ deliveries  queue is waited for
#include "level2-operator/text_worker.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/answer.h"
#include "level2-operator/api_error.h"
#include "level2-operator/text_tools.h"

enum { EVENT_BATCH = 64, FULL_QUEUE_WAIT_MS = 1 };

struct text_worker {
    const struct text_worker_options *options; // borrowed
    struct answer *answers;                    // owned: those that run
    size_t max_piece;                          // bytes of the vocabulary's longest piece
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

// ---- deliveries

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

// ---- answers

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

// ---- jobs

static void start_answer(struct text_worker *w, const struct job *job) {
    struct delivery head = {.kind = DELIVER_HEAD, .exchange = job->exchange};
    struct answer *a;
    struct error err;

    if (answer_start(&a, job, w->options, w->max_piece, &err) != OK) {
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
    if (text_tool_reply(&out, job, w->options->served.model, &err) != OK) {
        deliver_error(w, job->exchange, &err);
    } else {
        deliver_buffer(w, reply, &out);
    }
    buffer_free(&out);
}

static void drop_answer(struct text_worker *w, exchange_id exchange) {
    for (struct answer *a = w->answers; a; a = a->next) {
        if (a->exchange != exchange) continue;
        log_line(w->options->log, LOG_INFO, "client gone", "exchange=%" PRIu64, exchange);
        list_remove(w, a);
        return;
    } // unknown: its reply was already on the way
}

static bool take_job(struct text_worker *w) {
    struct job job;

    if (!ring_take(&w->options->queues->jobs, &job)) return false;
    if (job.kind == JOB_STOP) {
        w->is_stopping = true;
    } else if (job.kind == JOB_GONE) {
        drop_answer(w, job.exchange);
    } else if (text_tool_serves(job.route)) {
        reply_at_once(w, &job);
    } else {
        start_answer(w, &job);
    }
    free(job.body);
    return true;
}

// ---- events

// Looks through all choices: there are fewer of them than a step takes microseconds.
static void give_event(struct text_worker *w, const struct engine_event *event) {
    for (struct answer *a = w->answers; a; a = a->next) {
        if (answer_event(a, event)) return;
    } // nobody's: of an answer that is over or gone
}

static bool take_events(struct text_worker *w) {
    int n = engine_poll(w->options->served.engine, w->events, EVENT_BATCH);
    if (n == 0) return false;
    for (int i = 0; i < n; i++) give_event(w, &w->events[i]);
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
    struct text_worker w = {.options = options,
                            .max_piece = longest_piece(&options->served.model->tokenizer)};

    while (!w.is_stopping) {
        os_signal_clear(signal); // before looking, so that nothing later is missed
        bool has_worked = take_job(&w);
        if (!w.is_stopping && take_events(&w)) has_worked = true;
        if (!has_worked) sleep_until_raised(signal);
    }
    while (w.answers) list_remove(&w, w.answers);
}
