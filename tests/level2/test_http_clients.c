// What clients do wrong: malformed, endless, too slow, gone, not reading.
#include "level2-operator/server/http_server.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/http_house.h"

// ---- malformed ----------------------------------------------------------------------------------

static const struct {
    const char *name, *request, *want;
} malformed[] = {
    {"no HTTP at all",             "GARBAGE\r\n\r\n",                                            " 400 "},
    {"no HTTP after a good start", "GET /health HTTP/1.1\r\n\r\nGARBAGE\r\n\r\n",                " 400 "},
    {"a header without colon",     "GET /health HTTP/1.1\r\nnonsense\r\n\r\n",                   " 400 "},
    {"negative length",            "POST /tokenize HTTP/1.1\r\nContent-Length: -5\r\n\r\n",      " 400 "},
    {"length in words",            "POST /tokenize HTTP/1.1\r\nContent-Length: ten\r\n\r\n",     " 400 "},
    {"two lengths",
     "POST /tokenize HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",              " 400 "},
    {"length and chunks",
     "POST /tokenize HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: "
     "chunked\r\n\r\n0\r\n\r\n",                                                                 " 400 "},
    {"unknown encoding",           "POST /tokenize HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
     " 400 "                                                                                            },
    {"chunk length in words",
     "POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",                      " 400 "},
    {"a space after a name",
     "POST /tokenize HTTP/1.1\r\nContent-Length : 34\r\n\r\nGET /v1/models HTTP/1.1\r\nA: "
     "b\r\n\r\n",                                                                                " 400 "},
    {"a header without a name",    "GET /health HTTP/1.1\r\n: x\r\n\r\n",                        " 400 "},
    {"a length with a sign",       "POST /tokenize HTTP/1.1\r\nContent-Length: +1\r\n\r\na",
     " 400 "                                                                                            },
    {"a version too new",          "GET /health HTTP/2.0\r\n\r\n",                               " 400 "},
    {"no version",                 "GET /health\r\n\r\n",                                        " 400 "},
    {"broken while continuing",
     "POST /tokenize HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: "
     "chunked\r\n\r\nzz\r\n",                                                                    " 400 "},
    {"an expectation not known",
     "POST /tokenize HTTP/1.1\r\nExpect: tea\r\nContent-Length: 1\r\n\r\na",                     " 400 "},
    {"a body where none belongs",
     "HEAD /health HTTP/1.1\r\nContent-Length: 33\r\n\r\nGET /v1/models HTTP/1.1\r\nA: "
     "b\r\n\r\n",                                                                                " 200 "},
};
enum { N_MALFORMED = sizeof(malformed) / sizeof(*malformed) };

START_TEST(survives_a_malformed_request) {
    start();
    const char *reply =
        ask(malformed[_i].request); // also waits for the end of the connection
    assert_has(malformed[_i].name, reply, malformed[_i].want);
    assert_lacks(malformed[_i].name, reply,
                 "\"object\":\"list\""); // nothing was smuggled in
    assert_lacks(malformed[_i].name, reply, "<HTML>");
    if (strstr(malformed[_i].want, "400")) {
        assert_has(malformed[_i].name, reply, "{\"error\":{\"message\":\"");
    }
    assert_has("afterwards", get("/health"), " 200 ");
}
END_TEST

START_TEST(survives_random_bytes) {
    struct draw d = draw_start("random bytes");
    start();
    for (int round = 0; round < 100; round++) {
        static const char alphabet[] = "GETPOS /HTP1.\r\n\r\n:az09%\\\0\xff";
        char bytes[400];
        int n = draw_int(&d, 1, (int)sizeof(bytes));
        for (int i = 0; i < n; i++)
            bytes[i] = alphabet[draw_int(&d, 0, (int)sizeof(alphabet) - 1)];
        int fd = dial();
        if (draw_int(&d, 0, 1)) say(fd, "POST /tokenize HTTP/1.1\r\n");
        say_bytes(fd, bytes, (size_t)n);
        close(fd);
    }
    assert_has("afterwards", get("/health"), " 200 ");
}
END_TEST

// ---- too much -----------------------------------------------------------------------------------

static void say_chunks(int fd, size_t n_bytes) {
    static char chunk[6 + 16384 + 2] = "4000\r\n";
    memset(chunk + 6, 'a', 16384);
    memcpy(chunk + 6 + 16384, "\r\n", 2);
    say(fd, "POST /tokenize HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (size_t n = 0; n < n_bytes; n += 16384) say_bytes(fd, chunk, sizeof(chunk));
    say(fd, "0\r\n\r\n");
}

static void say_declared_to(int fd, const char *path, size_t n_bytes) {
    static char piece[16384];
    char head[128];
    memset(piece, 'a', sizeof(piece));
    snprintf(head, sizeof(head), "POST %s HTTP/1.1\r\nContent-Length: %zu\r\n\r\n", path,
             n_bytes);
    say(fd, head);
    for (size_t n = 0; n < n_bytes; n += sizeof(piece)) say_bytes(fd, piece, sizeof(piece));
}

static void say_declared(int fd, size_t n_bytes) {
    say_declared_to(fd, "/tokenize", n_bytes);
}

// SRV-11: a length that is declared, and one that is not; just above the limit, and far above.
START_TEST(refuses_a_body_above_the_limit) {
    static const size_t sizes[] = {(1 << 20) + 16384, 10 << 20, 64 << 20};
    house.options.limits.body_bytes = 1 << 20;
    start();
    for (int i = 0; i < 6; i++) {
        int fd = dial();
        (i % 2 ? say_chunks : say_declared)(fd, sizes[i / 2]);
        const char *reply = hear(fd, "}}");
        assert_has("too large", reply, " 413 ");
        assert_has("too large", reply, "\"code\":\"request_too_large\"");
        close(fd);
    }
    ck_assert_int_eq(atomic_load(&house.n_jobs), 0);
    assert_has("afterwards", get("/health"), " 200 ");
}
END_TEST

START_TEST(takes_a_body_up_to_the_limit) {
    house.options.limits.body_bytes = 1 << 20;
    start();
    int fd = dial();
    say_declared(fd, 1 << 20);
    assert_has("declared", hear(fd, "\r\n\r\n"), " 200 OK");
    close(fd);
    fd = dial();
    say_chunks(fd, 1 << 20);
    assert_has("chunked", hear(fd, "\r\n\r\n"), " 200 OK");
    close(fd);
}
END_TEST

// While the worker answers a tool no stream goes on.
START_TEST(takes_less_for_a_text_tool_than_for_the_engine) {
    static const char *const tools[] = {"/tokenize", "/detokenize", "/apply-template"};
    char want[96];
    start();
    for (int i = 0; i < 3; i++) {
        int fd = dial();
        say_declared_to(fd, tools[i], LIMIT_TOOL_BYTES + 16384);
        const char *reply = hear(fd, "}}");
        assert_has(tools[i], reply, " 413 ");
        snprintf(want, sizeof(want), "the body has %d bytes; this path takes up to %d",
                 LIMIT_TOOL_BYTES + 16384, LIMIT_TOOL_BYTES);
        assert_has(tools[i], reply, want);
        close(fd);
    }
    int fd = dial();
    say_declared_to(fd, "/v1/completions", LIMIT_TOOL_BYTES + 16384);
    assert_has("for the engine", hear(fd, "\r\n\r\n"), " 200 OK");
    close(fd);
}
END_TEST

// Each asks for a large echo and does not read it. What the system itself keeps is not ours to count.
START_TEST(bounds_what_all_clients_leave_unread) {
    enum { N = 6, REPLY = 8 << 20 };
    int fds[N];
    house.options.limits.outgoing_bytes = 12 << 20;
    start();
    for (int i = 0; i < N; i++) {
        fds[i] = dial();
        say_declared_to(fds[i], "/v1/completions", REPLY);
        ck_assert(comes_to(&house.n_jobs, i + 1, PATIENCE_MS));
    }
    const char *reply = hear(fds[N - 1], "\r\n\r\n");
    assert_has("the last", reply, " 503 ");
    assert_has("the last", reply, "Retry-After");
    for (int i = 0; i < N; i++) close(fds[i]);
    int fd = dial();
    say_declared_to(fd, "/v1/completions", REPLY);
    assert_has("once they are gone", hear(fd, "\r\n\r\n"), " 200 OK");
    close(fd);
}
END_TEST

// Twenty clients that each stay below the limit, and never come to an end.
START_TEST(bounds_what_all_clients_send_together) {
    enum { N = 20, PIECE = 256 << 10 };
    static char piece[PIECE];
    int fds[N], n_refused = 0, last_refused = -1;
    house.options.limits.body_bytes = 1 << 20;
    house.options.limits.incoming_bytes = 2 << 20;
    start();
    memset(piece, 'a', sizeof(piece));
    for (int i = 0; i < N; i++) {
        fds[i] = dial();
        say(fds[i], "POST /tokenize HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n");
        say_bytes(fds[i], piece, sizeof(piece));
    }
    // Eight times 256 KB is the budget; a refusal makes room for at most one more.
    for (int64_t until = now_ms() + PATIENCE_MS; n_refused < N - 9 && now_ms() < until;) {
        n_refused = 0;
        for (int i = 0; i < N; i++) {
            struct pollfd p = {.fd = fds[i], .events = POLLIN};
            if (poll(&p, 1, 1) == 0) continue;
            n_refused++;
            last_refused = fds[i];
        }
    }
    ck_assert_int_ge(n_refused, N - 9);
    const char *reply = hear(last_refused, "}}");
    assert_has("refused", reply, "\"code\":\"overloaded\"");
    assert_has("refused", reply, "Retry-After: 1\r\n");
    for (int i = 0; i < N; i++) close(fds[i]);
    assert_has("afterwards", post("/tokenize", "", "{}"), " 200 ");
}
END_TEST

START_TEST(refuses_headers_without_end) {
    start();
    int fd = dial();
    say(fd, "GET /health HTTP/1.1\r\n");
    for (int i = 0; i < 5000; i++) say(fd, "X-Filler: 0123456789\r\n");
    assert_has("headers", hear(fd, NULL), " 4"); // 400 or 413, as evhttp sees it
    close(fd);
}
END_TEST

// ---- too slow -----------------------------------------------------------------------------------

START_TEST(hangs_up_on_who_trickles) {
    house.options.limits.idle_ms = 1000;
    start();
    int fd = dial();
    int64_t began = now_ms();
    say(fd, "POST /tokenize HTTP/1.1\r\nContent-Length: 1000\r\nX-A: ");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (poll(&p, 1, 200) == 0 && now_ms() - began < 8000) say(fd, "a");
    const char *reply = hear(fd, NULL);
    assert_has("trickle", reply, " 408 Request Timeout\r\n");
    assert_has("trickle", reply, "\"code\":\"request_timeout\"");
    ck_assert_int_lt(now_ms() - began, 5000);
    close(fd);
}
END_TEST

START_TEST(hangs_up_on_who_says_nothing) {
    house.options.limits.idle_ms = 300;
    start();
    int fd = dial();
    int64_t began = now_ms();
    ck_assert_str_eq(hear(fd, NULL), "");
    ck_assert_int_lt(now_ms() - began, 3000);
    close(fd);
}
END_TEST

START_TEST(lets_a_request_run_longer_than_the_idle_time) {
    house.options.limits.idle_ms = 100;
    start();
    assert_has("late", post("/v1/completions", "", "late"), "data: late");
}
END_TEST

START_TEST(cuts_off_a_reader_that_is_too_slow) {
    house.options.limits.out_bytes = 1 << 20;
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "flood");
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    assert_has("afterwards", get("/health"), " 200 ");
    close(fd);
}
END_TEST

// ---- gone ---------------------------------------------------------------------------------------

static const char *const left_in[] = {"never", "head"};
enum { N_LEFT_IN = sizeof(left_in) / sizeof(*left_in) };

// SRV-05 and SRV-06: in the middle of a stream, and while waiting.
START_TEST(sees_a_client_leave_at_once) {
    house.options.max_inside = 1;
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", left_in[_i]);
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    if (_i == 1) hear(fd, "data: one");
    int64_t began = now_ms();
    close(fd);
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    ck_assert_int_lt(now_ms() - began, 500);
    // The place is free again.
    assert_has("next", post("/v1/chat/completions", "", "{}"), " 200 OK");
}
END_TEST

START_TEST(sees_many_leave_at_once) {
    enum { N = 100 };
    int fds[N];
    start();
    for (int i = 0; i < N; i++) {
        fds[i] = dial();
        say_post(fds[i], "/v1/chat/completions", "", i % 2 ? "never" : "head");
    }
    ck_assert(comes_to(&house.n_jobs, N, PATIENCE_MS));
    for (int i = 0; i < N; i++) close(fds[i]);
    ck_assert(comes_to(&house.n_gone, N, PATIENCE_MS));
}
END_TEST

// The worker stands still, its queue fills up, and then everyone leaves: nobody may be forgotten.
START_TEST(tells_the_worker_of_all_who_left_when_its_queue_was_full) {
    enum { N = LIMIT_JOBS + 40 };
    int fds[N], n_taken = 0;
    house.options.max_inside = N;
    start();
    int sleeper = dial();
    say_post(sleeper, "/v1/completions", "", "sleep");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    for (int i = 0; i < N; i++) {
        fds[i] = dial();
        say_post(fds[i], "/v1/completions", "", "never");
    }
    const char *reply = hear(fds[N - 1], "}}");
    assert_has("no room for a job", reply, " 429 ");
    nap_ms(100);
    for (int i = 0; i < N - 1; i++) {
        struct pollfd p = {.fd = fds[i], .events = POLLIN};
        if (poll(&p, 1, 0) == 0) n_taken++; // no answer: it is in the queue
    }
    ck_assert_int_eq(n_taken, LIMIT_JOBS);
    for (int i = 0; i < N; i++) close(fds[i]);
    ck_assert(comes_to(&house.n_gone, LIMIT_JOBS, PATIENCE_MS));
    close(sleeper);
    ck_assert(comes_to(&house.n_gone, LIMIT_JOBS + 1, PATIENCE_MS));
}
END_TEST

// Were he only not read any further, nobody would see him leave.
START_TEST(cuts_off_who_sends_too_far_ahead) {
    static char piece[65536];
    start();
    int fd = dial();
    say_post(fd, "/v1/completions", "", "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    say_bytes(fd, piece, sizeof(piece));
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    ck_assert_str_eq(hear(fd, NULL), "");
    close(fd);
}
END_TEST

// ---- silence ------------------------------------------------------------------------------------

START_TEST(breaks_a_silence_with_a_comment) {
    house.options.limits.ping_ms = 50;
    start();
    const char *reply = post("/v1/chat/completions", "", "late");
    assert_has("ping", reply, ": ping\n\n");
    const char *last = strstr(reply, "data: late\n\n");
    ck_assert_ptr_nonnull(last);
    assert_lacks("after the end", last, ": ping");
}
END_TEST

START_TEST(never_pings_before_the_head) {
    house.options.limits.ping_ms = 20;
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "never");
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 200), 0);
    close(fd);
}
END_TEST

// A proxy sends a request to another server as long as it has not heard a byte of this one's answer.
START_TEST(says_nothing_of_a_stream_before_its_first_event) {
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "waits");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ck_assert_int_eq(poll(&p, 1, 200), 0);
    close(fd);
}
END_TEST

START_TEST(a_stream_that_only_waited_ends_with_a_status) {
    house.options.limits.request_ms = 100;
    start();
    const char *reply = post("/v1/chat/completions", "", "waits");
    assert_has("late", reply, " 504 ");
    assert_has("late", reply, "\"code\":\"deadline_exceeded\"");
    assert_lacks("late", reply, "data: ");
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(waits_with_accepting_when_every_slot_is_taken) {
    enum { N = 30 };
    int fds[N], n_answered = 0;
    house.options.limits.n_connections = 8;
    start();
    for (int i = 0; i < N; i++) { // who says nothing would have to make room
        fds[i] = dial();
        say(fds[i], "GET /health HTTP/1.1\r\n\r\n");
    }
    for (int i = 0; i < N; i++) { // closing one lets the next one in
        if (strstr(hear(fds[i], "}"), " 200 ")) n_answered++;
        close(fds[i]);
    }
    ck_assert_int_ge(n_answered, N - 8); // one accepted in the same breath gets a 503
    assert_has("afterwards", get("/health"), " 200 ");
}
END_TEST

// Clients come and go in every state; in the end nobody is counted as inside.
START_TEST(forgets_nobody) {
    static const char *const bodies[] = {"{}", "stream", "never", "head", "flood"};
    struct draw d = draw_start("forgets nobody");
    house.options.max_inside = 7;
    house.options.limits.out_bytes = 1 << 20;
    house.options.limits.ping_ms = 5;
    start();
    for (int i = 0; i < 200; i++) {
        int fd = dial();
        say_post(fd, draw_int(&d, 0, 1) ? "/v1/completions" : "/tokenize", "",
                 bodies[draw_int(&d, 0, 4)]);
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (draw_int(&d, 0, 2)) poll(&p, 1, draw_int(&d, 0, 10));
        close(fd);
    }
    while (!strstr(get("/health"), " 200 ")) nap_ms(1);
    for (int n_jobs = -1; n_jobs != atomic_load(&house.n_jobs);) { // the worker's, too
        n_jobs = atomic_load(&house.n_jobs);
        nap_ms(500);
    }
    http_server_terminate(&house.server);
    join_loop(); // at once, for nobody is inside
    ck_assert_int_eq(house.server.lifecycle.n_in_flight, 0);
    ck_assert_int_eq(house.server.admission.n_inside, 0);
    ck_assert_int_eq(house.server.n_gone, 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/http_clients");
    TCase *edges = house_tcase(s, "edges");
    tcase_add_test(edges, takes_a_body_up_to_the_limit);
    tcase_add_test(edges, lets_a_request_run_longer_than_the_idle_time);
    tcase_add_test(edges, breaks_a_silence_with_a_comment);
    tcase_add_test(edges, never_pings_before_the_head);
    tcase_add_test(edges, says_nothing_of_a_stream_before_its_first_event);
    tcase_add_test(edges, a_stream_that_only_waited_ends_with_a_status);

    TCase *failures = house_tcase(s, "failures");
    tcase_add_loop_test(failures, survives_a_malformed_request, 0, N_MALFORMED);
    tcase_add_test(failures, survives_random_bytes);
    tcase_add_test(failures, refuses_a_body_above_the_limit);
    tcase_add_test(failures, takes_less_for_a_text_tool_than_for_the_engine);
    tcase_add_test(failures, bounds_what_all_clients_send_together);
    tcase_add_test(failures, bounds_what_all_clients_leave_unread);
    tcase_add_test(failures, refuses_headers_without_end);
    tcase_add_test(failures, hangs_up_on_who_trickles);
    tcase_add_test(failures, hangs_up_on_who_says_nothing);
    tcase_add_loop_test(failures, sees_a_client_leave_at_once, 0, N_LEFT_IN);
    tcase_add_test(failures, sees_many_leave_at_once);
    tcase_add_test(failures, tells_the_worker_of_all_who_left_when_its_queue_was_full);
    tcase_add_test(failures, cuts_off_who_sends_too_far_ahead);
    tcase_add_test(failures, cuts_off_a_reader_that_is_too_slow);

    TCase *property = house_tcase(s, "property");
    tcase_add_test(property, waits_with_accepting_when_every_slot_is_taken);
    tcase_add_test(property, forgets_nobody);
    return s;
}
