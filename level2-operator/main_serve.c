// serve: one model behind the OpenAI API. Three threads and a team, and one more while a model loads:
//
//   this thread: HTTP loop ──jobs──▶ text worker ──submit──▶ engine thread + compute team
//                    ▲──deliveries───────┘   ▲────events───────────┘   ▲
//                    └──load──▶ loader ───────────── a model ──────────┘
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
#include "level2-operator/api/exchange.h"
#include "level2-operator/api/text_thread.h"
#include "level2-operator/server/engine_thread.h"
#include "level2-operator/server/http_server.h"
#include "level2-operator/server/model_loader.h"
#include "level2-operator/server/serve_options.h"
#include "level2-operator/service/service_manager.h"

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
    struct model_loader loader;
    struct service_manager manager;
    struct error err; // of the first load
};

// ---- what the threads tell each other -----------------------------------------------------------

// On the engine's thread: it has said something.
static void wake_text_worker(void *jobs_signal) {
    os_signal_raise(jobs_signal);
}

// On the text worker's thread: it has forgotten a model, so nobody knows it any more.
static void retired(void *ctx, int i_model) {
    struct service *s = ctx;
    engine_thread_close_model(&s->engine, i_model);
}

// On the engine's thread: the memory of that model is free.
static void closed(void *ctx, int i_model) {
    struct service *s = ctx;
    http_swap_closed(&s->http, i_model);
}

// On the engine's thread, which has ended: its err says why.
static void failed(void *ctx) {
    struct service *s = ctx;
    http_server_failed(&s->http);
}

// The first model is there, so text can be made, so clients may come. Or not.
static void loaded_first(struct service *s, enum status st) {
    const struct served *served = &s->loader.places[0].served;
    const struct text_worker_options text = {
        .served = *served,
        .queues = &s->queues,
        .clock = &s->clock,
        .metrics = &s->metrics,
        .log = &s->options.log,
        .log_prompts = s->options.log_prompts,
        .retired = retired,
        .ctx = s,
    };

    if (!st) st = text_thread_start(&s->text, &text, &s->loader.err);
    if (!st) {
        modules_print_count(stderr, modules_linked()); // whose it is, before "ready:"
        http_server_ready(&s->http, served);
    } else {
        s->err = s->loader.err;
        http_server_failed(&s->http);
    }
}

// On the loader's thread.
static void loaded(void *ctx, int i_model, enum status st) {
    struct service *s = ctx;
    struct loaded_model *model = &s->loader.places[i_model];

    if (!st) engine_thread_add(&s->engine, i_model, model);
    if (s->loader.n_loads == 1) {
        loaded_first(s, st);
    } else if (!st) {
        http_swap_loaded(&s->http, &model->served);
    } else {
        http_swap_failed(&s->http, &s->loader.err);
    }
}

// On the HTTP loop's thread.
static enum status load(void *ctx, int i_model, const char *path, const char *id,
                        struct error *err) {
    struct service *s = ctx;
    return model_loader_start(&s->loader, i_model, path, id, err);
}

// ---- opening ------------------------------------------------------------------------------------

static enum status open_http(struct service *s, struct error *err) {
    const struct serve_options *o = &s->options;
    const struct http_limits limits = {
        .ping_ms = o->ping_ms,
        .request_ms = (int64_t)o->request_s * 1000,
        .stall_ms = (int64_t)o->stall_s * 1000,
    };
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
        .swap = {.keys = &o->admin_keys, .dir = o->admin_dir, .load = load, .ctx = s},
        .limits = limits,
    };
    return http_server_open(&s->http, &http, err);
}

static enum status start_engine(struct service *s, struct error *err) {
    const struct serve_options *o = &s->options;
    const struct engine_thread_options engine = {
        .n_threads = o->n_threads,
        .has_trace = o->trace != NULL,
        .fault = o->fault,
        .clock = &s->clock,
        .closed = closed,
        .failed = failed,
        .ctx = s,
    };
    return engine_thread_start(&s->engine, &engine, err);
}

static enum status start_loading(struct service *s, struct error *err) {
    const struct serve_options *o = &s->options;
    const struct model_loader_options loader = {
        .load = {.model = {.pre = o->pre, .chat = o->chat, .api_sampling = o->api_sampling},
                 .engine = {.n_ctx = o->n_ctx,
                            .step_rows = o->step_rows,
                            .team = &s->engine.team,
                            .wakes = &s->engine.wakes,
                            .clock = &s->clock,
                            .trace = o->trace ? &s->engine.trace : NULL,
                            .listener = {.notify = wake_text_worker,
                                         .ctx = &s->queues.jobs_signal}},
                 .memory_bytes = o->memory_bytes,
                 .log = &o->log},
        .done = loaded,
        .ctx = s,
    };
    model_loader_init(&s->loader, &loader);
    return model_loader_start(&s->loader, 0, o->model, o->model_id, err);
}

static enum status write_trace(const struct service *s, struct error *err) {
    if (!s->options.trace) return OK;
    return trace_write(&s->engine.trace, s->options.trace, err);
}

// A word to read the keys again that comes before there is somebody to hear it waits, and ends nobody.
static void hold_hangup(int how) {
    sigset_t hangup;
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    sigprocmask(how, &hangup, NULL);
}

// Serves until it is told to stop, or the model cannot be loaded.
static enum status serve(struct service *s, struct error *err) {
    enum status st = exchange_queues_open(&s->queues, &s->arena, err);
    if (st) return st;
    st = write_trace(s, err); // empty yet: a wrong path must show now, not after a day
    if (st) return st;
    st = open_http(s, err); // first: who asks early hears 503 and not "connection refused"
    if (st) return st;
    hold_hangup(SIG_UNBLOCK); // on this thread, before there are others
    st = start_engine(s, err);
    if (st) return st;
    st = start_loading(s, err);
    if (st) return st;

    http_server_run(&s->http);

    // What is left is to wait for the step under way. Who does not want to wait tells us again.
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    model_loader_join(&s->loader);  // no more models
    engine_thread_stop(&s->engine); // no more events
    text_thread_stop(&s->text);     // no more deliveries
    const struct error *why = s->err.code ? &s->err : &s->engine.err;
    if (why->code) {
        *err = *why;
        return err->code;
    }
    return write_trace(s, err);
}

// Backwards; each is safe on what was never opened.
static void close_all(struct service *s) {
    model_loader_join(&s->loader);
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

    hold_hangup(SIG_BLOCK); // before the keys are read
    arena_init(&s.arena, work_bytes);
    clock_init_real(&s.clock);
    metrics_init(&s.metrics);
    // What is wanted?
    int exit_status = serve_options_parse(&s.options, argc, argv, &s.arena);
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
