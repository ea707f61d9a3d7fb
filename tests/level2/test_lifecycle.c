// The states of a server: every arrow, and nothing else.
#include "level2-operator/lifecycle.h"

#include <string.h>

#include "tests/support/suite.h"

static struct lifecycle ready_with(int n_in_flight) {
    struct lifecycle l;
    lifecycle_init(&l);
    lifecycle_ready(&l);
    for (int i = 0; i < n_in_flight; i++) ck_assert_int_eq(lifecycle_enter(&l, NULL), OK);
    return l;
}

START_TEST(walks_from_loading_to_stopped) {
    struct lifecycle l;
    lifecycle_init(&l);
    ck_assert_int_eq(l.state, SERVER_LOADING);
    lifecycle_ready(&l);
    ck_assert_int_eq(l.state, SERVER_READY);
    ck_assert_int_eq(lifecycle_enter(&l, NULL), OK);
    lifecycle_terminate(&l, 1000, 500);
    ck_assert_int_eq(l.state, SERVER_DRAINING);
    ck_assert_int_eq(l.drain_until_ns, 1500);
    lifecycle_leave(&l);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
}
END_TEST

START_TEST(refuses_with_a_reason_in_every_other_state) {
    struct lifecycle l;
    struct error err;
    lifecycle_init(&l);
    ck_assert_int_eq(lifecycle_enter(&l, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.text, "loading"));

    l = ready_with(1);
    lifecycle_terminate(&l, 0, 10);
    ck_assert_int_eq(lifecycle_enter(&l, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.text, "draining"));

    lifecycle_terminate(&l, 1, 10);
    ck_assert_int_eq(lifecycle_enter(&l, &err), ERR_STATE);
    ck_assert_ptr_nonnull(strstr(err.text, "stopped"));
    ck_assert_int_eq(l.n_in_flight, 1); // who is refused is not counted
}
END_TEST

START_TEST(a_second_terminate_stops_at_once) {
    struct lifecycle l = ready_with(3);
    lifecycle_terminate(&l, 0, 1000);
    ck_assert_int_eq(l.state, SERVER_DRAINING);
    lifecycle_terminate(&l, 1, 1000);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
    for (int i = 0; i < 3; i++) lifecycle_leave(&l); // the cut-off ones still leave
    ck_assert_int_eq(l.state, SERVER_STOPPED);
}
END_TEST

START_TEST(stops_at_once_when_nothing_runs) {
    struct lifecycle l = ready_with(0);
    lifecycle_terminate(&l, 0, 1000);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
    lifecycle_init(&l); // or while loading
    lifecycle_terminate(&l, 0, 1000);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
    l = ready_with(1); // or when there is no time to drain
    lifecycle_terminate(&l, 0, 0);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
}
END_TEST

START_TEST(a_tick_ends_the_drain_exactly_on_time) {
    struct lifecycle l = ready_with(1);
    lifecycle_tick(&l, INT64_MAX); // not draining: nothing
    ck_assert_int_eq(l.state, SERVER_READY);
    lifecycle_terminate(&l, 100, 50);
    lifecycle_tick(&l, 149);
    ck_assert_int_eq(l.state, SERVER_DRAINING);
    lifecycle_tick(&l, 150);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
}
END_TEST

START_TEST(a_drain_time_without_end_does_not_wrap) {
    struct lifecycle l = ready_with(1);
    lifecycle_terminate(&l, 1000, INT64_MAX);
    lifecycle_tick(&l, INT64_MAX - 1);
    ck_assert_int_eq(l.state, SERVER_DRAINING);
}
END_TEST

START_TEST(late_news_about_loading_changes_nothing) {
    struct lifecycle l;
    lifecycle_init(&l);
    lifecycle_failed(&l);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
    lifecycle_ready(&l);
    ck_assert_int_eq(l.state, SERVER_STOPPED);
    l = ready_with(1);
    lifecycle_failed(&l);
    ck_assert_int_eq(l.state, SERVER_READY);
    lifecycle_terminate(&l, 0, 10);
    lifecycle_ready(&l);
    ck_assert_int_eq(l.state, SERVER_DRAINING);
}
END_TEST

START_TEST(names_every_state) {
    ck_assert_str_eq(lifecycle_name(SERVER_LOADING), "loading");
    ck_assert_str_eq(lifecycle_name(SERVER_READY), "ready");
    ck_assert_str_eq(lifecycle_name(SERVER_DRAINING), "draining");
    ck_assert_str_eq(lifecycle_name(SERVER_STOPPED), "stopped");
}
END_TEST

// Whatever happens in whatever order: nobody enters unless ready, nothing leaves STOPPED, and
// entered - left = in flight.
START_TEST(keeps_its_promises_under_random_calls) {
    struct draw d = draw_start("lifecycle");
    for (int round = 0; round < 200; round++) {
        struct lifecycle l;
        int n_inside = 0;
        int64_t now = 0;
        lifecycle_init(&l);
        for (int i = 0; i < 60; i++) {
            enum server_state before = l.state;
            bool entered = false;
            now += draw_int(&d, 0, 20);
            switch (draw_int(&d, 0, 7)) {
            case 0:
                lifecycle_ready(&l);
                break;
            case 1:
                if (draw_int(&d, 0, 9) == 0) lifecycle_terminate(&l, now, 50);
                break;
            case 2:
                lifecycle_tick(&l, now);
                break;
            case 3:
            case 4:
                if (n_inside > 0) {
                    lifecycle_leave(&l);
                    n_inside--;
                }
                break;
            default:
                entered = lifecycle_enter(&l, NULL) == OK;
                if (entered) n_inside++;
                break;
            }
            ck_assert_int_eq(l.n_in_flight, n_inside);
            ck_assert(!entered || before == SERVER_READY);
            ck_assert(l.state >= before); // the arrows only go one way
            ck_assert(l.state != SERVER_DRAINING || n_inside > 0);
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/lifecycle");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, walks_from_loading_to_stopped);
    tcase_add_test(reference, a_second_terminate_stops_at_once);
    tcase_add_test(reference, a_tick_ends_the_drain_exactly_on_time);
    tcase_add_test(reference, names_every_state);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, stops_at_once_when_nothing_runs);
    tcase_add_test(edges, a_drain_time_without_end_does_not_wrap);
    tcase_add_test(edges, late_news_about_loading_changes_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, refuses_with_a_reason_in_every_other_state);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_test(property, keeps_its_promises_under_random_calls);
    suite_add_tcase(s, property);
    return s;
}
