// RMSNorm: rows worked by hand, the equation in double, and what must not change a row.
#include "level2-operator/kernels/rmsnorm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

enum { MAX_VALUES = 3 * 577 };

static const char *call(int n_tokens, int d_model, float eps) {
    static char what[64];
    snprintf(what, sizeof(what), "rmsnorm(%d x %d, eps %g) y", n_tokens, d_model,
             (double)eps);
    return what;
}

// Two rows that differ in size only come out the same. The sums stand in docs/level2/rmsnorm.md.
START_TEST(worked_example) {
    static const float x[] = {3, 4, -30, 40}, w[] = {1, 2};
    static const float want[] = {.848528f, 2.262742f, -.848528f, 2.262742f};
    float y[4];
    rmsnorm(y, x, w, 2, 2, 0);
    assert_close(call(2, 2, 0), y, want, 4, 2e-6);
}
END_TEST

static const struct {
    const char *name; // what the row shows
    int n_tokens, d_model;
    float eps;
    float x[4], w[4], want[4];
} rows[] = {
    {"weights scale each column",     1, 2, 0,     {1, 1},       {2, 5},       {2, 5}      },
    {"signs stay",                    1, 2, 0,     {-3, 3},      {1, 1},       {-1, 1}     },
    {"no mean is taken away",         1, 3, 0,     {2, 2, 2},    {1, 1, 1},    {1, 1, 1}   },
    {"rows do not see each other",    2, 2, 0,     {1, 1, 9, 9}, {1, 1},       {1, 1, 1, 1}},
    {"all rows share the weights",    2, 2, 0,     {1, 1, 9, 9}, {3, 4},       {3, 4, 3, 4}},
    {"a row of zeros stays zero",     1, 3, 1e-5f, {0, 0, 0},    {1, 2, 3},    {0, 0, 0}   },
    {"one column",                    1, 1, 0,     {-7},         {2},          {-2}        },
    {"eps belongs under the root",    1, 1, 9,     {4},          {1},          {.8f}       },
    {"eps is added to mean, not sum", 1, 4, 9,     {4, 4, 4, 4}, {5, 5, 5, 5}, {4, 4, 4, 4}},
};

START_TEST(matches_rows_worked_by_hand) {
    float y[4];
    char what[128];
    snprintf(what, sizeof(what), "%s (%s)",
             call(rows[_i].n_tokens, rows[_i].d_model, rows[_i].eps), rows[_i].name);
    rmsnorm(y, rows[_i].x, rows[_i].w, rows[_i].n_tokens, rows[_i].d_model, rows[_i].eps);
    assert_close(what, y, rows[_i].want, (size_t)(rows[_i].n_tokens * rows[_i].d_model),
                 2e-6);
}
END_TEST

// NUM-06: for small rows the two usual epsilons differ by a factor of more than two.
START_TEST(epsilon_is_the_one_given) {
    static const float eps[] = {1e-5f, 1e-6f}, each[] = {.301511f, .707107f};
    float x[4] = {.001f, .001f, .001f, .001f}, w[4] = {1, 1, 1, 1}, y[4];
    float want[4] = {each[_i], each[_i], each[_i], each[_i]};
    rmsnorm(y, x, w, 1, 4, eps[_i]);
    assert_close(call(1, 4, eps[_i]), y, want, 4, 2e-6);
}
END_TEST

static const int sizes[] = {1, 7, 8, 9, 33, 64, 576, 577};

static void fill(struct draw *d, float *x, int n) {
    for (int i = 0; i < n; i++) x[i] = draw_float(d, -3.0f, 3.0f);
}

START_TEST(matches_the_equation_in_double) {
    static float x[MAX_VALUES], w[MAX_VALUES], y[MAX_VALUES + 1], want[MAX_VALUES + 1];
    struct draw d = draw_start("rmsnorm oracle");
    int n = sizes[_i];
    fill(&d, x, 3 * n);
    fill(&d, w, n);
    for (int i = 0; i < n; i++) x[n + i] *= 100; // the middle row is of another size

    for (int t = 0; t < 3; t++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += (double)x[t * n + i] * (double)x[t * n + i];
        for (int i = 0; i < n; i++)
            want[t * n + i] =
                (float)((double)w[i] * (double)x[t * n + i] / sqrt(sum / n + 1e-5));
    }
    y[3 * n] = want[3 * n] = 42; // one behind the last: stays as it is
    rmsnorm(y, x, w, 3, n, 1e-5f);
    assert_close(call(3, n, 1e-5f), y, want, (size_t)(3 * n + 1), 1e-6);
}
END_TEST

START_TEST(the_result_may_replace_the_input) {
    static float x[4 * 33], w[33], y[4 * 33];
    struct draw d = draw_start("rmsnorm in place");
    fill(&d, x, 4 * 33);
    fill(&d, w, 33);
    rmsnorm(y, x, w, 4, 33, 1e-5f);
    rmsnorm(x, x, w, 4, 33, 1e-5f);
    assert_close("rmsnorm(y is x, 4 x 33) y", x, y, 4 * 33, 1e-6);
}
END_TEST

START_TEST(the_input_stays_as_it_was) {
    static float x[2 * 9], before[2 * 9], w[9], y[2 * 9];
    struct draw d = draw_start("rmsnorm input");
    fill(&d, x, 2 * 9);
    fill(&d, w, 9);
    memcpy(before, x, sizeof(x));
    rmsnorm(y, x, w, 2, 9, 1e-5f);
    assert_close("rmsnorm(2 x 9) x afterwards", x, before, 2 * 9, 0);
}
END_TEST

START_TEST(no_tokens_write_nothing) {
    float y = 42, want = 42, x = 1, w = 1;
    rmsnorm(&y, &x, &w, 0, 1, 1e-5f);
    assert_close("rmsnorm(0 x 1) y", &y, &want, 1, 0);
}
END_TEST

START_TEST(squares_beyond_float_are_no_harm) { // (1e25)^2 is infinity in float
    float x[2] = {1e25f, -1e25f}, w[2] = {1, 1}, y[2], want[2] = {1, -1};
    rmsnorm(y, x, w, 1, 2, 1e-5f);
    assert_close("rmsnorm(1e25, -1e25) y", y, want, 2, 1e-6);
}
END_TEST

START_TEST(a_nan_stays_in_its_row) {
    float x[4] = {NAN, 1, 1, 1}, w[2] = {1, 1}, y[4], want[2] = {1, 1};
    rmsnorm(y, x, w, 2, 2, 0);
    assert_number("rmsnorm(NaN in row 0) values of row 0 that are NaN",
                  !!isnan(y[0]) + !!isnan(y[1]), 2);
    assert_close("rmsnorm(NaN in row 0) row 1 of y", y + 2, want, 2, 1e-6);
}
END_TEST

START_TEST(rows_together_equal_rows_alone_bit_for_bit) {
    static float x[5 * 33], w[33], together[5 * 33], alone[33];
    struct draw d = draw_start("rmsnorm rows");
    fill(&d, x, 5 * 33);
    fill(&d, w, 33);
    rmsnorm(together, x, w, 5, 33, 1e-5f);
    for (int t = 0; t < 5; t++) {
        char what[64];
        snprintf(what, sizeof(what), "rmsnorm(row %d of 5 x 33 alone) y", t);
        rmsnorm(alone, x + t * 33, w, 1, 33, 1e-5f);
        assert_close(what, alone, together + t * 33, 33, 0);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rmsnorm");
    TCase *example = tcase_create("worked example");
    tcase_add_test(example, worked_example);
    suite_add_tcase(s, example);

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, matches_rows_worked_by_hand, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_loop_test(reference, epsilon_is_the_one_given, 0, 2);
    tcase_add_loop_test(reference, matches_the_equation_in_double, 0,
                        sizeof(sizes) / sizeof(sizes[0]));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, the_result_may_replace_the_input);
    tcase_add_test(edges, the_input_stays_as_it_was);
    tcase_add_test(edges, no_tokens_write_nothing);
    tcase_add_test(edges, squares_beyond_float_are_no_harm);
    tcase_add_test(edges, a_nan_stays_in_its_row);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_test(property, rows_together_equal_rows_alone_bit_for_bit);
    suite_add_tcase(s, property);
    return s;
}
