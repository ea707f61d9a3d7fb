// The house of a text worker.
#include "tests/support/text_house.h"

#include <stdlib.h>
#include <string.h>

#include "level2-operator/tokenizer/tokenizer_gguf.h"
#include "tests/support/suite.h"

void text_house_put(struct text_house *h, struct job job) {
    ck_assert(ring_put(&h->queues.jobs, &job));
    os_signal_raise(&h->queues.jobs_signal);
}

static void on_idle(void *ctx) {
    struct text_house *h = ctx;
    if (ring_space(&h->queues.jobs) < LIMIT_JOBS) return; // jobs before rest
    h->n_idle++;
    if (h->idle) {
        h->idle(h);
    } else {
        text_house_put(h, (struct job){.kind = JOB_STOP});
    }
}

void text_house_open(struct text_house *h) {
    memset(h, 0, sizeof(*h));
    metrics_init(&h->metrics);
    ck_assert_int_eq(mapped_file_open(&h->file, tiny_model_path(), NULL), OK);
    arena_init(&h->model.arena, 64 << 20);
    ck_assert_int_eq(gguf_parse(&h->model.gguf, h->file.bytes, h->file.n_bytes, "tiny",
                                &h->model.arena, NULL),
                     OK);
    ck_assert_int_eq(tokenizer_from_gguf(&h->model.tokenizer, &h->model.gguf, NULL, "tiny",
                                         &h->model.arena, NULL),
                     OK);
    ck_assert_int_eq(chat_template_read(&h->model.chat, &h->model.gguf, NULL,
                                        &h->model.tokenizer, &h->model.arena, NULL),
                     OK);
    sampling_defaults_init(&h->model.sampling);
    fake_engine_init(&h->engine, h->scripts, 0, h->model.tokenizer.n_vocab, TEXT_CONTEXT);
    h->engine.on_idle = on_idle;
    h->engine.ctx = h;
    arena_init(&h->arena, 1 << 20);
    ck_assert_int_eq(exchange_queues_open(&h->queues, &h->arena, NULL), OK);
    clock_init_virtual(&h->clock, 0);
}

void text_house_close(struct text_house *h) {
    for (int i = 0; i < MAX_EXCHANGES; i++) outcome_free(&h->outcomes[i]);
    exchange_queues_close(&h->queues);
    arena_free(&h->arena);
    arena_free(&h->model.arena);
    mapped_file_close(&h->file);
}

exchange_id text_house_send_scoped(struct text_house *h, enum route route, const char *body,
                                   uint64_t cache_scope) {
    size_t n = strlen(body);
    struct job job = {.kind = JOB_REQUEST,
                      .exchange = ++h->last,
                      .route = route,
                      .body = malloc(n + 1),
                      .n_body = n,
                      .cache_scope = cache_scope};
    memcpy(job.body, body, n + 1);
    ck_assert_int_lt((int)h->last, MAX_EXCHANGES);
    text_house_put(h, job);
    return h->last;
}

exchange_id text_house_send(struct text_house *h, enum route route, const char *body) {
    return text_house_send_scoped(h, route, body, 1);
}

struct text_worker_options text_house_options(struct text_house *h) {
    return (struct text_worker_options){
        .served = {.engine = &h->engine.base,
                   .model = &h->model,
                   .id = "tiny",
                   .created_s = 5},
        .queues = &h->queues,
        .clock = &h->clock,
        .metrics = &h->metrics,
        .log = &h->log
    };
}

void text_house_run(struct text_house *h) {
    struct text_worker_options options = text_house_options(h);
    struct delivery d;
    text_worker_run(&options);
    while (ring_take(&h->queues.deliveries, &d)) outcome_take(&h->outcomes[d.exchange], &d);
    ck_assert_int_eq(fake_engine_running(&h->engine), 0); // conservation
}

token_id text_house_id(const struct text_house *h, const char *bytes, size_t n) {
    const struct tokenizer *t = &h->model.tokenizer;
    for (token_id id = 0; id < t->n_vocab; id++) {
        struct token_piece piece = tokenizer_piece(t, id, true);
        if (piece.n_bytes == n && memcmp(piece.bytes, bytes, n) == 0) return id;
    }
    ck_abort_msg("no such piece");
    return -1;
}

struct fake_script *text_house_script(struct text_house *h, const char *text) {
    int i = h->engine.n_scripts++;
    struct fake_script *script = &h->scripts[i];
    *script = (struct fake_script){.ids = h->ids[i], .reason = FINISH_STOP, .n_cached = 2};
    for (const char *c = text; *c; c++) {
        ck_assert_int_lt(script->n_ids, MAX_SCRIPT);
        h->ids[i][script->n_ids++] = text_house_id(h, c, 1);
    }
    return script;
}

void text_house_stuck(struct text_house *h) {
    h->scripts[h->engine.n_scripts++] = (struct fake_script){.is_stuck = true};
}
