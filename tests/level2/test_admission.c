// Who may wait, and when the others are told to come back.
#include "level2-operator/admission.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *name;
    double served[4]; // service times, ended by -1
    int want_s;       // Retry-After
} retries[] = {
    {"nothing finished yet: one second",   {-1},               1   },
    {"one finished: its time, rounded up", {2.1, -1},          3   },
    {"a whole number stays",               {4.0, -1},          4   },
    {"never below one second",             {0.001, -1},        1   },
    {"the newest counts one eighth",       {8.0, 16.0, -1},    9   }, // 8 + 8/8
    {"and again",                          {8.0, 16.0, 1, -1}, 8   }, // 9 - 8/8
    {"a promise has an end",               {1e9, -1},          3600},
};

START_TEST(says_when_to_come_back) {
    struct admission a;
    struct error err;
    int retry = 0;
    admission_init(&a, 1);
    for (int i = 0; i < 4 && retries[_i].served[i] >= 0; i++) {
        ck_assert_int_eq(admission_enter(&a, &retry, &err), OK);
        admission_leave(&a, retries[_i].served[i]);
    }
    ck_assert_int_eq(admission_enter(&a, &retry, &err), OK);
    ck_assert_int_eq(admission_enter(&a, &retry, &err), ERR_BUSY);
    ck_assert_msg(retry == retries[_i].want_s, "%s: Retry-After %d, want %d",
                  retries[_i].name, retry, retries[_i].want_s);
}
END_TEST

START_TEST(fills_to_the_last_place_and_no_further) {
    for (int max = 1; max <= 33; max++) {
        struct admission a;
        struct error err;
        int retry = 0;
        admission_init(&a, max);
        for (int i = 0; i < max; i++)
            ck_assert_int_eq(admission_enter(&a, &retry, &err), OK);
        ck_assert_int_eq(admission_enter(&a, &retry, &err), ERR_BUSY);
        ck_assert_int_eq(a.n_inside, max); // who is refused is not counted
        admission_leave(&a, 1);
        ck_assert_int_eq(admission_enter(&a, &retry, &err), OK);
    }
}
END_TEST

START_TEST(a_refusal_names_the_limit) {
    struct admission a;
    struct error err = {0};
    int retry = 0;
    admission_init(&a, 7);
    for (int i = 0; i < 7; i++) ck_assert_int_eq(admission_enter(&a, &retry, &err), OK);
    ck_assert_int_eq(admission_enter(&a, &retry, &err), ERR_BUSY);
    ck_assert_int_eq(err.code, ERR_BUSY);
    ck_assert_ptr_nonnull(strstr(err.text, "7"));
}
END_TEST

// The mean stays between the shortest and the longest time seen; nobody is lost.
START_TEST(counts_everyone_and_keeps_a_sane_mean) {
    struct draw d = draw_start("admission");
    struct admission a;
    int retry = 0, n_inside = 0;
    double least = INFINITY, most = 0;
    admission_init(&a, 9);
    for (int i = 0; i < 5000; i++) {
        if (draw_int(&d, 0, 1)) {
            bool is_in = admission_enter(&a, &retry, NULL) == OK;
            ck_assert(is_in == (n_inside < 9));
            n_inside += is_in;
        } else if (n_inside > 0) {
            double served = (double)draw_float(&d, 0.5f, 20.0f);
            least = fmin(least, served);
            most = fmax(most, served);
            admission_leave(&a, served);
            n_inside--;
            ck_assert(a.mean_service_s >= least - 1e-9 && a.mean_service_s <= most + 1e-9);
        }
        ck_assert_int_eq(a.n_inside, n_inside);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/admission");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, says_when_to_come_back, 0,
                        sizeof(retries) / sizeof(*retries));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, fills_to_the_last_place_and_no_further);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_refusal_names_the_limit);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_test(property, counts_everyone_and_keeps_a_sane_mean);
    suite_add_tcase(s, property);
    return s;
}
