// The text worker when something is wrong: bad requests, clients that leave, engines that fail, queues
// that are full, memory that ends.
#include "level2-operator/api/text_worker.h"

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/text_house.h"

// ---- refusals -----------------------------------------------------------------------------------

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
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "Hello");
    exchange_id bad = text_house_send(&h, refusals[_i].route, refusals[_i].body);
    exchange_id good = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_run(&h);
    outcome_assert_refused(&h.outcomes[bad], refusals[_i].http_status, refusals[_i].param,
                           refusals[_i].code);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[good]).text[0], "Hello");
    text_house_close(&h);
}
END_TEST

// ---- clients that leave, engines that fail, an end of it all ------------------------------------

static void leave_then_stop(struct text_house *h) {
    if (h->n_idle == 1) {
        text_house_put(h, (struct job){.kind = JOB_GONE, .exchange = 1});
        text_house_put(h, (struct job){.kind = JOB_GONE, .exchange = 99}); // nobody
    } else {
        text_house_put(h, (struct job){.kind = JOB_STOP});
    }
}

START_TEST(a_client_that_left_gets_nothing_and_frees_the_engine) {
    struct text_house h;
    text_house_open(&h);
    text_house_stuck(&h);
    text_house_stuck(&h);
    text_house_script(&h, "Hello");
    h.idle = leave_then_stop;
    exchange_id gone =
        text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2,\"stream\":true}");
    exchange_id next = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_run(&h);
    ck_assert(h.outcomes[gone].n_heads == 1 && h.outcomes[gone].n_data == 0);
    ck_assert(h.outcomes[gone].n_ends == 0 && h.outcomes[gone].n_replies == 0);
    ck_assert_int_eq(h.engine.n_cancels, 2);
    ck_assert(h.engine.requests[0].is_over && h.engine.requests[1].is_over);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[next]).text[0], "Hello");
    text_house_close(&h);
}
END_TEST

static void begin(void *house) {
    struct text_house *h = house;
    h->engine.requests[h->engine.n_requests - 1].started_ns = 1;
}

// One of two choices is complete, the other one says nothing yet.
START_TEST(who_leaves_pays_for_what_was_made) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "Hello");
    text_house_stuck(&h);
    h.idle = leave_then_stop;
    h.engine.on_submit = begin;
    exchange_id gone = text_house_send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}", 77);
    text_house_run(&h);
    const struct outcome *o = &h.outcomes[gone];
    ck_assert(o->n_used == 1 && o->n_replies == 0);
    assert_number("tokens drawn", o->n_completion, 5);
    ck_assert_int_gt(o->n_prompt, 0);
    assert_number("of the key", (int64_t)o->key_scope, 77);
    text_house_close(&h);
}
END_TEST

START_TEST(who_leaves_before_his_turn_pays_nothing) {
    struct text_house h;
    text_house_open(&h);
    text_house_stuck(&h);
    h.idle = leave_then_stop;
    exchange_id gone = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_run(&h);
    assert_number("deliveries", h.outcomes[gone].n_used, 0);
    text_house_close(&h);
}
END_TEST

START_TEST(stopping_cancels_what_runs) {
    struct text_house h;
    text_house_open(&h);
    text_house_stuck(&h);
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}");
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
    text_house_run(&h); // asserts that nothing runs
    ck_assert_int_eq(h.engine.n_cancels, 3);
    text_house_close(&h);
}
END_TEST

START_TEST(a_failure_of_the_engine_is_told) {
    struct text_house h;
    text_house_open(&h);
    struct fake_script *failing = text_house_script(&h, "Hi");
    failing->reason = FINISH_ERROR;
    failing->error = ERR_NUMERIC;
    text_house_stuck(&h);
    exchange_id whole = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}");
    exchange_id stream =
        text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2,\"stream\":true}");
    text_house_run(&h);
    outcome_assert_refused(&h.outcomes[whole], 500, NULL, "internal_error");
    const struct outcome *o = &h.outcomes[stream];
    ck_assert(o->n_heads == 1 && o->n_ends == 1);
    ck_assert_ptr_null(strstr(o->bytes, "[DONE]"));
    ck_assert_ptr_nonnull(strstr(o->bytes, "\"content\":\"H\""));
    const char *last = strstr(o->bytes, "data: {\"error\":{");
    ck_assert_ptr_nonnull(last);
    ck_assert_str_eq(strstr(last, "\n\n"), "\n\n"); // nothing behind it
    ck_assert_int_eq(h.engine.n_cancels, 2);        // the other choices
    text_house_close(&h);
}
END_TEST

// ---- pressure -----------------------------------------------------------------------------------

static void *run_in_thread(void *options) {
    text_worker_run(options);
    return NULL;
}

// More deliveries than fit, and nobody takes them for a while: nothing is lost.
START_TEST(a_full_delivery_queue_is_waited_for) {
    struct text_house h;
    const int n_jobs = LIMIT_JOBS - 1, n_rounds = 6; // 1530 replies
    struct delivery d;
    pthread_t thread;
    int n_taken = 0;

    text_house_open(&h);
    h.engine.on_idle = NULL;
    struct text_worker_options options = text_house_options(&h);
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
    text_house_put(&h, (struct job){.kind = JOB_STOP});
    pthread_join(thread, NULL);
    ck_assert(!ring_take(&h.queues.deliveries, &d));
    text_house_close(&h);
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
    struct text_house h;
    bool succeeded = false;

    for (long n = 0; n < 4000 && !succeeded; n += 1 + n / 16) {
        text_house_open(&h);
        text_house_script(&h, "Hey");
        exchange_id whole =
            text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"logprobs\":true}");
        exchange_id stream = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
        json_set_alloc_funcs(failing_malloc, free);
        allocs_left = n;
        text_house_run(&h);
        succeeded = allocs_left >= 0;
        json_set_alloc_funcs(malloc, free);
        ck_assert_int_eq(h.outcomes[whole].n_replies, 1);
        ck_assert_int_eq(h.outcomes[stream].n_replies + h.outcomes[stream].n_ends, 1);
        if (h.outcomes[stream].n_ends) assert_whole_events(&h.outcomes[stream]);
        if (succeeded) ck_assert_int_eq(h.outcomes[whole].http_status, 200);
        text_house_close(&h);
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
    TCase *edges = tcase_create("edges");
    tcase_add_loop_test(edges, a_refusal_is_an_error_object_and_the_next_request_works, 0,
                        ROWS(refusals));
    tcase_add_test(edges, a_client_that_left_gets_nothing_and_frees_the_engine);
    tcase_add_test(edges, who_leaves_pays_for_what_was_made);
    tcase_add_test(edges, who_leaves_before_his_turn_pays_nothing);
    tcase_add_test(edges, stopping_cancels_what_runs);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_failure_of_the_engine_is_told);
    tcase_add_test(failures, a_full_delivery_queue_is_waited_for);
    tcase_add_test(failures, every_failed_JSON_allocation_ends_the_exchange);
    tcase_add_test(failures, queues_need_their_memory_and_close_twice);
    tcase_set_timeout(failures, 60);
    suite_add_tcase(s, failures);
    return s;
}
