// Who may wait, and when the others are told to come back.
#include "level2-operator/service/admission.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/broken.h"
#include "tests/support/suite.h"

static void assert_enters(const char *what, struct admission *a, enum status want) {
    int retry = 0;
    assert_text(what, status_name(admission_enter(a, &retry, NULL)), status_name(want));
}

static void assert_mean(const char *what, const struct admission *a, double want) {
    float got_s = (float)a->mean_service_s, want_s = (float)want;
    assert_close(what, &got_s, &want_s, 1, 1e-6);
}

START_TEST(worked_example) {
    struct admission a;
    int retry = 0;
    admission_init(&a, 2);
    assert_enters("admission_enter(0 of 2 inside)", &a, OK);
    assert_enters("admission_enter(1 of 2 inside)", &a, OK);
    assert_enters("admission_enter(2 of 2 inside)", &a, ERR_BUSY);
    admission_leave(&a, 8);
    assert_mean("mean_service_s after 8 s", &a, 8);
    admission_leave(&a, 18);
    assert_mean("mean_service_s after 8 and 18 s", &a, 9.25);
    assert_enters("admission_enter(0 of 2 inside)", &a, OK);
    assert_enters("admission_enter(1 of 2 inside)", &a, OK);
    admission_enter(&a, &retry, NULL);
    assert_number("admission_enter(mean 9.25 s) *retry_after_s", retry, 10);
}
END_TEST

// --- places -------------------------------------------------------------------------------------

START_TEST(fills_to_the_last_place_and_no_further) {
    static const int sizes[] = {1, 2, 7, 33};
    for (int i = 0; i < 4; i++) {
        struct admission a;
        char what[80];
        admission_init(&a, sizes[i]);
        for (int n = 0; n <= sizes[i]; n++) {
            snprintf(what, sizeof(what), "admission_enter(%d of %d inside)", n, sizes[i]);
            assert_enters(what, &a, n < sizes[i] ? OK : ERR_BUSY);
        }
        assert_number("n_inside after a refusal", a.n_inside, sizes[i]);
    }
}
END_TEST

START_TEST(gives_a_place_back) {
    struct draw d = draw_start("gives_a_place_back");
    struct admission a;
    int n_inside = draw_int(&d, 1, 40);
    admission_init(&a, 40);
    a.n_inside = n_inside;
    for (; n_inside > 0; n_inside--) {
        assert_number("n_inside", a.n_inside, n_inside);
        admission_leave(&a, 1);
    }
    assert_number("n_inside when all have left", a.n_inside, 0);
}
END_TEST

START_TEST(counts_everyone) {
    struct draw d = draw_start("counts_everyone");
    struct admission a;
    int n_inside = 0, max = draw_int(&d, 2, 9);
    admission_init(&a, max);
    for (int i = 0; i < 2000; i++) {
        if (draw_int(&d, 0, 1)) {
            assert_enters("admission_enter", &a, n_inside < max ? OK : ERR_BUSY);
            n_inside += n_inside < max;
        } else if (n_inside > 0) {
            admission_leave(&a, 1);
            n_inside--;
        }
        assert_number("n_inside", a.n_inside, n_inside);
    }
}
END_TEST

static void leave(void *a) {
    admission_leave(a, 1);
}

START_TEST(nobody_leaves_an_empty_house) {
    struct admission a = {1, 2, 3};
    assert_text("admission_leave(1 of 2 inside)", ending_of(leave, &a), "it returned");
    a.n_inside = 0;
    assert_text("admission_leave(nobody inside)", ending_of(leave, &a), "MUST aborted it");
}
END_TEST

// --- retries ------------------------------------------------------------------------------------

static const struct {
    double mean_s;
    int want_s;
} retries[] = {
    {0,      1   },
    {0.001,  1   },
    {1,      1   },
    {1.001,  2   },
    {2.1,    3   },
    {4,      4   },
    {4.0001, 5   },
    {59.5,   60  },
    {3599.5, 3600},
    {3601,   3600},
    {1e9,    3600},
    {1e300,  3600},
};

START_TEST(says_when_to_come_back) {
    for (size_t i = 0; i < sizeof(retries) / sizeof(retries[0]); i++) {
        struct admission a = {1, 1, retries[i].mean_s};
        char what[80];
        int retry = 0;
        admission_enter(&a, &retry, NULL);
        snprintf(what, sizeof(what), "admission_enter(mean %g s) *retry_after_s",
                 retries[i].mean_s);
        assert_number(what, retry, retries[i].want_s);
    }
}
END_TEST

START_TEST(rounds_up_whatever_the_mean) {
    struct draw d = draw_start("rounds_up_whatever_the_mean");
    for (int i = 0; i < 50; i++) {
        int whole = draw_int(&d, 1, 3000), retry = 0;
        double mean = whole + (double)draw_float(&d, 0.01f, 0.99f);
        struct admission a = {7, 7, mean};
        char what[80];
        admission_enter(&a, &retry, NULL);
        snprintf(what, sizeof(what), "admission_enter(mean %g s) *retry_after_s", mean);
        assert_number(what, retry, whole + 1);
    }
}
END_TEST

START_TEST(a_refusal_names_the_limit) {
    struct admission a = {4711, 4711, 2};
    struct error err = {0};
    int retry = 0;
    admission_enter(&a, &retry, &err);
    assert_text("err.code", status_name(err.code), status_name(ERR_BUSY));
    ck_assert_msg(strstr(err.text, "4711"), "err.text = \"%s\", want 4711 in it", err.text);
}
END_TEST

START_TEST(says_nothing_to_who_comes_in) {
    struct admission a = {2, 3, 9};
    struct error err = {0};
    int retry = 77;
    admission_enter(&a, &retry, &err);
    assert_number("admission_enter(2 of 3 inside) *retry_after_s", retry, 77);
    assert_number("admission_enter(2 of 3 inside) err.code", err.code, OK);
}
END_TEST

// A burst on a clock of its own: one machine, one second a request, first come first served. n_more
// than there are places come at once; who is refused comes back after so many parts of what he was
// told.
struct burst {
    int n_tries;
    int last_s; // when the last answer is there
};

static struct burst play_burst(int n_places, int n_more, int part) {
    enum { MOST = 64 };
    int comes_s[MOST] = {0}, waits[MOST], n_waiting = 0, n_served = 0,
        n = n_places + n_more;
    struct admission a = {.max_inside = n_places, .mean_service_s = n_places};
    struct burst b = {0, 0};
    for (int now_s = 0; n_served < n && now_s < 1000; now_s++) {
        if (n_served < n_waiting) { // waits[n_served] ran in the second before
            admission_leave(&a, now_s - comes_s[waits[n_served]]);
            n_served++;
            b.last_s = now_s;
        }
        for (int i = 0, told_s = 0; i < n; i++) {
            bool has_come = comes_s[i] != now_s;
            if (has_come) continue;
            b.n_tries++;
            if (admission_enter(&a, &told_s, NULL) == OK)
                waits[n_waiting++] = i;
            else
                comes_s[i] += told_s > part ? told_s / part : 1;
        }
    }
    return b;
}

START_TEST(the_answer_comes_no_sooner_for_coming_back_sooner) {
    struct draw d = draw_start("the_answer_comes_no_sooner_for_coming_back_sooner");
    int n_places = draw_int(&d, 4, 30), n_more = draw_int(&d, 2, n_places);
    struct burst as_told = play_burst(n_places, n_more, 1);
    struct burst too_soon = play_burst(n_places, n_more, n_places);
    assert_number("the last answer of a burst", as_told.last_s, n_places + n_more);
    assert_number("the last answer, coming back when one place is free", too_soon.last_s,
                  n_places + n_more);
    assert_number("tries, each of the refused twice", as_told.n_tries,
                  n_places + 2 * n_more);
    ck_assert_msg(too_soon.n_tries > as_told.n_tries,
                  "%d tries, %d when coming back sooner", as_told.n_tries,
                  too_soon.n_tries);
}
END_TEST

// --- mean ---------------------------------------------------------------------------------------

START_TEST(moves_by_an_eighth) {
    struct draw d = draw_start("moves_by_an_eighth");
    for (int round = 0; round < 20; round++) {
        double mean = (double)draw_float(&d, 0.1f, 90),
               served = (double)draw_float(&d, 0, 90);
        struct admission a = {3, 7, round ? mean : 0};
        char what[80];
        admission_leave(&a, served);
        snprintf(what, sizeof(what), "admission_leave(mean %g s, %g s) mean_service_s",
                 round ? mean : 0, served);
        assert_mean(what, &a, round ? (7 * mean + served) / 8 : served);
    }
}
END_TEST

START_TEST(forgets_an_old_load) { // after 50 times at 1 s, 100 s are 1.12 s
    struct admission a = {60, 60, 100};
    double want = 100;
    for (int i = 0; i < 50; i++) {
        admission_leave(&a, 1);
        want = 1 + (want - 1) * 7 / 8;
    }
    assert_mean("mean_service_s, 100 s, then 50 of 1 s", &a, want);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/admission");
    TCase *worked = tcase_create("worked example");
    tcase_add_test(worked, worked_example);
    suite_add_tcase(s, worked);
    TCase *places = tcase_create("places");
    tcase_add_test(places, fills_to_the_last_place_and_no_further);
    tcase_add_test(places, gives_a_place_back);
    tcase_add_test(places, counts_everyone);
    tcase_add_test(places, nobody_leaves_an_empty_house);
    suite_add_tcase(s, places);
    TCase *retry = tcase_create("retries");
    tcase_add_test(retry, says_when_to_come_back);
    tcase_add_test(retry, rounds_up_whatever_the_mean);
    tcase_add_test(retry, the_answer_comes_no_sooner_for_coming_back_sooner);
    tcase_add_test(retry, a_refusal_names_the_limit);
    tcase_add_test(retry, says_nothing_to_who_comes_in);
    suite_add_tcase(s, retry);
    TCase *mean = tcase_create("mean");
    tcase_add_test(mean, moves_by_an_eighth);
    tcase_add_test(mean, forgets_an_old_load);
    suite_add_tcase(s, mean);
    return s;
}
