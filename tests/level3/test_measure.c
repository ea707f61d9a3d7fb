// Rates by the virtual clock: work that sleeps a known time.
#include "level3-optimizer/measure.h"

#include <string.h>

#include "tests/support/suite.h"

static struct clock virtual_clock;
static struct progress silent; // all zero: no stream
static char order[32];

struct work {
    char name;
    int64_t n_ns[1 + MEASURE_RUNS]; // of the warm-up, then of each run
    int n_runs;
};

static double sleep_and_note(void *arg) {
    struct work *w = arg;
    strncat(order, &w->name, 1);
    virtual_clock.sleep(&virtual_clock, w->n_ns[w->n_runs++]);
    return 10;
}

static void setup(void) {
    clock_init_virtual(&virtual_clock, 0);
    progress_start(&silent, NULL, &virtual_clock, "", 1, false);
    order[0] = '\0';
}

START_TEST(median_and_spread_leave_the_warm_up_out) {
    struct work w = {
        'a', {1, 100, 500, 200, 1000, 250},
         0
    };
    struct measurement m = {.work = sleep_and_note, .arg = &w};
    measure(&m, 1, &virtual_clock, &silent);
    ck_assert_double_eq_tol(m.rate.min, 10 / 1000e-9, 1);
    ck_assert_double_eq_tol(m.rate.median, 10 / 250e-9, 1);
    ck_assert_double_eq_tol(m.rate.max, 10 / 100e-9, 1);
}
END_TEST

START_TEST(rounds_take_turns) {
    struct work a =
                    {
                        'a', {1, 1, 1, 1, 1, 1},
                         0
    },
                b = {'b', {2, 2, 2, 2, 2, 2}, 0};
    struct measurement m[] = {
        {.work = sleep_and_note, .arg = &a},
        {.work = sleep_and_note, .arg = &b}
    };
    measure(m, 2, &virtual_clock, &silent);
    assert_text("order of the work", order, "abababababab");
    ck_assert_double_eq_tol(m[0].rate.median, 10 / 1e-9, 1);
    ck_assert_double_eq_tol(m[1].rate.median, 10 / 2e-9, 1);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level3/measure");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, NULL);
    tcase_add_test(reference, median_and_spread_leave_the_warm_up_out);
    tcase_add_test(reference, rounds_take_turns);
    suite_add_tcase(s, reference);
    return s;
}
