// serve: one model behind the OpenAI API. Three threads and a team:
//
//   this thread: HTTP loop ──jobs──▶ text worker ──submit──▶ engine thread + compute team
//                    ▲──deliveries───────┘   ▲────events───────────┘
//
// The main function is the table of contents.
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/arena.h"
#include "common/cli.h"
#include "common/clock.h"
#include "common/mapped_file.h"
#include "common/modules.h"
#include "level2-operator/engine_thread.h"
#include "level2-operator/exchange.h"
#include "level2-operator/http_server.h"
#include "level2-operator/serve_options.h"
#include "level2-operator/service_manager.h"
#include "level2-operator/text_thread.h"

static const size_t work_bytes = 16 << 20; // queues, keys, origins

struct service {
    struct arena arena;
    struct clock clock;
    struct serve_options options;
    struct exchange_queues queues;
    struct metrics metrics;
    struct http_server http;
    struct text_thread text;
    struct engine_thread engine;
    struct service_manager manager;
};

// On the engine's thread: it has said something.
static void wake_text_worker(void *jobs_signal) {
    os_signal_raise(jobs_signal);
}

// On the engine's thread: the model is there, so text can be made, so clients may come. Or not.
static void loaded(void *ctx, enum status st) {
    struct service *s = ctx;
    struct text_worker_options text = {
        .served = {.engine = s->engine.engine,
                   .model = &s->engine.model,
                   .created_s = clock_unix_s()},
        .queues = &s->queues,
        .clock = &s->clock,
        .metrics = &s->metrics,
        .log = &s->options.log,
        .log_prompts = s->options.log_prompts,
    };
    snprintf(text.served.id, sizeof(text.served.id), "%s", s->options.model_id);

    if (!st) st = text_thread_start(&s->text, &text, &s->engine.err);
    if (!st) {
        modules_print_count(stderr,
                            modules_linked()); // whose server this is, before "ready:"
        http_server_ready(&s->http, &text.served);
    } else {
        http_server_failed(&s->http);
    }
}

// On the engine's thread, which has ended: t->err says why.
static void failed(void *ctx) {
    struct service *s = ctx;
    http_server_failed(&s->http);
}

static enum status open_http(struct service *s, struct error *err) {
    const struct serve_options *o = &s->options;
    const struct http_options http = {
        .host = o->host,
        .port = o->port,
        .keys = &s->options.keys,
        .key_file = o->key_file,
        .cors = &o->cors,
        .queues = &s->queues,
        .clock = &s->clock,
        .metrics = &s->metrics,
        .log = &o->log,
        .hourly_price = o->hourly_price,
        .announce = stderr,
        .max_inside = o->max_waiting + 1, // and the one that runs
        .drain_ns = (int64_t)o->drain_s * 1000000000,
        .takes_signals = true,
        .manager = &s->manager,
        .limits = {.ping_ms = o->ping_ms,
                   .request_ms = (int64_t)o->request_s * 1000,
                   .stall_ms = (int64_t)o->stall_s * 1000},
    };
    return http_server_open(&s->http, &http, err);
}

static enum status start_engine(struct service *s, struct error *err) {
    const struct serve_options *o = &s->options;
    const struct engine_thread_options engine = {
        .model_path = o->model,
        .pre = o->pre,
        .chat = o->chat,
        .n_threads = o->n_threads,
        .n_ctx = o->n_ctx,
        .step_rows = o->step_rows,
        .memory_bytes = o->memory_bytes,
        .has_trace = o->trace != NULL,
        .fault = o->fault,
        .clock = &s->clock,
        .log = &o->log,
        .listener = {.notify = wake_text_worker, .ctx = &s->queues.jobs_signal},
        .loaded = loaded,
        .failed = failed,
        .ctx = s,
    };
    return engine_thread_start(&s->engine, &engine, err);
}

static enum status write_trace(const struct service *s, struct error *err) {
    if (!s->options.trace) return OK;
    return trace_write(&s->engine.trace, s->options.trace, err);
}

// Serves until it is told to stop, or the model cannot be loaded.
static enum status serve(struct service *s, struct error *err) {
    enum status st = exchange_queues_open(&s->queues, &s->arena, err);
    if (st) return st;
    st = write_trace(s, err); // empty yet: a wrong path must show now, not after a day
    if (st) return st;
    st = open_http(s, err); // first: who asks early hears 503 and not "connection refused"
    if (st) return st;
    st = start_engine(s, err);
    if (st) return st;

    http_server_run(&s->http);

    // What is left is to wait for the step under way. Who does not want to wait tells us again.
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    engine_thread_stop(&s->engine); // no more events
    text_thread_stop(&s->text);     // no more deliveries
    if (s->engine.err.code) {
        *err = s->engine.err;
        return err->code;
    }
    return write_trace(s, err);
}

// Backwards; each is safe on what was never opened.
static void close_all(struct service *s) {
    engine_thread_stop(&s->engine);
    text_thread_stop(&s->text);
    http_server_close(&s->http);
    engine_thread_close(&s->engine);
    exchange_queues_close(&s->queues);
    service_manager_close(&s->manager);
    arena_free(&s->arena);
}

int main(int argc, char **argv) {
    static struct service s; // too large for a stack, and zero
    struct error err = {0};

    arena_init(&s.arena, work_bytes);
    clock_init_real(&s.clock);
    metrics_init(&s.metrics);
    int exit_status =
        serve_options_parse(&s.options, argc, argv, &s.arena); // what is wanted
    if (exit_status == CLI_GO_ON) {
        s.options.log.n_lost = &s.metrics.n_lost_lines;
        mapped_file_explain_faults();
        service_manager_open(&s.manager);
        signal(SIGPIPE, SIG_IGN);         // a client that leaves must not end the server
        signal(SIGXFSZ, SIG_IGN);         // a file that may not grow is an error to tell
        enum status st = serve(&s, &err); // listen, load, serve, drain
        exit_status = st ? serve_fail(&err) : CLI_DONE; // one line on what went wrong
    }
    close_all(&s);
    return exit_status;
}
