// The text worker from jobs to deliveries, with the tiny model's tokenizer and an engine that reads
// its answers from a script.
#include "level2-operator/text_worker.h"

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mapped_file.h"
#include "tests/support/fake_engine.h"
#include "tests/support/outcome.h"
#include "tests/support/suite.h"

enum { N_CTX = 200, MAX_EXCHANGES = 16 };
enum { MAX_SCRIPTS = 4, MAX_SCRIPT = 64 };

struct house {
    struct mapped_file file;
    struct model model;
    struct arena arena; // of the queues
    struct fake_engine engine;
    struct fake_script scripts[MAX_SCRIPTS];
    token_id ids[MAX_SCRIPTS][MAX_SCRIPT];
    struct exchange_queues queues;
    struct clock clock;
    struct log log;
    exchange_id last;
    int n_idle;
    void (*idle)(struct house *h); // NULL: stop as soon as nothing is left to do
    struct outcome outcomes[MAX_EXCHANGES];
};

static void put_job(struct house *h, struct job job) {
    ck_assert(ring_put(&h->queues.jobs, &job));
    os_signal_raise(&h->queues.jobs_signal);
}

static void on_idle(void *ctx) {
    struct house *h = ctx;
    if (ring_space(&h->queues.jobs) < LIMIT_JOBS) return; // jobs before rest
    h->n_idle++;
    if (h->idle) {
        h->idle(h);
    } else {
        put_job(h, (struct job){.kind = JOB_STOP});
    }
}

static void open_house(struct house *h) {
    memset(h, 0, sizeof(*h));
    ck_assert_int_eq(mapped_file_open(&h->file, tiny_model_path(), NULL), OK);
    arena_init(&h->model.arena, 64 << 20);
    ck_assert_int_eq(gguf_parse(&h->model.gguf, h->file.bytes, h->file.n_bytes, "tiny",
                                &h->model.arena, NULL),
                     OK);
    ck_assert_int_eq(tokenizer_init(&h->model.tokenizer, &h->model.gguf, NULL, "tiny",
                                    &h->model.arena, NULL),
                     OK);
    h->model.chat = chat_template_find(&h->model.gguf);
    fake_engine_init(&h->engine, h->scripts, 0, h->model.tokenizer.n_vocab, N_CTX);
    h->engine.on_idle = on_idle;
    h->engine.ctx = h;
    arena_init(&h->arena, 1 << 20);
    ck_assert_int_eq(exchange_queues_open(&h->queues, &h->arena, NULL), OK);
    clock_init_virtual(&h->clock, 0);
}

static void close_house(struct house *h) {
    for (int i = 0; i < MAX_EXCHANGES; i++) outcome_free(&h->outcomes[i]);
    exchange_queues_close(&h->queues);
    arena_free(&h->arena);
    arena_free(&h->model.arena);
    mapped_file_close(&h->file);
}

static exchange_id send_scoped(struct house *h, enum route route, const char *body,
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
    put_job(h, job);
    return h->last;
}

static exchange_id send(struct house *h, enum route route, const char *body) {
    return send_scoped(h, route, body, 1);
}

static struct text_worker_options options_of(struct house *h) {
    return (struct text_worker_options){
        .served = {.engine = &h->engine.base,
                   .model = &h->model,
                   .id = "tiny",
                   .created_s = 5},
        .queues = &h->queues,
        .clock = &h->clock,
        .log = &h->log
    };
}

static void run(struct house *h) {
    struct text_worker_options options = options_of(h);
    struct delivery d;
    text_worker_run(&options);
    while (ring_take(&h->queues.deliveries, &d)) outcome_take(&h->outcomes[d.exchange], &d);
    ck_assert_int_eq(fake_engine_running(&h->engine), 0); // conservation
}

// ---- scripts

static token_id id_of_bytes(const struct tokenizer *t, const char *bytes, size_t n) {
    for (token_id id = 0; id < t->n_vocab; id++) {
        struct token_piece piece = tokenizer_piece(t, id, true);
        if (piece.n_bytes == n && memcmp(piece.bytes, bytes, n) == 0) return id;
    }
    ck_abort_msg("no such piece");
    return -1;
}

// One token per byte, so that every character is cut and every stop string spread.
static struct fake_script *add_script(struct house *h, const char *text) {
    int i = h->engine.n_scripts++;
    struct fake_script *script = &h->scripts[i];
    *script = (struct fake_script){.ids = h->ids[i], .reason = FINISH_STOP, .n_cached = 2};
    for (const char *c = text; *c; c++) {
        ck_assert_int_lt(script->n_ids, MAX_SCRIPT);
        h->ids[i][script->n_ids++] = id_of_bytes(&h->model.tokenizer, c, 1);
    }
    return script;
}

static void add_stuck(struct house *h) {
    h->scripts[h->engine.n_scripts++] = (struct fake_script){.is_stuck = true};
}

static json_t *error_of(const struct outcome *o) {
    json_t *body = json_loadb(o->bytes, o->n_bytes, 0, NULL);
    ck_assert_msg(body != NULL, "%s", o->bytes);
    ck_assert_uint_eq(json_object_size(json_object_get(body, "error")), 4);
    return body;
}

static void assert_refused(const struct outcome *o, int http_status, const char *param,
                           const char *code) {
    ck_assert(o->n_replies == 1 && o->n_heads == 0);
    ck_assert_msg(o->http_status == http_status, "%d: %s", o->http_status, o->bytes);
    json_t *body = error_of(o), *error = json_object_get(body, "error");
    const char *got_param = json_string_value(json_object_get(error, "param"));
    const char *got_code = json_string_value(json_object_get(error, "code"));
    ck_assert_msg(param ? got_param && !strcmp(got_param, param) : !got_param, "%s",
                  o->bytes);
    ck_assert_msg(code ? got_code && !strcmp(got_code, code) : !got_code, "%s", o->bytes);
    json_decref(body);
}

#define CHAT_HEAD                                                                          \
    "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]"

// ---- stream and whole

static const struct {
    const char *name, *drawn, *fields, *want, *finish;
    int n_completion;
} answers[] = {
    {"plain text",                  "Hello you",                 "",                            "Hello you",          "stop",   9 },
    {"a character in four tokens",  "a\xF0\x9F\x98\x80z",        "",                            "a\xF0\x9F\x98\x80z", "stop",
     6                                                                                                                            },
    {"half a character at the end", "ab\xF0\x9F\x98\x80",        ",\"max_tokens\":5",
     "ab\xEF\xBF\xBD",                                                                                                "length", 5 },
    {"a stop string over tokens",   "The quick brown fox jumps", ",\"stop\":\"own fox\"",
     "The quick br",                                                                                                  "stop",   19},
    {"a held tail at the end",      "to the E",                  ",\"stop\":[\"END\",\"xyz\"]", "to the E",
     "stop",                                                                                                                    8 },
    {"a held tail that goes on",    "ENEND",                     ",\"stop\":\"END\"",           "EN",                 "stop",   5 },
    {"a stop string that is shown", "one two",
     ",\"stop\":\" t\",\"include_stop_str_in_output\":true",                                    "one t",              "stop",   5 },
    {"one token",                   "Hello",                     ",\"max_tokens\":1",           "H",                  "length", 1 },
    {"no token",                    "",                          "",                            "",                   "stop",   0 },
};

static void assert_answer(const struct reading *r, int row) {
    ck_assert_int_eq(r->n_choices, 1);
    ck_assert_msg(strcmp(r->text[0], answers[row].want) == 0, "%s: \"%s\"",
                  answers[row].name, r->text[0]);
    ck_assert_str_eq(r->finish[0], answers[row].finish);
    ck_assert(r->has_usage && r->n_cached == 2);
    ck_assert_int_eq((int)r->n_completion, answers[row].n_completion);
    ck_assert(r->n_prompt > 2 && r->n_total == r->n_prompt + r->n_completion);
}

START_TEST(streamed_or_whole_is_the_same_answer) {
    struct house h;
    static const int batches[] = {1, 3, 64};
    char body[512];

    for (int k = 0; k < 6; k++) {
        enum route route = k < 3 ? ROUTE_CHAT : ROUTE_COMPLETIONS;
        const char *head =
            k < 3 ? CHAT_HEAD
                  : "{\"model\":\"default\",\"max_tokens\":40,\"prompt\":\"Once upon\"";
        open_house(&h);
        add_script(&h, answers[_i].drawn);
        h.engine.tokens_per_poll = batches[k % 3];
        // max_tokens of the row is the newer name, so that it wins over the head's
        char fields[128];
        snprintf(fields, sizeof(fields), "%s", answers[_i].fields);
        char *old = strstr(fields, "\"max_tokens\"");
        snprintf(body, sizeof(body), "%s%.*s%s%s}", head, old ? (int)(old - fields) : 128,
                 fields, old ? "\"max_completion_tokens\"" : "", old ? old + 12 : "");
        exchange_id whole = send(&h, route, body);
        size_t n = strlen(body) - 1;
        snprintf(body + n, sizeof(body) - n,
                 ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
        exchange_id stream = send(&h, route, body);
        run(&h);

        struct reading a = outcome_read_body(&h.outcomes[whole]),
                       b = outcome_read_stream(&h.outcomes[stream]);
        ck_assert_int_eq(h.outcomes[whole].http_status, 200);
        assert_answer(&a, _i);
        assert_answer(&b, _i);
        ck_assert(a.n_prompt == b.n_prompt);
        ck_assert_int_eq(b.n_roles, route == ROUTE_CHAT);
        for (exchange_id e = whole; e <= stream; e++) { // for the access log
            ck_assert(h.outcomes[e].n_prompt == a.n_prompt && h.outcomes[e].n_cached == 2);
            ck_assert_int_eq(h.outcomes[e].n_completion, answers[_i].n_completion);
        }
        close_house(&h);
    }
}
END_TEST

START_TEST(a_stream_without_the_wish_has_no_usage) {
    struct house h;
    open_house(&h);
    add_script(&h, "Hello");
    exchange_id e = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
    run(&h);
    struct reading r = outcome_read_stream(&h.outcomes[e]);
    ck_assert(!r.has_usage);
    ck_assert_ptr_null(strstr(h.outcomes[e].bytes, "usage"));
    ck_assert_ptr_null(strstr(h.outcomes[e].bytes, "\"choices\":[]"));
    ck_assert_str_eq(r.text[0], "Hello");
    close_house(&h);
}
END_TEST

START_TEST(answers_are_numbered_prompt_by_prompt) {
    for (int stream = 0; stream < 2; stream++) {
        struct house h;
        static const char *const texts[] = {"zero", "one", "two", "three"};
        char body[256];
        open_house(&h);
        for (int i = 0; i < 4; i++) add_script(&h, texts[i]);
        snprintf(body, sizeof(body),
                 "{\"model\":\"tiny\",\"prompt\":[[7,8],[9]],\"n\":2,\"stream\":%s,"
                 "\"stream_options\":{\"include_usage\":true}}",
                 stream ? "true" : "false");
        exchange_id e = send(&h, ROUTE_COMPLETIONS, body);
        run(&h);
        struct reading r = stream ? outcome_read_stream(&h.outcomes[e])
                                  : outcome_read_body(&h.outcomes[e]);
        ck_assert_int_eq(r.n_choices, 4);
        for (int i = 0; i < 4; i++) {
            ck_assert_str_eq(r.text[i], texts[i]);
            ck_assert_int_eq(h.engine.requests[i].first_id, i < 2 ? 7 : 9);
            ck_assert_uint_eq(h.engine.requests[i].params.choice, (unsigned)i % 2);
        }
        ck_assert_int_eq((int)r.n_prompt, 3); // once per prompt
        ck_assert_int_eq((int)r.n_completion, 15);
        close_house(&h);
    }
}
END_TEST

START_TEST(log_probabilities_are_filled) {
    struct house h;
    token_id best;
    open_house(&h);
    best = id_of_bytes(&h.model.tokenizer, "J", 1);
    add_script(&h, "H")->best = &best; // the second-best token is drawn
    exchange_id legacy =
        send(&h, ROUTE_COMPLETIONS,
             "{\"model\":\"tiny\",\"prompt\":\"a\",\"logprobs\":2,\"max_tokens\":1}");
    exchange_id chat = send(
        &h, ROUTE_CHAT, CHAT_HEAD ",\"logprobs\":true,\"top_logprobs\":2,\"stream\":true}");
    run(&h);
    const char *bytes = h.outcomes[legacy].bytes;
    ck_assert_ptr_nonnull(strstr(bytes, "\"logprobs\":{\"tokens\":[\"H\"]"));
    ck_assert_ptr_nonnull(strstr(bytes, "\"token_logprobs\":[-1.38629436]"));
    ck_assert_ptr_nonnull(strstr(bytes, "\"J\":-0.69314718"));
    bytes = h.outcomes[chat].bytes;
    ck_assert_ptr_nonnull(strstr(bytes,
                                 "{\"token\":\"H\",\"logprob\":-1.38629436,\"bytes\":[72],"
                                 "\"top_logprobs\":[{\"token\":\"J\","));
    outcome_read_stream(&h.outcomes[chat]);
    close_house(&h);
}
END_TEST

// ---- refusals

static const struct {
    enum route route;
    const char *body;
    int http_status;
    const char *param, *code;
} refusals[] = {
    {ROUTE_CHAT,           "{:\"model\":\"x\"}",                                    400, NULL,         NULL             },
    {ROUTE_CHAT,           "",                                                      400, NULL,         NULL             },
    {ROUTE_COMPLETIONS,    "{\"a\":",                                               400, NULL,         NULL             },
    {ROUTE_CHAT,
     "{\"model\":\"other\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}", 404,
     "model",                                                                                          "model_not_found"},
    {ROUTE_COMPLETIONS,    "{\"model\":\"tiny\",\"prompt\":\"\"}",                  400, "prompt",     NULL             },
    {ROUTE_COMPLETIONS,    "{\"model\":\"tiny\",\"prompt\":[]}",                    400, "prompt",     NULL             },
    {ROUTE_COMPLETIONS,    "{\"model\":\"tiny\",\"prompt\":[\"a\",\"\"]}",          400, "prompt",
     NULL                                                                                                               },
    {ROUTE_CHAT,           CHAT_HEAD ",\"n\":1000000}",                             400, "n",          NULL             },
    {ROUTE_CHAT,           CHAT_HEAD ",\"logit_bias\":{\"191222\":-100}}",          400, "logit_bias", NULL             },
    {ROUTE_CHAT,           CHAT_HEAD ",\"tools\":[{}]}",                            400, "tools",      NULL             },
    {ROUTE_TOKENIZE,       "{}",                                                    400, "content",    NULL             },
    {ROUTE_TOKENIZE,       "{\"content\":5}",                                       400, "content",    NULL             },
    {ROUTE_TOKENIZE,       "[",                                                     400, NULL,         NULL             },
    {ROUTE_DETOKENIZE,     "{}",                                                    400, "tokens",     NULL             },
    {ROUTE_DETOKENIZE,     "{\"tokens\":[-1]}",                                     400, "tokens",     NULL             },
    {ROUTE_DETOKENIZE,     "{\"tokens\":[1000000]}",                                400, "tokens",     NULL             },
    {ROUTE_APPLY_TEMPLATE, "{}",                                                    400, "messages",   NULL             },
};

START_TEST(a_refusal_is_an_error_object_and_the_next_request_works) {
    struct house h;
    open_house(&h);
    add_script(&h, "Hello");
    exchange_id bad = send(&h, refusals[_i].route, refusals[_i].body);
    exchange_id good = send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    run(&h);
    assert_refused(&h.outcomes[bad], refusals[_i].http_status, refusals[_i].param,
                   refusals[_i].code);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[good]).text[0], "Hello");
    close_house(&h);
}
END_TEST

START_TEST(too_long_names_both_counts_and_truncates_nothing) {
    struct house h;
    char body[200000], longer[2 * N_CTX];
    open_house(&h);
    add_script(&h, "Hello");

    memset(longer, '7', sizeof(longer)); // a digit is a token
    snprintf(body, sizeof(body), "{\"model\":\"tiny\",\"prompt\":\"%.*s\"}", N_CTX + 3,
             longer);
    exchange_id above = send(&h, ROUTE_COMPLETIONS, body);
    snprintf(body, sizeof(body), "{\"model\":\"tiny\",\"prompt\":\"%.*s\"}", N_CTX, longer);
    exchange_id full = send(&h, ROUTE_COMPLETIONS, body);
    snprintf(body, sizeof(body),
             "{\"model\":\"tiny\",\"prompt\":\"%.*s\",\"max_tokens\":50}", N_CTX - 1,
             longer);
    exchange_id just = send(&h, ROUTE_COMPLETIONS, body);
    memset(body, 'a', sizeof(body));
    memcpy(body, "{\"model\":\"tiny\",\"prompt\":\"", 26);
    strcpy(body + sizeof(body) - 3, "\"}");
    exchange_id huge = send(&h, ROUTE_COMPLETIONS, body);
    run(&h);

    assert_refused(&h.outcomes[above], 400, "prompt", "context_length_exceeded");
    ck_assert_ptr_nonnull(strstr(h.outcomes[above].bytes, "203 tokens"));
    ck_assert_ptr_nonnull(strstr(h.outcomes[above].bytes, "200"));
    assert_refused(&h.outcomes[full], 400, "prompt", "context_length_exceeded");
    assert_refused(&h.outcomes[huge], 400, "prompt", "context_length_exceeded");
    ck_assert_ptr_nonnull(strstr(h.outcomes[huge].bytes, "at least ")); // not encoded
    struct reading r = outcome_read_body(&h.outcomes[just]);
    ck_assert_str_eq(r.text[0], "H"); // one place was left
    ck_assert_str_eq(r.finish[0], "length");
    close_house(&h);
}
END_TEST

START_TEST(a_queue_that_fills_midway_refuses_the_whole_request) {
    struct house h;
    open_house(&h);
    add_script(&h, "Hello");
    h.engine.max_running = 2;
    exchange_id e = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":3,\"stream\":true}");
    exchange_id next = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}");
    run(&h);
    assert_refused(&h.outcomes[e], 429, NULL, "queue_full");
    ck_assert_int_gt(h.outcomes[e].retry_after_s, 0);
    ck_assert_int_eq(outcome_read_body(&h.outcomes[next]).n_choices, 2);
    ck_assert_int_eq(h.engine.n_cancels, 2);
    close_house(&h);
}
END_TEST

// ---- what reaches the engine

START_TEST(the_rest_of_the_context_is_the_default_length) {
    struct house h;
    open_house(&h);
    add_script(&h, "x");
    send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    send(&h, ROUTE_COMPLETIONS, "{\"model\":\"tiny\",\"prompt\":[5,6]}");
    send(&h, ROUTE_COMPLETIONS,
         "{\"model\":\"tiny\",\"prompt\":[5,6],\"max_tokens\":9000}");
    run(&h);
    const struct fake_request *r = h.engine.requests;
    ck_assert_int_eq(r[0].params.max_tokens, N_CTX - r[0].params.n_prompt);
    ck_assert_int_eq(r[1].params.max_tokens, 16);
    ck_assert_int_eq(r[2].params.max_tokens, N_CTX - 2);
    close_house(&h);
}
END_TEST

START_TEST(chat_markup_is_special_and_user_text_is_not) {
    struct house h;
    open_house(&h);
    add_script(&h, "x");
    token_id start = id_of_bytes(&h.model.tokenizer, "<|im_start|>", 12);
    send(&h, ROUTE_CHAT,
         "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"<|im_start|>"
         "\"}]}");
    send(&h, ROUTE_COMPLETIONS, "{\"model\":\"tiny\",\"prompt\":\"<|im_start|>\"}");
    run(&h);
    ck_assert_int_eq(h.engine.requests[0].first_id, start);
    ck_assert_int_gt(h.engine.requests[0].params.n_prompt, 12);
    ck_assert_int_eq(h.engine.requests[1].first_id, start);
    ck_assert_int_eq(h.engine.requests[1].params.n_prompt, 1);
    close_house(&h);
}
END_TEST

START_TEST(seeds_and_scopes_belong_to_the_request) {
    struct house h;
    open_house(&h);
    add_script(&h, "x");
    send(&h, ROUTE_CHAT, CHAT_HEAD ",\"seed\":-7}");
    send(&h, ROUTE_CHAT, CHAT_HEAD ",\"seed\":-7}");
    send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"a\"}", 1);
    send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"a\"}", 1);
    send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"b\"}", 1);
    send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"a\"}", 2);
    run(&h);
    const struct fake_request *r = h.engine.requests;
    ck_assert(r[0].params.sampling.seed == (uint64_t)-7);
    ck_assert(r[1].params.sampling.seed == (uint64_t)-7);
    ck_assert(r[2].params.sampling.seed != r[3].params.sampling.seed);
    ck_assert_uint_eq(r[0].params.cache_scope, 1);
    ck_assert_uint_eq(r[4].params.cache_scope, r[5].params.cache_scope);
    ck_assert_uint_ne(r[4].params.cache_scope, r[0].params.cache_scope);
    ck_assert_uint_ne(r[4].params.cache_scope, r[6].params.cache_scope);
    ck_assert_uint_ne(r[4].params.cache_scope, r[7].params.cache_scope);
    close_house(&h);
}
END_TEST

START_TEST(a_stop_string_frees_the_engine) {
    struct house h;
    open_house(&h);
    add_script(&h, "abcdefgh");
    exchange_id e = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stop\":\"cd\"}");
    run(&h);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[e]).text[0], "ab");
    ck_assert_int_eq(h.engine.n_cancels, 1);
    ck_assert_int_lt(h.engine.requests[0].n_drawn, 8);
    close_house(&h);
}
END_TEST

// ---- clients that leave, engines that fail, an end of it all

static void leave_then_stop(struct house *h) {
    if (h->n_idle == 1) {
        put_job(h, (struct job){.kind = JOB_GONE, .exchange = 1});
        put_job(h, (struct job){.kind = JOB_GONE, .exchange = 99}); // nobody
    } else {
        put_job(h, (struct job){.kind = JOB_STOP});
    }
}

START_TEST(a_client_that_left_gets_nothing_and_frees_the_engine) {
    struct house h;
    open_house(&h);
    add_stuck(&h);
    add_stuck(&h);
    add_script(&h, "Hello");
    h.idle = leave_then_stop;
    exchange_id gone = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2,\"stream\":true}");
    exchange_id next = send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    run(&h);
    ck_assert(h.outcomes[gone].n_heads == 1 && h.outcomes[gone].n_data == 0);
    ck_assert(h.outcomes[gone].n_ends == 0 && h.outcomes[gone].n_replies == 0);
    ck_assert_int_eq(h.engine.n_cancels, 2);
    ck_assert(h.engine.requests[0].is_over && h.engine.requests[1].is_over);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[next]).text[0], "Hello");
    close_house(&h);
}
END_TEST

START_TEST(stopping_cancels_what_runs) {
    struct house h;
    open_house(&h);
    add_stuck(&h);
    send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}");
    send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
    run(&h); // asserts that nothing runs
    ck_assert_int_eq(h.engine.n_cancels, 3);
    close_house(&h);
}
END_TEST

START_TEST(a_failure_of_the_engine_is_told) {
    struct house h;
    open_house(&h);
    struct fake_script *failing = add_script(&h, "Hi");
    failing->reason = FINISH_ERROR;
    failing->error = ERR_NUMERIC;
    add_stuck(&h);
    exchange_id whole = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}");
    exchange_id stream = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2,\"stream\":true}");
    run(&h);
    assert_refused(&h.outcomes[whole], 500, NULL, "internal_error");
    const struct outcome *o = &h.outcomes[stream];
    ck_assert(o->n_heads == 1 && o->n_ends == 1);
    ck_assert_ptr_null(strstr(o->bytes, "[DONE]"));
    ck_assert_ptr_nonnull(strstr(o->bytes, "\"content\":\"H\""));
    const char *last = strstr(o->bytes, "data: {\"error\":{");
    ck_assert_ptr_nonnull(last);
    ck_assert_str_eq(strstr(last, "\n\n"), "\n\n"); // nothing behind it
    ck_assert_int_eq(h.engine.n_cancels, 2);        // the other choices
    close_house(&h);
}
END_TEST

// ---- the routes without an engine

static const struct {
    enum route route;
    const char *body, *want;
} tools[] = {
    {ROUTE_DETOKENIZE,     "{\"tokens\":[]}",                                    "{\"content\":\"\"}"                                  },
    {ROUTE_TOKENIZE,       "{\"content\":\"\"}",                                 "{\"tokens\":[]}"                                     },
    {ROUTE_TOKENIZE,       "{\"content\":\"<|im_start|>\"}",                     "{\"tokens\":[1]}"                                    },
    {ROUTE_TOKENIZE,       "{\"prompt\":\"<|im_start|>\",\"add_special\":true}",
     "{\"tokens\":[1]}"                                                                                                                },
    {ROUTE_DETOKENIZE,     "{\"tokens\":[1,2]}",                                 "{\"content\":\"<|im_start|><|im_end|>\"}"            },
    {ROUTE_APPLY_TEMPLATE,
     "{\"messages\":[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\","
     "\"content\":\"U\"}]}",                                                     "{\"prompt\":\"<|im_start|>system\\nS<|im_end|>\\n<|im_start|>user\\nU<|im_end|>\\n"
     "<|im_start|>assistant\\n\"}"                                                                         },
    {ROUTE_APPLY_TEMPLATE,
     "{\"messages\":[{\"role\":\"system\",\"content\":\"S\"}],\"add_generation_prompt\":"
     "false}",                                                                   "{\"prompt\":\"<|im_start|>system\\nS<|im_end|>\\n\"}"},
};

START_TEST(tools_answer_at_once) {
    struct house h;
    open_house(&h);
    exchange_id e = send(&h, tools[_i].route, tools[_i].body);
    run(&h);
    ck_assert_int_eq(h.outcomes[e].http_status, 200);
    ck_assert_str_eq(h.outcomes[e].bytes, tools[_i].want);
    close_house(&h);
}
END_TEST

START_TEST(special_text_is_plain_on_demand) {
    struct house h;
    char body[512];
    open_house(&h);
    exchange_id e =
        send(&h, ROUTE_TOKENIZE,
             "{\"content\":\"a<|im_end|>b \\u00e9\\n\",\"parse_special\":false}");
    run(&h);
    json_t *reply = json_loads(h.outcomes[e].bytes, 0, NULL);
    json_t *tokens = json_object_get(reply, "tokens");
    ck_assert_uint_gt(json_array_size(tokens), 6);
    char *ids = json_dumps(tokens, JSON_COMPACT);
    snprintf(body, sizeof(body), "{\"tokens\":%s}", ids); // and back
    free(ids);
    json_decref(reply);
    e = send(&h, ROUTE_DETOKENIZE, body);
    run(&h);
    ck_assert_str_eq(h.outcomes[e].bytes, "{\"content\":\"a<|im_end|>b \xc3\xa9\\n\"}");
    close_house(&h);
}
END_TEST

// ---- pressure

static void *run_in_thread(void *options) {
    text_worker_run(options);
    return NULL;
}

// More deliveries than fit, and nobody takes them for a while: nothing is lost.
START_TEST(a_full_delivery_queue_is_waited_for) {
    struct house h;
    const int n_jobs = LIMIT_JOBS - 1, n_rounds = 6; // 1530 replies
    struct delivery d;
    pthread_t thread;
    int n_taken = 0;

    open_house(&h);
    h.engine.on_idle = NULL;
    struct text_worker_options options = options_of(&h);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_in_thread, &options), 0);
    for (int i = 0; i < n_rounds * n_jobs; i++) {
        struct job job = {.kind = JOB_REQUEST,
                          .exchange = 1,
                          .route = ROUTE_TOKENIZE,
                          .body = strdup("{\"content\":\"a\"}"),
                          .n_body = 15};
        while (!ring_put(&h.queues.jobs, &job)) {
            os_signal_raise(&h.queues.jobs_signal);
            if (i > 5 * n_jobs && ring_take(&h.queues.deliveries, &d)) {
                free(d.bytes);
                n_taken++;
            }
            poll(NULL, 0, 1);
        }
    }
    os_signal_raise(&h.queues.jobs_signal);
    while (n_taken < n_rounds * n_jobs) {
        if (ring_take(&h.queues.deliveries, &d)) {
            ck_assert_int_eq(d.http_status, 200);
            free(d.bytes);
            n_taken++;
        } else {
            poll(NULL, 0, 1);
        }
    }
    put_job(&h, (struct job){.kind = JOB_STOP});
    pthread_join(thread, NULL);
    ck_assert(!ring_take(&h.queues.deliveries, &d));
    close_house(&h);
}
END_TEST

static long allocs_left;

static void *failing_malloc(size_t n_bytes) {
    return allocs_left-- > 0 ? malloc(n_bytes) : NULL;
}

// A stream may be cut, but never inside an event.
static void assert_whole_events(const struct outcome *o) {
    for (const char *at = o->bytes; at && *at;) {
        const char *end = strstr(at, "\n\n");
        ck_assert_msg(end && strncmp(at, "data: ", 6) == 0, "%s", at);
        at = end + 2;
    }
}

// Whatever fails, every exchange comes to its end and nothing stays in the engine.
START_TEST(every_failed_JSON_allocation_ends_the_exchange) {
    struct house h;
    bool succeeded = false;

    for (long n = 0; n < 4000 && !succeeded; n += 1 + n / 16) {
        open_house(&h);
        add_script(&h, "Hey");
        exchange_id whole = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"logprobs\":true}");
        exchange_id stream = send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
        json_set_alloc_funcs(failing_malloc, free);
        allocs_left = n;
        run(&h);
        succeeded = allocs_left >= 0;
        json_set_alloc_funcs(malloc, free);
        ck_assert_int_eq(h.outcomes[whole].n_replies, 1);
        ck_assert_int_eq(h.outcomes[stream].n_replies + h.outcomes[stream].n_ends, 1);
        if (h.outcomes[stream].n_ends) assert_whole_events(&h.outcomes[stream]);
        if (succeeded) ck_assert_int_eq(h.outcomes[whole].http_status, 200);
        close_house(&h);
    }
    ck_assert(succeeded);
}
END_TEST

START_TEST(queues_need_their_memory_and_close_twice) {
    bool succeeded = false;
    for (long n = 0; n < 10 && !succeeded; n++) {
        struct exchange_queues queues;
        struct arena arena;
        struct error err = {0};
        arena_init(&arena, 1 << 20);
        arena_fail_after(&arena, n);
        enum status st = exchange_queues_open(&queues, &arena, &err);
        succeeded = st == OK;
        if (st) ck_assert(st == ERR_MEMORY && err.code == st);
        if (succeeded) { // what is left inside is freed
            struct job job = {.body = malloc(10)};
            struct delivery d = {.bytes = malloc(10)};
            ck_assert(ring_put(&queues.jobs, &job) && ring_put(&queues.deliveries, &d));
        }
        exchange_queues_close(&queues);
        exchange_queues_close(&queues);
        arena_free(&arena);
    }
    ck_assert(succeeded);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *suite(void) {
    Suite *s = suite_create("level2/text_worker");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");
    TCase *failures = tcase_create("failures");
    TCase *property = tcase_create("property");

    tcase_add_loop_test(property, streamed_or_whole_is_the_same_answer, 0, ROWS(answers));
    tcase_add_test(reference, a_stream_without_the_wish_has_no_usage);
    tcase_add_test(reference, answers_are_numbered_prompt_by_prompt);
    tcase_add_test(reference, log_probabilities_are_filled);
    tcase_add_test(reference, the_rest_of_the_context_is_the_default_length);
    tcase_add_test(reference, chat_markup_is_special_and_user_text_is_not);
    tcase_add_test(reference, seeds_and_scopes_belong_to_the_request);
    tcase_add_loop_test(reference, tools_answer_at_once, 0, ROWS(tools));
    tcase_add_test(reference, special_text_is_plain_on_demand);
    tcase_add_loop_test(edges, a_refusal_is_an_error_object_and_the_next_request_works, 0,
                        ROWS(refusals));
    tcase_add_test(edges, too_long_names_both_counts_and_truncates_nothing);
    tcase_add_test(edges, a_stop_string_frees_the_engine);
    tcase_add_test(edges, a_client_that_left_gets_nothing_and_frees_the_engine);
    tcase_add_test(edges, stopping_cancels_what_runs);
    tcase_add_test(failures, a_queue_that_fills_midway_refuses_the_whole_request);
    tcase_add_test(failures, a_failure_of_the_engine_is_told);
    tcase_add_test(failures, a_full_delivery_queue_is_waited_for);
    tcase_add_test(failures, every_failed_JSON_allocation_ends_the_exchange);
    tcase_add_test(failures, queues_need_their_memory_and_close_twice);
    tcase_set_timeout(failures, 60);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    suite_add_tcase(s, property);
    return s;
}
