// RMSNorm: hand-worked rows, a double oracle, and what must not change a result.
#include "level2-operator/rmsnorm.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"

enum { MAX_VALUES = 3 * 577 };

static const struct {
    const char *name;
    int n_tokens, d_model;
    float eps;
    float x[4], w[4], want[4];
} rows[] = {
    {"weights scale each column",  1, 2, 0,     {1, 1},       {2, 5},    {2, 5}               },
    {"signs stay",                 1, 2, 0,     {-3, 3},      {1, 1},    {-1, 1}              },
    {"3, 4: mean square 12.5",     1, 2, 0,     {3, 4},       {1, 1},    {.848528f, 1.131371f}},
    {"rows do not see each other", 2, 2, 0,     {1, 1, 9, 9}, {1, 1},    {1, 1, 1, 1}         },
    {"a row of zeros stays zero",  1, 3, 1e-5f, {0, 0, 0},    {1, 2, 3}, {0, 0, 0}            },
    {"one column",                 1, 1, 0,     {-7},         {2},       {-2}                 },
};

START_TEST(matches_hand_worked_rows) {
    float y[4];
    rmsnorm(y, rows[_i].x, rows[_i].w, rows[_i].n_tokens, rows[_i].d_model, rows[_i].eps);
    assert_close(rows[_i].name, y, rows[_i].want,
                 (size_t)(rows[_i].n_tokens * rows[_i].d_model), 2e-6);
}
END_TEST

START_TEST(
    epsilon_is_the_one_given) { // NUM-06: 1e-5 and 1e-6 differ by a factor of two here
    static const float eps[] = {1e-5f, 1e-6f}, each[] = {.301511f, .707107f};
    float x[4] = {.001f, .001f, .001f, .001f}, w[4] = {1, 1, 1, 1}, y[4];
    float want[4] = {each[_i], each[_i], each[_i], each[_i]};
    rmsnorm(y, x, w, 1, 4, eps[_i]);
    assert_close("y", y, want, 4, 2e-6);
}
END_TEST

static const int sizes[] = {1, 7, 8, 9, 33, 64, 576, 577};

static void fill(struct draw *d, float *x, int n) {
    for (int i = 0; i < n; i++) x[i] = draw_float(d, -3.0f, 3.0f);
}

START_TEST(matches_the_equation_in_double) {
    static float x[MAX_VALUES], w[MAX_VALUES], y[MAX_VALUES], want[MAX_VALUES];
    struct draw d = draw_start("rmsnorm oracle");
    int n = sizes[_i];
    fill(&d, x, 3 * n);
    fill(&d, w, n);

    for (int t = 0; t < 3; t++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += (double)x[t * n + i] * (double)x[t * n + i];
        for (int i = 0; i < n; i++)
            want[t * n + i] =
                (float)((double)w[i] * (double)x[t * n + i] / sqrt(sum / n + 1e-5));
    }
    rmsnorm(y, x, w, 3, n, 1e-5f);
    assert_close("y", y, want, (size_t)(3 * n), 1e-6);
}
END_TEST

START_TEST(the_result_may_replace_the_input) {
    float x[6] = {1, 2, 3, -4, 5, -6}, w[3] = {1, 2, 3}, y[6];
    rmsnorm(y, x, w, 2, 3, 1e-5f);
    rmsnorm(x, x, w, 2, 3, 1e-5f);
    ck_assert_mem_eq(x, y, sizeof(y));
}
END_TEST

START_TEST(no_tokens_write_nothing) {
    float y = 42, x = 1, w = 1;
    rmsnorm(&y, &x, &w, 0, 1, 1e-5f);
    ck_assert(y == 42);
}
END_TEST

START_TEST(large_values_do_not_overflow) { // 1e25 squared is beyond float
    float x[2] = {1e25f, -1e25f}, w[2] = {1, 1}, y[2], want[2] = {1, -1};
    rmsnorm(y, x, w, 1, 2, 1e-5f);
    assert_close("y", y, want, 2, 1e-6);
}
END_TEST

START_TEST(a_nan_stays_in_its_row) {
    float x[4] = {NAN, 1, 1, 1}, w[2] = {1, 1}, y[4];
    rmsnorm(y, x, w, 2, 2, 1e-5f);
    ck_assert(isnan(y[0]) && isnan(y[1]));
    ck_assert(!isnan(y[2]) && !isnan(y[3]));
}
END_TEST

START_TEST(rows_together_equal_rows_alone_bit_for_bit) {
    static float x[5 * 33], w[33], together[5 * 33], alone[33];
    struct draw d = draw_start("rmsnorm rows");
    fill(&d, x, 5 * 33);
    fill(&d, w, 33);
    rmsnorm(together, x, w, 5, 33, 1e-5f);
    for (int t = 0; t < 5; t++) {
        rmsnorm(alone, x + t * 33, w, 1, 33, 1e-5f);
        ck_assert_mem_eq(alone, together + t * 33, sizeof(alone));
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rmsnorm");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, matches_hand_worked_rows, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_loop_test(reference, epsilon_is_the_one_given, 0, 2);
    tcase_add_loop_test(reference, matches_the_equation_in_double, 0,
                        sizeof(sizes) / sizeof(sizes[0]));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, the_result_may_replace_the_input);
    tcase_add_test(edges, no_tokens_write_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, large_values_do_not_overflow);
    tcase_add_test(failures, a_nan_stays_in_its_row);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_test(property, rows_together_equal_rows_alone_bit_for_bit);
    suite_add_tcase(s, property);
    return s;
}
