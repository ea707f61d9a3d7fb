// The client against a server that has bad days.
#include "level1-user/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/scripted_server.h"
#include "tests/support/suite.h"

#define STREAM_HEAD                                                                        \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
#define DELTA(text)                                                                        \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define HELLO DELTA("Hel") DELTA("lo")
#define USAGE                                                                              \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n"
#define DONE "data: [DONE]\n\n"

static struct scripted_server server;
static struct clock real_clock;
static struct reply reply;
static struct error err;
static struct text shown; // what on_text was given
static volatile sig_atomic_t cancelled;
static bool cancel_at_first_text;
static int deadline_ms;
static struct client_call asked; // the last call of chat()

static void setup(void) {
    clock_init_real(&real_clock);
    reply_init(&reply);
    memset(&err, 0, sizeof(err));
    cancelled = 0;
    cancel_at_first_text = false;
    deadline_ms = 10000;
}

static void teardown(void) {
    reply_free(&reply);
    text_free(&shown);
}

static void show(void *ctx, const char *bytes, size_t n_bytes) {
    (void)ctx;
    text_append(&shown, bytes, n_bytes);
    if (cancel_at_first_text) cancelled = 1;
}

static struct client_options options_for(const char *path) {
    static char url[64];
    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", server.port, path);
    return (struct client_options){.base_url = url};
}

static enum status chat(const struct client_options *options) {
    struct client client;
    asked = (struct client_call){
        .body = "{}", .reply = &reply, .on_text = show, .cancelled = &cancelled};
    asked.deadline_ns = clock_now(&real_clock) + deadline_ms * INT64_C(1000000);
    enum status st = client_open(&client, options, &real_clock, &err);
    if (st == OK) st = client_chat(&client, &asked, &err);
    client_close(&client);
    return st;
}

// Asks a server that says this once.
static enum status chat_with(const struct scripted_piece *pieces, enum scripted_end end) {
    scripted_server_start(&server, pieces, end);
    struct client_options options = options_for("/v1");
    deadline_ms = end == SCRIPTED_SILENT ? 1000 : 10000;
    enum status st = chat(&options);
    scripted_server_stop(&server);
    return st;
}

static enum status chat_with_bytes(const char *bytes) {
    return chat_with(
        (struct scripted_piece[]){
            {bytes, 0},
            {NULL,  0}
    },
        SCRIPTED_CLOSE);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(a_stream_is_handed_on_as_it_arrives) {
    ck_assert_int_eq(chat_with_bytes(STREAM_HEAD ": ping\n\n" HELLO USAGE DONE), OK);
    ck_assert_str_eq(text_string(&shown), "Hello");
    ck_assert_str_eq(reply_text(&reply), "Hello");
    ck_assert_int_eq(reply.usage.prompt_tokens, 9);
    ck_assert(reply.is_done);
}
END_TEST

START_TEST(a_whole_answer_is_taken_when_the_server_does_not_stream) {
    ck_assert_int_eq(
        chat_with_bytes(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
            "Connection: close\r\n\r\n{\"choices\":[{\"index\":0,\"message\":"
            "{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}"),
        OK);
    ck_assert_str_eq(text_string(&shown), "Hello");
    ck_assert_str_eq(reply.choices[0].finish_reason, "stop");
}
END_TEST

START_TEST(the_request_carries_path_key_and_body) {
    scripted_server_start(&server,
                          (struct scripted_piece[]){
                              {STREAM_HEAD DONE, 0},
                              {NULL,             0}
    },
                          SCRIPTED_CLOSE);
    struct client_options options = options_for(_i == 0 ? "/v1" : "/v1//");
    options.api_key = "sk-secret";
    ck_assert_int_eq(chat(&options), OK);
    scripted_server_stop(&server);
    ck_assert_ptr_eq(strstr(server.request, "POST /v1/chat/completions HTTP/1.1\r\n"),
                     server.request);
    ck_assert_ptr_nonnull(
        strstr(server.request, "\r\nAuthorization: Bearer sk-secret\r\n"));
    ck_assert_ptr_nonnull(strstr(server.request, "\r\nContent-Type: application/json\r\n"));
    ck_assert_ptr_null(strstr(server.request, "Expect:"));
    ck_assert_str_eq(strstr(server.request, "\r\n\r\n"), "\r\n\r\n{}");
}
END_TEST

START_TEST(a_connection_is_kept_for_the_next_question) {
    static const struct scripted_piece pieces[] = {
        {"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: "
         "14\r\n\r\n" DONE,
         0                            },
        {NULL,                       0},
    };
    struct client client;
    scripted_server_start(&server, pieces, SCRIPTED_KEEP);
    struct client_options options = options_for("/v1");
    ck_assert_int_eq(client_open(&client, &options, &real_clock, &err), OK);
    for (int i = 0; i < 3; i++) {
        struct client_call call = {.body = "{}", .reply = &reply};
        reply_free(&reply);
        ck_assert_msg(client_chat(&client, &call, &err) == OK, "%s", err.text);
        ck_assert_int_gt(call.start_ns, 0);
    }
    client_close(&client);
    scripted_server_stop(&server);
    ck_assert_int_eq(server.n_requests, 3);
    ck_assert_int_eq(server.n_connections, 1);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_character_cut_between_packets_arrives_whole) { // CLI-03
    static const struct scripted_piece pieces[] = {
        {STREAM_HEAD "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xd0", 0 },
        {"\xb8\xd0\xb7\xd0",                                                           20},
        {"\xb2\"}}]}\n",                                                               20},
        {"\n" DONE,                                                                    20},
        {NULL,                                                                         0 },
    };
    ck_assert_int_eq(chat_with(pieces, SCRIPTED_CLOSE), OK);
    ck_assert_str_eq(text_string(&shown), "\xd0\xb8\xd0\xb7\xd0\xb2");
}
END_TEST

START_TEST(nothing_after_done_counts_and_nobody_waits_for_the_end) {
    static const struct scripted_piece pieces[] = {
        {STREAM_HEAD HELLO DONE DELTA("!") "data: rubbish\n\n", 0},
        {NULL,                                                  0}
    };
    int64_t begin_ns = clock_now(&real_clock);
    scripted_server_start(&server, pieces, SCRIPTED_SILENT);
    struct client_options options = options_for("/v1");
    ck_assert_int_eq(chat(&options), OK);
    ck_assert_int_lt(clock_now(&real_clock) - begin_ns, 3000000000);
    scripted_server_stop(&server);
    ck_assert_str_eq(reply_text(&reply), "Hello");
}
END_TEST

START_TEST(cancelling_ends_a_silent_answer_and_keeps_its_text) {
    static const struct scripted_piece pieces[] = {
        {STREAM_HEAD HELLO, 0},
        {NULL,              0}
    };
    int64_t begin_ns = clock_now(&real_clock);
    cancel_at_first_text = true;
    scripted_server_start(&server, pieces, SCRIPTED_SILENT);
    struct client_options options = options_for("/v1");
    ck_assert_int_eq(chat(&options), ERR_STATE);
    ck_assert_int_lt(clock_now(&real_clock) - begin_ns, 3000000000);
    scripted_server_stop(&server);
    ck_assert_str_eq(err.text, "cancelled");
    ck_assert_ptr_nonnull(strstr("Hello", reply_text(&reply)));
    ck_assert_str_ne(reply_text(&reply), "");
}
END_TEST

START_TEST(cancelled_before_it_began_sends_nothing) {
    cancelled = 1;
    ck_assert_int_eq(chat_with_bytes(STREAM_HEAD HELLO DONE), ERR_STATE);
    ck_assert_int_eq(server.n_requests, 0);
}
END_TEST

// ---- failures: what the server said, and the one sentence that comes of it ----------------------

#define JSON_HEAD(status)                                                                  \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"

// clang-format off
static const struct {
    const char *name, *answer;
    enum status want;
    const char *sentence; // a part of it
    const char *text;     // that is kept
    enum retry_end end;
} bad_days[] = {
    {"429 with an error object",
     JSON_HEAD("429 Too Many Requests") "{\"error\":{\"message\":\"slow down\",\"type\":"
     "\"rate_limit_error\",\"param\":null,\"code\":null}}",
     ERR_BUSY, ": 429: slow down", "", RETRY_REFUSED},
    {"503 while loading", JSON_HEAD("503 x") "{\"error\":{\"message\":\"loading\"}}",
     ERR_BUSY, ": 503: loading", "", RETRY_REFUSED},
    {"401", JSON_HEAD("401 x") "{\"error\":{\"message\":\"no such key\"}}", ERR_INPUT,
     ": 401: no such key; check the API key", "", RETRY_REFUSED},
    {"404", JSON_HEAD("404 x") "{\"error\":{\"message\":\"unknown URL\"}}", ERR_INPUT,
     ": 404: unknown URL; check the model, and that the base URL ends in /v1", "", RETRY_REFUSED},
    {"400", JSON_HEAD("400 x") "{\"error\":{\"message\":\"too long\"}}", ERR_INPUT,
     ": 400: too long", "", RETRY_REFUSED},
    {"500 with HTML",
     "HTTP/1.1 500 Oops\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n"
     "\r\n<html><body>Oops</body></html>",
     ERR_IO, ": 500, with text/html in place of an error object", "", RETRY_REFUSED},
    {"502 without a body", "HTTP/1.1 502 x\r\nContent-Length: 0\r\n\r\n", ERR_IO,
     ": 502, with no type in place of an error object", "", RETRY_REFUSED},
    {"a redirect is not followed",
     "HTTP/1.1 301 x\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
     ERR_IO, ": 301, with", "", RETRY_REFUSED},
    {"200 that is not JSON", JSON_HEAD("200 OK") "Hello", ERR_FORMAT,
     "the server's answer is no JSON", "", RETRY_HOPELESS},
    {"200 with a page of a hotel",
     "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>",
     ERR_FORMAT, "(it came as text/html)", "", RETRY_HOPELESS},
    {"200 with an error object", JSON_HEAD("200 OK") "{\"error\":{\"message\":\"hm\"}}",
     ERR_IO, ": hm", "", RETRY_LOST},
    {"CLI-08 no end marker", STREAM_HEAD HELLO, ERR_IO, "the stream ended without [DONE]",
     "Hello", RETRY_LOST},
    {"cut inside an event", STREAM_HEAD HELLO "data: {\"cho", ERR_IO,
     "the stream ended without [DONE]", "Hello", RETRY_LOST},
    {"an empty stream", STREAM_HEAD, ERR_IO, "the stream ended without [DONE]", "", RETRY_LOST},
    {"CLI-04 the peer closes before the promised end",
     "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9999\r\n\r\n"
     HELLO,
     ERR_IO, "Transferred a partial file", "Hello", RETRY_LOST},
    {"an error object in the stream",
     STREAM_HEAD HELLO "data: {\"error\":{\"message\":\"out of luck\"}}\n\n" DELTA("x") DONE,
     ERR_IO, ": out of luck", "Hello", RETRY_LOST},
    {"an event that is not JSON", STREAM_HEAD HELLO "data: {oops\n\n" DONE, ERR_FORMAT,
     "no JSON", "Hello", RETRY_HOPELESS},
    {"no HTTP at all", "SSH-2.0-OpenSSH\r\n", ERR_IO, "http://127.0.0.1:", "", RETRY_HOPELESS},
    {"nothing", "", ERR_IO, "Server returned nothing", "", RETRY_LOST},
};
// clang-format on
enum { N_BAD_DAYS = sizeof(bad_days) / sizeof(bad_days[0]) };

START_TEST(what_goes_wrong_becomes_one_sentence_and_the_text_stays) {
    enum status st = chat_with_bytes(bad_days[_i].answer);
    ck_assert_msg(st == bad_days[_i].want, "%s: %s, %s", bad_days[_i].name, status_name(st),
                  err.text);
    ck_assert_msg(strstr(err.text, bad_days[_i].sentence), "%s: \"%s\"", bad_days[_i].name,
                  err.text);
    ck_assert_msg(strstr(err.text, "127.0.0.1"), "%s: no place in \"%s\"",
                  bad_days[_i].name, err.text);
    ck_assert_msg(strcmp(reply_text(&reply), bad_days[_i].text) == 0, "%s: kept \"%s\"",
                  bad_days[_i].name, reply_text(&reply));
    ck_assert_str_eq(text_string(&shown), bad_days[_i].text);
    ck_assert(!reply.is_done);
    ck_assert_msg(asked.failure.end == bad_days[_i].end, "%s: end %d", bad_days[_i].name,
                  (int)asked.failure.end);
    ck_assert(asked.failure.n_received > 0 || !*bad_days[_i].text);
}
END_TEST

START_TEST(silence_ends_at_the_deadline) { // CLI-04
    static const struct scripted_piece pieces[] = {
        {STREAM_HEAD HELLO, 0},
        {NULL,              0}
    };
    static const struct scripted_piece nothing[] = {
        {NULL, 0}
    };
    ck_assert_int_eq(chat_with(_i == 0 ? pieces : nothing, SCRIPTED_SILENT), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "the deadline came before the end"));
    ck_assert_int_eq(asked.failure.end, RETRY_LOST);
    ck_assert_str_eq(reply_text(&reply), _i == 0 ? "Hello" : "");
}
END_TEST

// Each stands in an error: a message, the type of what is no answer, an error within an answer.
static const char *const echoes[] = {
    JSON_HEAD("401 x") "{\"error\":{\"message\":\"wrong key sk-0123456789\"}}",
    "HTTP/1.1 200 OK\r\nContent-Type: sk-0123456789\r\nConnection: close\r\n\r\nx",
    STREAM_HEAD HELLO "data: {\"error\":{\"message\":\"sk-0123456789\"}}\n\n" DONE,
};

START_TEST(a_server_that_says_the_key_is_not_quoted) {
    const struct scripted_piece pieces[] = {
        {echoes[_i], 0},
        {NULL,       0}
    };
    scripted_server_start(&server, pieces, SCRIPTED_CLOSE);
    struct client_options options = options_for("/v1");
    options.api_key = "sk-0123456789";
    ck_assert_int_ne(chat(&options), OK);
    scripted_server_stop(&server);
    ck_assert_msg(strstr(err.text, "*************") && !strstr(err.text, "sk-0"),
                  "it says: %s", err.text);
}
END_TEST

START_TEST(an_error_page_without_end_is_read_only_so_far) {
    enum { N = 300000 };
    static char page[N + 200];
    int n = sprintf(page, "HTTP/1.1 500 x\r\nContent-Length: %d\r\n\r\n", 2 * N);
    memset(page + n, 'x', N);
    const struct scripted_piece pieces[] = {
        {page, 0},
        {NULL, 0}
    };
    ck_assert_int_eq(chat_with(pieces, SCRIPTED_SILENT), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, ": 500, with no type"));
    ck_assert_msg(clock_now(&real_clock) < asked.deadline_ns, "read until the deadline");
}
END_TEST

START_TEST(an_answer_that_would_take_far_more_memory_than_bytes_is_refused) {
    enum { N = LIMIT_JSON_VALUES };
    static char answer[3 * N + 200];
    int n = sprintf(answer, JSON_HEAD("200 OK") "[[]");
    for (int i = 0; i < N; i++, n += 3) memcpy(answer + n, ",[]", 3);
    ck_assert_int_eq(chat_with_bytes(answer), ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "holds more than 1048576 values"));
}
END_TEST

START_TEST(a_server_that_is_not_there_is_named) {
    scripted_server_start(&server,
                          (struct scripted_piece[]){
                              {NULL, 0}
    },
                          SCRIPTED_CLOSE);
    scripted_server_stop(&server); // now its port is free
    struct client_options options = options_for("/v1");
    ck_assert_int_eq(chat(&options), ERR_IO);
    ck_assert_ptr_nonnull(strstr(err.text, "is the server running there?"));
    ck_assert_ptr_nonnull(strstr(err.text, "http://127.0.0.1:"));
}
END_TEST

START_TEST(a_proxy_is_not_asked_for_this_machine) {
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    ck_assert_msg(chat_with_bytes(STREAM_HEAD HELLO DONE) == OK, "%s", err.text);
}
END_TEST

START_TEST(every_failed_allocation_of_an_answer_is_an_error) {
    static const struct scripted_piece pieces[] = {
        {STREAM_HEAD HELLO USAGE DONE, 0},
        {NULL,                         0}
    };
    int n = 0;
    for (;; n++) {
        struct client client;
        struct client_call call = {.body = "{}", .reply = &reply};
        err = (struct error){0};
        reply_free(&reply);
        scripted_server_start(&server, pieces, SCRIPTED_CLOSE);
        struct client_options options = options_for("/v1");
        ck_assert_int_eq(client_open(&client, &options, &real_clock, &err), OK);
        memory_fail_after(n);
        enum status st = client_chat(&client, &call, &err);
        memory_fail_after(-1);
        client_close(&client);
        scripted_server_stop(&server);
        if (st == OK) break;
        bool is_told = st == ERR_MEMORY && strstr(err.text, "no memory");
        bool is_blamed = st == ERR_FORMAT && strstr(err.text, "is no JSON: "); // by jansson
        ck_assert_msg(is_told || is_blamed, "%d: %s", n, err.text);
    }
    ck_assert_int_ge(n, 10);
    ck_assert_str_eq(reply_text(&reply), "Hello");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/client");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_stream_is_handed_on_as_it_arrives);
    tcase_add_test(reference, a_whole_answer_is_taken_when_the_server_does_not_stream);
    tcase_add_loop_test(reference, the_request_carries_path_key_and_body, 0, 2);
    tcase_add_test(reference, a_connection_is_kept_for_the_next_question);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, a_character_cut_between_packets_arrives_whole);
    tcase_add_test(edges, nothing_after_done_counts_and_nobody_waits_for_the_end);
    tcase_add_test(edges, cancelling_ends_a_silent_answer_and_keeps_its_text);
    tcase_add_test(edges, cancelled_before_it_began_sends_nothing);
    tcase_add_test(edges, a_proxy_is_not_asked_for_this_machine);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_set_timeout(failures, 20);
    tcase_add_loop_test(failures, what_goes_wrong_becomes_one_sentence_and_the_text_stays,
                        0, N_BAD_DAYS);
    tcase_add_loop_test(failures, silence_ends_at_the_deadline, 0, 2);
    tcase_add_loop_test(failures, a_server_that_says_the_key_is_not_quoted, 0,
                        sizeof(echoes) / sizeof(echoes[0]));
    tcase_add_test(failures, an_error_page_without_end_is_read_only_so_far);
    tcase_add_test(failures,
                   an_answer_that_would_take_far_more_memory_than_bytes_is_refused);
    tcase_add_test(failures, a_server_that_is_not_there_is_named);
    tcase_add_test(failures, every_failed_allocation_of_an_answer_is_an_error);
    suite_add_tcase(s, failures);
    return s;
}
