// Retry: what is worth a repeat, how long a wait is, and in which order reasons to give up count. A
// day of failures passes here in no time at all.
#include "level1-user/retry.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "tests/support/retry_oracle.h"
#include "tests/support/retry_rig.h"
#include "tests/support/suite.h"

// ---- worked example -----------------------------------------------------------------------------

START_TEST(worked_example) {
    const struct retry_policy *p = &retry_default_policy;
    struct retry_failure first = refused(503, NULL), second = refused(429, "3");
    struct retry_failure third = refused(500, NULL);
    struct retry_moment at = moment(S / 10, 10 * S, 0.25);

    check_decision(p, &first, 1, &at,
                   (struct retry_decision){true, RETRY_OWN_PACE, 375000000});
    at.now_ns = S / 2;
    check_decision(p, &second, 2, &at, (struct retry_decision){true, RETRY_AS_TOLD, 3 * S});
    at.now_ns = 36 * S / 10;
    check_decision(p, &third, 3, &at, (struct retry_decision){false, RETRY_ENOUGH, 0});
}
END_TEST

// ---- reference: what is worth a repeat ----------------------------------------------------------

START_TEST(some_refusals_are_worth_a_repeat) { // CLI-11
    char what[80];
    for (int status = 100; status <= 1000; status++) {
        struct retry_failure f = refused(status, NULL);
        bool want = status == 408 || status == 409 || status == 429 || status / 100 == 5;
        snprintf(what, sizeof(what), "retry_can_help(refused, status %d)", status);
        assert_number(what, retry_can_help(&f), want);
    }
}
END_TEST

START_TEST(what_was_lost_is_worth_a_repeat_and_what_is_hopeless_is_not) {
    static const int statuses[] = {0, 200, 503, 404};
    for (int i = 0; i < 4; i++) {
        struct retry_failure f = refused(statuses[i], "3");
        char what[80];
        f.end = RETRY_LOST;
        snprintf(what, sizeof(what), "retry_can_help(lost, status %d)", statuses[i]);
        assert_number(what, retry_can_help(&f), true);
        f.n_received = 5; // a matter of retry_decide
        assert_number("retry_can_help(lost, 5 bytes received)", retry_can_help(&f), true);
        f.end = RETRY_HOPELESS;
        snprintf(what, sizeof(what), "retry_can_help(hopeless, status %d)", statuses[i]);
        assert_number(what, retry_can_help(&f), false);
    }
}
END_TEST

// ---- reference: our own pace --------------------------------------------------------------------

START_TEST(the_bound_doubles_up_to_the_cap) { // CLI-09, the header absent
    static const int64_t halves[] = {1, 2, 4, 8, 16, 16, 16};
    for (int attempt = 1; attempt <= 7; attempt++) {
        check_backoff(&retry_default_policy, attempt, 0, halves[attempt - 1] * (S / 2));
    }
}
END_TEST

START_TEST(many_tries_do_not_overflow) {
    static const int attempts[] = {31, 32, 33, 40, 63, 64, 65, 100, 1000, 2147483647};
    const struct retry_policy p = {.max_retries = 9, .base_ns = 1, .cap_ns = 1LL << 53};
    for (int i = 0; i < 10; i++) {
        check_backoff(&retry_default_policy, attempts[i], 0, 8 * S);
        check_backoff(&p, attempts[i], 0,
                      attempts[i] > 53 ? 1LL << 53 : 1LL << (attempts[i] - 1));
    }
}
END_TEST

START_TEST(a_random_share_of_the_bound_is_taken_off) {
    struct draw d = draw_start("a_random_share_of_the_bound");
    for (int round = 0; round < 200; round++) {
        const int64_t base = draw_int(&d, 1, 1000000000);
        const struct retry_policy p = {1, base, base * draw_int(&d, 1, 40), 0};
        int attempt = draw_int(&d, 1, 8);
        double random = (double)(draw_u64(&d) >> 11) / 9007199254740992.0;
        double bound = (double)base;
        for (int i = 1; i < attempt; i++) bound *= 2;
        if (bound > (double)p.cap_ns) bound = (double)p.cap_ns;
        check_backoff(&p, attempt, random, (int64_t)((1 - random) * bound + 0.5));
    }
}
END_TEST

// ---- reference: what the server says ------------------------------------------------------------

// clang-format off
static const struct {
    const char *header;
    int64_t want_ns;
} told[] = {
    {"20", 20 * S},
    {"1", S},
    {"007", 7 * S},
    {" 20\t ", 20 * S},
    {"86400", 86400 * S},
    {"9223372036", 9223372036 * S},
    {"9223372037", INT64_MAX},             // in ns it does not fit
    {"9223372036854775807", INT64_MAX},
    {"18446744073709551620", INT64_MAX},   // 2^64 + 4
    {"99999999999999999999999999", INT64_MAX},
    {"Fri, 29 Sep 2023 16:26:57 GMT", 20 * S},
    {" Fri, 29 Sep 2023 16:26:38 GMT ", S},
    {"Friday, 29-Sep-23 16:27:37 GMT", 60 * S},
    {"Fri Sep 29 16:26:57 2023", 20 * S},
    {"Sun, 01 Oct 2023 00:00:00 GMT", 113603 * S},
    {"Fri, 31 Dec 9999 23:59:59 GMT", INT64_MAX},
};
static const char *const nothing_told[] = {
    NULL, "", " ", "0", "000", "-10", "+5", "1.5", "3 s", "3s", "s3", "soon", "1e3", "0x10", "3,3",
    "Fri, 29 Sep 2023 16:26:37 GMT", // now
    "Fri, 29 Sep 2023 16:26:27 GMT", // past
    "Thu, 01 Jan 1970 00:00:00 GMT",
    "Fri, 29 Sep 2023 16:26:57",     // of which zone?
    "Fri, 31 Feb 2024 16:26:57 GMT",
    "2024-09-29T16:26:57Z",
};
// clang-format on

START_TEST(seconds_and_dates_are_understood) {
    check_told(told[_i].header, WALL_S, told[_i].want_ns);
}
END_TEST

START_TEST(what_tells_nothing_of_use_is_0) {
    check_told(nothing_told[_i], WALL_S, 0);
}
END_TEST

START_TEST(drawn_seconds_and_dates_are_understood) {
    struct draw d = draw_start("drawn_seconds_and_dates");
    for (int round = 0; round < 100; round++) {
        char header[64];
        int64_t wall_s = (int64_t)(draw_u64(&d) % 4000000000),
                ahead = draw_int(&d, -99, 999999);
        time_t then = (time_t)(wall_s + ahead);
        struct tm t;

        snprintf(header, sizeof(header), "%" PRId64, ahead < 0 ? -ahead : ahead);
        check_told(header, wall_s, (ahead < 0 ? -ahead : ahead) * S);
        strftime(header, sizeof(header), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&then, &t));
        if (then >= 0) check_told(header, wall_s, ahead > 0 ? ahead * S : 0);
    }
}
END_TEST

// ---- reference: the decision --------------------------------------------------------------------

// clang-format off
static const struct {
    const char *retry_after;
    enum retry_reason reason;
    int64_t wait_ns;
} cli_09[] = {
    {"20",                            RETRY_AS_TOLD,  20 * S},
    {"0",                             RETRY_OWN_PACE, S / 2},
    {"-10",                           RETRY_OWN_PACE, S / 2},
    {"Fri, 29 Sep 2023 16:26:27 GMT", RETRY_OWN_PACE, S / 2}, // past
    {"Fri, 29 Sep 2023 16:26:40 GMT", RETRY_AS_TOLD,  3 * S},
    {"60",                            RETRY_AS_TOLD,  60 * S},
};
// clang-format on

START_TEST(the_header_is_obeyed_when_it_makes_sense) { // CLI-09
    check_plain(refused(429, cli_09[_i].retry_after), 1,
                (struct retry_decision){true, cli_09[_i].reason, cli_09[_i].wait_ns});
}
END_TEST

START_TEST(without_a_header_waits_double) { // CLI-09
    const struct retry_policy p = {9, S / 2, 8 * S, 60 * S};
    const struct retry_failure f = refused(429, NULL);
    const struct retry_moment at = moment(5 * S, INT64_MAX, 0);
    static const int64_t halves[] = {1, 2, 4, 8, 16, 16};
    for (int i = 0; i < 6; i++) {
        check_decision(&p, &f, i + 1, &at,
                       (struct retry_decision){true, RETRY_OWN_PACE, halves[i] * (S / 2)});
    }
}
END_TEST

START_TEST(what_the_server_says_has_neither_jitter_nor_our_bounds) {
    const struct retry_policy p = {9, 4 * S, 8 * S, 60 * S};
    static const char *const headers[] = {"1", "3", "10", "59"};
    static const int64_t seconds[] = {1, 3, 10, 59};
    for (int i = 0; i < 4; i++) {
        const struct retry_failure f = refused(503, headers[i]);
        for (int attempt = 1; attempt <= 4; attempt++) {
            const struct retry_moment at = moment(S, INT64_MAX, 0.25 * (attempt - 1));
            check_decision(&p, &f, attempt, &at,
                           (struct retry_decision){true, RETRY_AS_TOLD, seconds[i] * S});
        }
    }
}
END_TEST

// Plays a server that fails n_failures times and then answers; returns the requests it saw. gaps_ns:
// between one and the next.
static int play(const struct retry_policy *p, const struct retry_failure *f, int n_failures,
                int64_t gaps_ns[8]) {
    int64_t now_ns = 0;
    int attempt = 1;
    for (; attempt <= n_failures; attempt++) {
        const struct retry_moment at = moment(now_ns, INT64_MAX, 0.99);
        struct retry_decision next = retry_decide(p, f, attempt, &at);
        if (!next.again) break;
        gaps_ns[attempt - 1] = next.wait_ns;
        now_ns += next.wait_ns;
    }
    return attempt;
}

START_TEST(a_server_that_asks_for_three_seconds_twice_gets_them) { // CLI-10
    const struct retry_failure f = refused(429, "3");
    int64_t gaps_ns[8] = {0};
    int n_requests = play(&retry_default_policy, &f, 2, gaps_ns);
    assert_number("requests, after 429 with Retry-After 3 twice", n_requests, 3);
    assert_number("first gap of at least 3 s", gaps_ns[0] >= 3 * S, 1);
    assert_number("second gap of at least 3 s", gaps_ns[1] >= 3 * S, 1);
}
END_TEST

START_TEST(max_retries_is_counted_without_the_first_try) {
    struct draw d = draw_start("max_retries_is_counted");
    for (int max = 0; max <= 4; max++) {
        const struct retry_policy p = {max, S, 2 * S, 60 * S};
        const struct retry_failure f = refused(500 + draw_int(&d, 0, 99), NULL);
        int64_t gaps_ns[8] = {0};
        char what[80];
        snprintf(what, sizeof(what), "requests, %d retries and a server that always fails",
                 max);
        assert_number(what, play(&p, &f, 8, gaps_ns), max + 1);
    }
}
END_TEST

START_TEST(an_answer_that_has_begun_is_not_asked_for_again) {
    struct retry_failure f = {.end = RETRY_LOST, .http_status = 200};
    check_plain(f, 1, (struct retry_decision){true, RETRY_OWN_PACE, S / 2});
    f.n_received = 1;
    check_plain(f, 1, (struct retry_decision){false, RETRY_BEGUN, 0});
    f.is_harmless = true;
    check_plain(f, 1, (struct retry_decision){true, RETRY_OWN_PACE, S / 2});
    f.n_received = 0;
    check_plain(f, 1, (struct retry_decision){true, RETRY_OWN_PACE, S / 2});
}
END_TEST

START_TEST(a_promise_that_is_too_long_is_for_people) {
    const struct retry_policy p = {2, S / 2, 8 * S, 60 * S};
    const struct retry_moment at = moment(0, INT64_MAX, 0.5);
    struct retry_failure f = refused(429, "61");
    check_decision(&p, &f, 1, &at, (struct retry_decision){false, RETRY_TOO_LONG, 61 * S});
    f.retry_after = "99999999999999999999";
    check_decision(&p, &f, 1, &at,
                   (struct retry_decision){false, RETRY_TOO_LONG, INT64_MAX});
    f.retry_after = "Fri, 29 Sep 2023 17:26:37 GMT";
    check_decision(&p, &f, 1, &at,
                   (struct retry_decision){false, RETRY_TOO_LONG, 3600 * S});
}
END_TEST

START_TEST(a_wait_ends_before_the_deadline_or_is_not_begun) {
    struct draw d = draw_start("a_wait_ends_before_the_deadline");
    for (int round = 0; round < 20; round++) {
        int64_t now_ns = (int64_t)(draw_u64(&d) >> 12);
        const struct retry_failure f = refused(429, "5");
        for (int64_t left = -1; left <= 6; left++) { // seconds, and then one ns more
            struct retry_moment at = moment(now_ns, now_ns + left * S, 0);
            if (at.deadline_ns < 0) continue;
            struct retry_decision late = {false, RETRY_LATE, 5 * S};
            struct retry_decision again = {true, RETRY_AS_TOLD, 5 * S};
            check_decision(&retry_default_policy, &f, 1, &at, left <= 5 ? late : again);
            at.deadline_ns++;
            check_decision(&retry_default_policy, &f, 1, &at, left < 5 ? late : again);
        }
        const struct retry_moment no_deadline = moment(now_ns, INT64_MAX, 0);
        check_decision(&retry_default_policy, &f, 1, &no_deadline,
                       (struct retry_decision){true, RETRY_AS_TOLD, 5 * S});
    }
}
END_TEST

START_TEST(our_own_pace_keeps_the_deadline_too) {
    const struct retry_failure f = {.end = RETRY_LOST};
    struct retry_moment at = moment(7 * S, 8 * S, 0); // behind try 2 the bound is 1 s
    check_decision(&retry_default_policy, &f, 2, &at,
                   (struct retry_decision){false, RETRY_LATE, S});
    at.random = 0.5;
    check_decision(&retry_default_policy, &f, 2, &at,
                   (struct retry_decision){true, RETRY_OWN_PACE, S / 2});
}
END_TEST

// ---- property: any failure at any moment --------------------------------------------------------

START_TEST(the_first_reason_that_holds_counts) {
    static const int statuses[] = {400, 401, 404, 408, 409, 422, 429, 500, 503, 529};
    struct draw d = draw_start("the_first_reason_that_holds");
    for (int round = 0; round < 400; round++) {
        const int64_t base_ns = draw_int(&d, 1, 2000) * INT64_C(1000001);
        const struct retry_policy p = {draw_int(&d, 0, 4), base_ns,
                                       base_ns * draw_int(&d, 1, 20),
                                       draw_int(&d, 0, 30) * S};
        int told_s = draw_int(&d, -20, 40), attempt = draw_int(&d, 1, 5);
        int64_t now_ns = draw_int(&d, 0, 2000000000),
                left_ns = draw_int(&d, -1, 90) * S + 3;
        char header[16];
        snprintf(header, sizeof(header), "%d", told_s);
        const struct retry_failure f = {
            .end = draw_int(&d, 0, 5) == 0 ? RETRY_HOPELESS
                                           : (enum retry_end)draw_int(&d, 0, 1),
            .http_status = statuses[draw_int(&d, 0, 9)],
            .retry_after = draw_int(&d, 0, 2) == 0 ? NULL : header,
            .n_received = draw_int(&d, -4, 3) > 0 ? draw_int(&d, 1, 9) : 0,
            .is_harmless = draw_int(&d, 0, 1),
        };
        const struct retry_moment at =
            moment(now_ns, now_ns + left_ns > 0 ? now_ns + left_ns : 0,
                   draw_int(&d, 0, 1023) / 1024.0);
        check_decision(&p, &f, attempt, &at,
                       decided_by_list(&p, &f, f.retry_after && told_s > 0 ? told_s * S : 0,
                                       attempt, &at));
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/retry");

    TCase *example = tcase_in(s, "worked example");
    tcase_add_test(example, worked_example);

    TCase *what = tcase_in(s, "what is worth a repeat");
    tcase_add_test(what, some_refusals_are_worth_a_repeat);
    tcase_add_test(what, what_was_lost_is_worth_a_repeat_and_what_is_hopeless_is_not);

    TCase *pace = tcase_in(s, "our own pace");
    tcase_add_test(pace, the_bound_doubles_up_to_the_cap);
    tcase_add_test(pace, many_tries_do_not_overflow);
    tcase_add_test(pace, a_random_share_of_the_bound_is_taken_off);

    TCase *header = tcase_in(s, "what the server says");
    tcase_add_loop_test(header, seconds_and_dates_are_understood, 0, ROWS(told));
    tcase_add_loop_test(header, what_tells_nothing_of_use_is_0, 0, ROWS(nothing_told));
    tcase_add_test(header, drawn_seconds_and_dates_are_understood);

    TCase *decision = tcase_in(s, "decision");
    tcase_add_loop_test(decision, the_header_is_obeyed_when_it_makes_sense, 0,
                        ROWS(cli_09));
    tcase_add_test(decision, without_a_header_waits_double);
    tcase_add_test(decision, what_the_server_says_has_neither_jitter_nor_our_bounds);
    tcase_add_test(decision, a_server_that_asks_for_three_seconds_twice_gets_them);
    tcase_add_test(decision, max_retries_is_counted_without_the_first_try);
    tcase_add_test(decision, an_answer_that_has_begun_is_not_asked_for_again);
    tcase_add_test(decision, a_promise_that_is_too_long_is_for_people);
    tcase_add_test(decision, a_wait_ends_before_the_deadline_or_is_not_begun);
    tcase_add_test(decision, our_own_pace_keeps_the_deadline_too);

    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, the_first_reason_that_holds_counts);
    return s;
}
