// Attempts against a server that fails and then, perhaps, does not. Waits are short here: the policy of
// each test says how short.
#include "level1-user/attempts.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/scripted_server.h"
#include "tests/support/suite.h"

#define HEAD(status, more)                                                                 \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n" more  \
    "\r\n"
#define BUSY HEAD("429 x", "") "{\"error\":{\"message\":\"busy\"}}"
#define BUSY_FOR(wait)                                                                     \
    HEAD("429 x", "Retry-After: " wait "\r\n") "{\"error\":{\"message\":\"busy\"}}"
#define STREAM_HEAD                                                                        \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define HELLO "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"}}]}\n\n"
#define DONE  "data: [DONE]\n\n"

static const int64_t MS = 1000000, SECOND = 1000000000;

static struct scripted_server server;
static struct scripted_piece first[2],
    later[2]; // what is said to the first n_first tries, and then
static int n_first;
static struct clock real_clock;
static struct client client;
static struct attempts attempts;
static struct client_call call;
static struct reply reply;
static struct error err;
static struct text shown;
static volatile sig_atomic_t cancelled;
static bool cancel_at_wait;
static struct attempts_wait waits[8]; // what was told of them
static int n_waits;

static void show(void *ctx, const char *bytes, size_t n_bytes) {
    (void)ctx;
    text_append(&shown, bytes, n_bytes);
}

// The server is asked again only after this returns.
static void note_wait(void *ctx, const struct attempts_wait *wait) {
    (void)ctx;
    waits[n_waits++] = *wait;
    if (n_waits == n_first) server.pieces = later;
    if (cancel_at_wait) cancelled = 1;
}

static void setup(void) {
    clock_init_real(&real_clock);
    reply_init(&reply);
    err = (struct error){0};
    cancelled = 0;
    cancel_at_wait = false;
    n_waits = 0;
    attempts = (struct attempts){
        .client = &client,
        .on_wait = note_wait,
        .policy = {2, MS, 8 * MS, 2 * SECOND},
        .seed = 7,
    };
    call = (struct client_call){
        .body = "{}", .reply = &reply, .on_text = show, .cancelled = &cancelled};
}

static void teardown(void) {
    reply_free(&reply);
    text_free(&shown);
}

// Says failure to the first n_failures tries, and then answer.
static enum status ask(const char *failure, int n_failures, const char *answer,
                       enum scripted_end end) {
    char url[64];
    first[0].bytes = failure;
    later[0].bytes = answer;
    n_first = n_failures;
    scripted_server_start(&server, first, end);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/v1", server.port);
    struct client_options options = {.base_url = url};
    enum status st = client_open(&client, &options, &real_clock, &err);
    if (st == OK) st = attempts_chat(&attempts, &call, &err);
    client_close(&client);
    scripted_server_stop(&server);
    return st;
}

static void assert_ends_with(const char *end) {
    size_t n_text = strlen(err.text), n_end = strlen(end);
    ck_assert_msg(n_text >= n_end && strcmp(err.text + n_text - n_end, end) == 0,
                  "\"%s\" does not end with \"%s\"", err.text, end);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(a_busy_server_is_asked_again_until_it_answers) {
    ck_assert_int_eq(ask(BUSY, 2, STREAM_HEAD HELLO DONE, SCRIPTED_CLOSE), OK);
    ck_assert_str_eq(text_string(&shown), "Hello");
    ck_assert_str_eq(reply_text(&reply), "Hello");
    ck_assert(!reply.has_error); // that of the first tries is forgotten
    ck_assert_int_eq(server.n_requests, 3);
    ck_assert_int_eq(n_waits, 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(waits[i].next_try, i + 2);
        ck_assert_int_eq(waits[i].max_tries, 3);
        ck_assert(!waits[i].is_told && waits[i].wait_ns <= (i + 1) * MS);
    }
    ck_assert_int_ne(waits[0].wait_ns, waits[1].wait_ns); // each draws for itself
}
END_TEST

START_TEST(a_server_that_says_when_is_obeyed) { // CLI-10, with one second
    int64_t begin_ns = clock_now(&real_clock);
    ck_assert_int_eq(ask(BUSY_FOR("1"), 1, STREAM_HEAD HELLO DONE, SCRIPTED_CLOSE), OK);
    ck_assert_int_ge(clock_now(&real_clock) - begin_ns, SECOND);
    ck_assert_int_eq(server.n_requests, 2);
    ck_assert(waits[0].is_told);
    ck_assert_int_eq(waits[0].wait_ns, SECOND);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(the_last_failure_is_told_when_tries_are_used_up) {
    ck_assert_int_eq(ask(BUSY, 9, NULL, SCRIPTED_CLOSE), ERR_BUSY);
    ck_assert_int_eq(server.n_requests, 3);
    assert_ends_with(": 429: busy (gave up after 3 tries)");
}
END_TEST

START_TEST(without_retries_there_is_one_try) {
    attempts.policy.max_retries = 0;
    ck_assert_int_eq(ask(BUSY, 9, NULL, SCRIPTED_CLOSE), ERR_BUSY);
    ck_assert_int_eq(server.n_requests, 1);
    assert_ends_with(": 429: busy");
}
END_TEST

START_TEST(a_refusal_that_is_our_fault_is_not_repeated) {
    const char *answer = HEAD("401 x", "Retry-After: 1\r\n") "{\"error\":\"who?\"}";
    ck_assert_int_eq(ask(answer, 9, NULL, SCRIPTED_CLOSE), ERR_INPUT);
    ck_assert_int_eq(server.n_requests, 1);
    assert_ends_with(": 401: who?; check the API key");
}
END_TEST

static const struct {
    int status;
    bool is_repeated;
} statuses[] = {
    {500, true },
    {503, true },
    {408, true },
    {409, true },
    {429, true },
    {400, false},
    {401, false},
    {404, false},
    {422, false},
};

START_TEST(what_a_status_says_decides_whether_it_is_repeated) { // CLI-11
    char answer[200];
    snprintf(answer, sizeof(answer),
             "HTTP/1.1 %d x\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
             "{\"error\":{\"message\":\"no\"}}",
             statuses[_i].status);
    bool is_repeated = statuses[_i].is_repeated;
    enum status st = ask(answer, 1, STREAM_HEAD HELLO DONE, SCRIPTED_CLOSE);
    assert_number(answer, st == OK, is_repeated);
    assert_number(answer, server.n_requests, is_repeated ? 2 : 1);
    assert_text(answer, text_string(&shown), is_repeated ? "Hello" : "");
}
END_TEST

START_TEST(an_answer_that_broke_off_is_kept_and_not_repeated) {
    ck_assert_int_eq(ask(STREAM_HEAD HELLO, 9, NULL, SCRIPTED_CLOSE), ERR_IO);
    ck_assert_int_eq(server.n_requests, 1);
    ck_assert_str_eq(reply_text(&reply), "Hello");
    assert_ends_with("without [DONE]: the answer is cut");
}
END_TEST

START_TEST(a_head_without_an_answer_is_repeated) {
    ck_assert_int_eq(ask(STREAM_HEAD, 1, STREAM_HEAD HELLO DONE, SCRIPTED_CLOSE), OK);
    ck_assert_int_eq(server.n_requests, 2);
}
END_TEST

START_TEST(a_promise_that_is_too_long_ends_it) {
    ck_assert_int_eq(ask(BUSY_FOR("3600"), 9, NULL, SCRIPTED_CLOSE), ERR_BUSY);
    ck_assert_int_eq(server.n_requests, 1);
    assert_ends_with(": 429: busy (the server asks for 3600 s: try again then)");
}
END_TEST

START_TEST(a_wait_beyond_the_deadline_is_not_begun) {
    int64_t begin_ns = clock_now(&real_clock);
    attempts.deadline_ns = SECOND;
    ck_assert_int_eq(ask(BUSY_FOR("2"), 9, NULL, SCRIPTED_CLOSE), ERR_BUSY);
    ck_assert_int_lt(clock_now(&real_clock) - begin_ns, 2 * SECOND);
    assert_ends_with(": 429: busy (no time left for another try)");
}
END_TEST

START_TEST(a_silent_server_is_left_at_the_deadline) {
    int64_t begin_ns = clock_now(&real_clock);
    attempts.deadline_ns = SECOND / 2;
    ck_assert_int_eq(ask(STREAM_HEAD ": ping\n\n", 9, NULL, SCRIPTED_SILENT), ERR_IO);
    ck_assert_int_lt(clock_now(&real_clock) - begin_ns, 2 * SECOND);
    ck_assert_ptr_nonnull(strstr(err.text, "the deadline came before the end"));
}
END_TEST

START_TEST(cancelling_ends_a_wait_at_once) {
    int64_t begin_ns = clock_now(&real_clock);
    cancel_at_wait = true;
    ck_assert_int_eq(ask(BUSY_FOR("2"), 9, NULL, SCRIPTED_CLOSE), ERR_STATE);
    ck_assert_int_lt(clock_now(&real_clock) - begin_ns, SECOND);
    ck_assert_int_eq(server.n_requests, 1);
    ck_assert_str_eq(err.text, "cancelled");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/attempts");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_busy_server_is_asked_again_until_it_answers);
    tcase_add_test(reference, a_server_that_says_when_is_obeyed);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, the_last_failure_is_told_when_tries_are_used_up);
    tcase_add_test(failures, without_retries_there_is_one_try);
    tcase_add_test(failures, a_refusal_that_is_our_fault_is_not_repeated);
    tcase_add_loop_test(failures, what_a_status_says_decides_whether_it_is_repeated, 0,
                        sizeof(statuses) / sizeof(statuses[0]));
    tcase_add_test(failures, an_answer_that_broke_off_is_kept_and_not_repeated);
    tcase_add_test(failures, a_head_without_an_answer_is_repeated);
    tcase_add_test(failures, a_promise_that_is_too_long_ends_it);
    tcase_add_test(failures, a_wait_beyond_the_deadline_is_not_begun);
    tcase_add_test(failures, a_silent_server_is_left_at_the_deadline);
    tcase_add_test(failures, cancelling_ends_a_wait_at_once);
    suite_add_tcase(s, failures);
    return s;
}
