// Clocks: the real one goes forward, the virtual one only when told to.
#include "common/clock.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "tests/support/suite.h"

enum { MS = 1000000 };

START_TEST(virtual_time_moves_only_by_sleeping_or_by_hand) {
    struct clock c;
    clock_init_virtual(&c, 5);
    ck_assert_int_eq(clock_now(&c), 5);
    ck_assert_int_eq(clock_now(&c), 5);
    c.sleep(&c, 3600ll * 1000 * MS); // returns at once
    ck_assert_int_eq(clock_now(&c), 5 + 3600ll * 1000 * MS);
    c.virtual_ns = 7;
    ck_assert_int_eq(clock_now(&c), 7);
}
END_TEST

START_TEST(nobody_sleeps_back_in_time) {
    struct clock c;
    clock_init_virtual(&c, 100);
    c.sleep(&c, 0);
    c.sleep(&c, -50);
    ck_assert_int_eq(clock_now(&c), 100);
    clock_init_real(&c);
    int64_t start = clock_now(&c);
    c.sleep(&c, -3600ll * 1000 * MS);
    ck_assert_int_lt(clock_now(&c) - start, 1000 * MS);
}
END_TEST

START_TEST(two_virtual_clocks_are_strangers) {
    struct clock a, b;
    clock_init_virtual(&a, 0);
    clock_init_virtual(&b, 0);
    a.sleep(&a, 9);
    ck_assert_int_eq(clock_now(&b), 0);
}
END_TEST

START_TEST(real_time_never_goes_back) {
    struct clock c;
    clock_init_real(&c);
    int64_t last = clock_now(&c);
    for (int i = 0; i < 10000; i++) {
        int64_t now = clock_now(&c);
        if (now < last) ck_abort_msg("%lld after %lld", (long long)now, (long long)last);
        last = now;
    }
}
END_TEST

START_TEST(a_real_sleep_is_never_short) {
    struct clock c;
    clock_init_real(&c);
    for (int i = 0; i < 5; i++) {
        int64_t start = clock_now(&c);
        c.sleep(&c, 3 * MS);
        ck_assert_int_ge(clock_now(&c) - start, 3 * MS);
    }
}
END_TEST

static void on_alarm(int signal) {
    (void)signal;
}

START_TEST(a_signal_does_not_end_a_sleep) {
    struct clock c;
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_alarm; // no SA_RESTART
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every_2_ms =
                         {
                             {0, 2000},
                             {0, 2000}
    },
                     off = {{0, 0}, {0, 0}};
    clock_init_real(&c);
    int64_t start = clock_now(&c);
    setitimer(ITIMER_REAL, &every_2_ms, NULL);
    c.sleep(&c, 20 * MS);
    setitimer(ITIMER_REAL, &off, NULL);
    ck_assert_int_ge(clock_now(&c) - start, 20 * MS);
}
END_TEST

START_TEST(wall_time_is_in_seconds_since_1970) {
    int64_t before = (int64_t)time(NULL), now = clock_unix_s();
    ck_assert_int_ge(now, before);
    ck_assert_int_le(now, before + 2);
    ck_assert_int_gt(now, 1700000000); // November 2023
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/clock");

    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, virtual_time_moves_only_by_sleeping_or_by_hand);
    tcase_add_test(reference, wall_time_is_in_seconds_since_1970);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, nobody_sleeps_back_in_time);
    tcase_add_test(edges, two_virtual_clocks_are_strangers);
    tcase_add_test(edges, a_signal_does_not_end_a_sleep);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_test(property, real_time_never_goes_back);
    tcase_add_test(property, a_real_sleep_is_never_short);
    suite_add_tcase(s, property);
    return s;
}
