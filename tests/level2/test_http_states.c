// The states of a running server: loading, full, busy, idle, draining, stopped.
#include "level2-operator/server/http_server.h"

#include <event2/event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "level2-operator/service/fault.h"
#include "tests/support/http_house.h"

// ---- loading ------------------------------------------------------------------------------------

START_TEST(answers_while_the_model_loads) {
    start_loading();
    const char *reply = post("/v1/chat/completions", "", "{}");
    assert_has("loading", reply, " 503 ");
    assert_has("loading", reply, "\"code\":\"model_loading\"");
    assert_has("loading", reply, "Retry-After: 1\r\n");
    assert_has("models", get("/v1/models"), "\"code\":\"model_loading\"");
    assert_has("ready", get("/ready"), " 503 ");
    assert_has("health", get("/health"), "\"state\":\"loading\"");
    start_ready();
    while (!strstr(get("/ready"), " 200 ")) nap_ms(1);
    assert_has("loaded", post("/v1/chat/completions", "", "{}"), " 200 ");
}
END_TEST

START_TEST(ends_when_the_model_cannot_be_loaded) {
    start_loading();
    http_server_failed(&house.server);
    join_loop();
}
END_TEST

START_TEST(says_that_a_port_is_taken) {
    struct http_server second;
    struct error err = {0};
    start();
    house.options.port = house.server.port;
    ck_assert_int_eq(http_server_open(&second, &house.options, &err), ERR_IO);
    assert_has("in use", err.text, "in use");
    ck_assert_ptr_null(strchr(err.text, '\n'));
    http_server_close(&second); // closed already: nothing
}
END_TEST

// ---- full, busy, idle ---------------------------------------------------------------------------

START_TEST(sends_away_whom_it_has_no_place_for) {
    int fds[2];
    house.options.max_inside = 2;
    start();
    for (int i = 0; i < 2; i++) {
        fds[i] = dial();
        say_post(fds[i], "/v1/chat/completions", "", "never");
    }
    ck_assert(comes_to(&house.n_jobs, 2, PATIENCE_MS));
    const char *reply = post("/v1/completions", "", "{}");
    assert_has("full", reply, " 429 ");
    assert_has("full", reply, "\"type\":\"rate_limit_error\"");
    assert_has("full", reply, "\"code\":\"queue_full\"");
    assert_has("full", reply, "Retry-After: 1\r\n");
    assert_has("not ready", get("/ready"), " 503 ");
    assert_has("healthy", get("/health"), " 200 ");
    // Who needs no engine needs no place.
    assert_has("tokenize", post("/tokenize", "", "{}"), " 200 ");
    for (int i = 0; i < 2; i++) close(fds[i]);
    ck_assert(comes_to(&house.n_gone, 2, PATIENCE_MS));
    assert_has("free again", post("/v1/completions", "", "{}"), " 200 ");
}
END_TEST

// Bad requests are answered in no time, and say nothing about how long the others stay.
START_TEST(refusals_do_not_shorten_the_wait_that_is_told) {
    int fd;
    house.options.max_inside = 1;
    start();
    post("/v1/completions", "", "late"); // 1.5 s
    for (int i = 0; i < 50; i++)
        assert_has("bad", post("/v1/completions", "", "refuse"), " 400 ");
    fd = dial();
    say_post(fd, "/v1/completions", "", "never");
    ck_assert(comes_to(&house.n_jobs, 52, PATIENCE_MS));
    assert_has("full", post("/v1/completions", "", "{}"), "Retry-After: 2\r\n");
    close(fd);
}
END_TEST

// Without a descriptor for the next client, accepting would fail again and again.
START_TEST(leaves_some_descriptors_for_itself) {
    static const struct {
        rlim_t limit;
        int want;
    } rows[] = {
        {64,  32 },
        {100, 50 },
        {128, 64 },
        {200, 136}
    };
    struct rlimit limit = {rows[_i].limit, rows[_i].limit};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    start();
    ck_assert_int_eq(house.server.options.limits.n_connections, rows[_i].want);
    assert_has("served", get("/health"), " 200 ");
}
END_TEST

static atomic_int n_until_failure; // allocations of libevent; 0: none fails

static void *fail_once(size_t n_bytes) {
    int n = atomic_load(&n_until_failure);
    while (n > 0 && !atomic_compare_exchange_weak(&n_until_failure, &n, n - 1)) {}
    return n == 1 ? NULL : malloc(n_bytes);
}

// A place without its events is none. Which allocation makes them is libevent's business, so each
// fails in turn; at the fifteenth it falls over by itself.
START_TEST(who_is_accepted_without_a_place_hears_so) {
    int n_told = 0;
    if (strncmp(event_get_version(), "2.1.12", 6) != 0) {
        printf("skipped: libevent %s allocates in an order of its own\n",
               event_get_version());
        return;
    }
    event_set_mem_functions(fail_once, realloc, free);
    start();
    for (int n = 1; n <= 14; n++) {
        atomic_store(&n_until_failure, n);
        int fd = dial();
        say(fd, "GET /health HTTP/1.1\r\n\r\n");
        const char *reply = hear(fd, "}");
        atomic_store(&n_until_failure, 0);
        close(fd);
        if (!strstr(reply, "\"too_many_connections\"")) continue;
        assert_has("told", reply, " 503 ");
        assert_has("told", reply, "Retry-After: 1\r\n");
        assert_has("told", reply, "Connection: close\r\n");
        n_told++;
    }
    ck_assert_int_ge(n_told, 1);
    assert_has("afterwards", get("/health"), " 200 ");
}
END_TEST

// The oldest goes first, and who is answered stays.
START_TEST(silent_connections_make_room_for_others) {
    int busy, fds[20];
    house.options.limits.n_connections = 4;
    start();
    busy = dial();
    say_post(busy, "/v1/chat/completions", "", "late");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    for (int i = 0; i < 20; i++) {
        fds[i] = dial();
        if (i % 2) say(fds[i], "POST /v1/completions HTTP/1.1\r\nContent-Le");
    }
    assert_has("somebody new", get("/health"), " 200 ");
    assert_has("counted", get("/metrics"), "ladder_connections_sent_away_total ");
    assert_lacks("counted", get("/metrics"), "ladder_connections_sent_away_total 0\n");
    assert_has("the busy one", hear(busy, "0\r\n\r\n"), "data: late\n\n");
    for (int i = 0; i < 20; i++) close(fds[i]);
    close(busy);
}
END_TEST

// Busy is not dead; work without a step is.
START_TEST(tells_a_busy_engine_from_a_dead_one) {
    house.options.limits.stall_ms = 300;
    set_stats(1, 1);
    start();
    set_stats(1, 2);
    assert_has("just begun", get("/health"), " 200 ");
    nap_ms(400);
    set_stats(1, 3);
    assert_has("it stepped", get("/health"), " 200 ");
    nap_ms(400);
    const char *reply = get("/health");
    assert_has("dead", reply, " 503 ");
    assert_has("dead", reply, "\"status\":\"stalled\"");
    set_stats(0, 3);
    assert_has("idle", get("/health"), " 200 ");
}
END_TEST

static double cpu_s(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

START_TEST(burns_nothing_while_idle) {
    int fds[50];
    start();
    for (int i = 0; i < 50; i++) fds[i] = dial();
    nap_ms(100);
    double before = cpu_s();
    nap_ms(2000);
    double used = cpu_s() - before;
    ck_assert_msg(used < 0.04, "%.3f s of CPU in 2 s of idleness", used);
    for (int i = 0; i < 50; i++) close(fds[i]);
}
END_TEST

// ---- the end ------------------------------------------------------------------------------------

START_TEST(drains_before_it_stops) {
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "late");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    http_server_terminate(&house.server);
    while (!strstr(get("/health"), "draining")) nap_ms(1);
    const char *reply = post("/v1/chat/completions", "", "{}");
    assert_has("draining", reply, " 503 ");
    assert_has("draining", reply, "\"code\":\"draining\"");
    assert_has("draining", reply, "Connection: close\r\n");
    reply = hear(fd, "0\r\n\r\n");
    int64_t over = now_ms();
    assert_has("the old one", reply, "data: late\n\n");
    assert_has("the old one", reply, "0\r\n\r\n");
    close(fd);
    join_loop(); // the last one out stopped it, not the clock
    ck_assert_int_lt(now_ms() - over, 1000);
}
END_TEST

START_TEST(stops_when_the_drain_time_is_over) {
    house.options.drain_ns = 300000000;
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    int64_t began = now_ms();
    http_server_terminate(&house.server);
    const char *reply = hear(fd, "}}");
    assert_has("it is told", reply, " 503 ");
    assert_has("it is told", reply, "\"code\":\"draining\"");
    join_loop();
    ck_assert_int_ge(now_ms() - began, 290);
    ck_assert_int_lt(now_ms() - began, 3000);
    close(fd);
}
END_TEST

START_TEST(stops_at_once_when_told_twice) {
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "never");
    ck_assert(comes_to(&house.n_jobs, 1, PATIENCE_MS));
    int64_t began = now_ms();
    http_server_terminate(&house.server);
    http_server_terminate(&house.server);
    join_loop();
    ck_assert_int_lt(now_ms() - began, 1000);
    close(fd);
}
END_TEST

// ---- the deadline -------------------------------------------------------------------------------

START_TEST(a_request_that_takes_too_long_ends_with_504) {
    house.options.limits.request_ms = 200;
    house.options.max_inside = 1;
    start();
    int fd = dial();
    int64_t began = now_ms();
    say_post(fd, "/v1/chat/completions", "", "never");
    const char *reply = hear(fd, "}}");
    ck_assert_int_ge(now_ms() - began, 190);
    assert_has("late", reply, " 504 ");
    assert_has("late", reply, "\"code\":\"deadline_exceeded\"");
    assert_has("late", reply, "x-should-retry: false\r\n");
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS)); // the worker may forget it
    assert_has("its place is free", post("/v1/completions", "", "{}"), " 200 ");
    say_post(fd, "/v1/chat/completions", "", "{}"); // and so is its connection
    assert_has("the next one", hear(fd, "{}"), " 200 ");
    close(fd);
}
END_TEST

START_TEST(a_stream_that_takes_too_long_ends_with_an_error_event) {
    house.options.limits.request_ms = 200;
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "head");
    const char *reply = hear(fd, "0\r\n\r\n");
    assert_has("before", reply, "data: one\n\n");
    assert_has("late", reply, "data: {\"error\":{");
    assert_has("late", reply, "\"code\":\"deadline_exceeded\"");
    assert_has("late", reply, "}}\n\n\r\n0\r\n\r\n");
    ck_assert(comes_to(&house.n_gone, 1, PATIENCE_MS));
    close(fd);
}
END_TEST

START_TEST(who_is_in_time_is_left_alone) {
    house.options.limits.request_ms = 200;
    start();
    int fd = dial();
    say_post(fd, "/v1/chat/completions", "", "stream");
    hear(fd, "0\r\n\r\n");
    nap_ms(300);
    say_post(fd, "/v1/chat/completions", "", "{}");
    assert_has("idle between", hear(fd, "{}"), " 200 ");
    close(fd);
    ck_assert_int_eq(atomic_load(&house.n_gone), 0);
}
END_TEST

// ---- the engine is no more ----------------------------------------------------------------------

START_TEST(tells_all_who_wait_when_the_engine_fails) {
    int fds[2];
    start();
    for (int i = 0; i < 2; i++) {
        fds[i] = dial();
        say_post(fds[i], "/v1/chat/completions", "", i ? "head" : "never");
    }
    ck_assert(comes_to(&house.n_jobs, 2, PATIENCE_MS));
    hear(fds[1], "data: one");
    http_server_failed(&house.server);
    assert_has("whole", hear(fds[0], "}}"), " 500 ");
    const char *reply = hear(fds[1], "0\r\n\r\n");
    assert_has("stream", reply, "\"code\":\"engine_failed\"");
    join_loop();
    for (int i = 0; i < 2; i++) close(fds[i]);
}
END_TEST

// ---- faults on purpose --------------------------------------------------------------------------

START_TEST(a_fault_is_named_and_may_come_later) {
    static const struct {
        const char *text;
        enum fault_kind kind;
        int after;
    } rows[] = {
        {"step-hang",        FAULT_HANG,   1 },
        {"slow-step:0",      FAULT_SLOW,   0 },
        {"device-error:20",  FAULT_DEVICE, 20},
        {"",                 FAULT_NONE,   1 },
        {"step",             FAULT_NONE,   1 },
        {"step-hang-",       FAULT_NONE,   1 },
        {"step-hang:",       FAULT_NONE,   1 },
        {"device-error:-1",  FAULT_NONE,   -1},
        {"device-error:1.5", FAULT_NONE,   1 },
    };
    struct fault f;
    struct error err = {0};
    enum status want = rows[_i].kind ? OK : ERR_INPUT;
    assert_status(rows[_i].text, fault_parse(&f, rows[_i].text, &err), want);
    assert_number(rows[_i].text, f.kind, rows[_i].kind);
    assert_number(rows[_i].text, f.after, rows[_i].after);
    ck_assert(want == OK || err.text[0]);
}
END_TEST

START_TEST(a_fault_strikes_from_its_step_on) {
    struct fault f = {FAULT_DEVICE, 3}, none = {FAULT_NONE, 0};
    struct error err = {0};
    for (int n = 0; n < 6; n++) {
        assert_status("device-error", fault_strike(&f, n, &err), n < 3 ? OK : ERR_IO);
        assert_status("none", fault_strike(&none, n, &err), OK);
    }
    ck_assert_ptr_nonnull(strstr(err.text, "step 5"));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/http_states");
    TCase *reference = house_tcase(s, "reference");
    tcase_add_test(reference, answers_while_the_model_loads);
    tcase_add_test(reference, tells_a_busy_engine_from_a_dead_one);
    tcase_add_test(reference, drains_before_it_stops);

    TCase *failures = house_tcase(s, "failures");
    tcase_add_test(failures, sends_away_whom_it_has_no_place_for);
    tcase_add_test(failures, refusals_do_not_shorten_the_wait_that_is_told);
    tcase_add_loop_test(failures, leaves_some_descriptors_for_itself, 0, 4);
    tcase_add_test(failures, ends_when_the_model_cannot_be_loaded);
    tcase_add_test(failures, silent_connections_make_room_for_others);
    tcase_add_test(failures, who_is_accepted_without_a_place_hears_so);
    tcase_add_test(failures, stops_when_the_drain_time_is_over);
    tcase_add_test(failures, stops_at_once_when_told_twice);
    tcase_add_test(failures, a_request_that_takes_too_long_ends_with_504);
    tcase_add_test(failures, a_stream_that_takes_too_long_ends_with_an_error_event);
    tcase_add_test(failures, who_is_in_time_is_left_alone);
    tcase_add_test(failures, tells_all_who_wait_when_the_engine_fails);
    tcase_add_loop_test(failures, a_fault_is_named_and_may_come_later, 0, 9);
    tcase_add_test(failures, a_fault_strikes_from_its_step_on);
    tcase_add_test(failures, says_that_a_port_is_taken);

    TCase *property = house_tcase(s, "property");
    tcase_add_test(property, burns_nothing_while_idle);
    return s;
}
