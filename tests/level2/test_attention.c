// Attention in parts against a plain softmax in double. Each function is judged alone; only the tests
// of the whole call all three.
#include "level2-operator/kernels/attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/suite.h"

enum { D_MAX = 128, SEGMENT = LIMIT_ATTENTION_SEGMENT, WHAT_BYTES = 128 };

static const double tolerance = 1e-4; // floats may be added in any order

// One row in one head. The arrays end where the numbers end, so that reading on is seen.
static struct problem {
    float *q, *k, *v; // (d_head), (n_keys, d_head), (n_keys, d_head)
    int n_keys, d_head;
    float scale;
} p;

static float *numbers(struct draw *d, int n) {
    float *x = malloc(sizeof(float) * (size_t)n);
    ck_assert(x != NULL);
    for (int i = 0; i < n; i++) x[i] = draw_float(d, -2.0f, 2.0f);
    return x;
}

static void problem_draw(const char *test_name, int n_keys, int d_head) {
    struct draw d = draw_start(test_name);
    free(p.q);
    free(p.k);
    free(p.v);
    p = (struct problem){.n_keys = n_keys, .d_head = d_head};
    p.q = numbers(&d, d_head);
    p.k = numbers(&d, n_keys * d_head);
    p.v = numbers(&d, n_keys * d_head);
    p.scale = 1.0f / sqrtf((float)d_head);
}

// ---- the oracle: one softmax over all keys, in double -------------------------------------------

struct answer {
    float max, sum, acc[D_MAX], y[D_MAX];
};

static double score(int i) {
    double dot = 0;
    for (int d = 0; d < p.d_head; d++)
        dot += (double)p.q[d] * (double)p.k[i * p.d_head + d];
    return dot * (double)p.scale;
}

static struct answer oracle(void) {
    struct answer a;
    double max = -INFINITY, sum = 0, acc[D_MAX] = {0};

    for (int i = 0; i < p.n_keys; i++) max = fmax(max, score(i));
    for (int i = 0; i < p.n_keys; i++) {
        double weight = exp(score(i) - max);
        sum += weight;
        for (int d = 0; d < p.d_head; d++) acc[d] += weight * (double)p.v[i * p.d_head + d];
    }
    a.max = (float)max;
    a.sum = (float)sum;
    for (int d = 0; d < p.d_head; d++) {
        a.acc[d] = (float)acc[d];
        a.y[d] = (float)(acc[d] / sum);
    }
    return a;
}

// ---- calling and comparing ----------------------------------------------------------------------

// Keys begin .. end - 1 as runs of run_len; returns how many.
static int cut(struct kv_run *runs, int begin, int end, int run_len) {
    int n_runs = 0;
    for (int i = begin; i < end; i += run_len) {
        runs[n_runs++] = (struct kv_run){p.k + i * p.d_head, p.v + i * p.d_head,
                                         i + run_len < end ? run_len : end - i};
    }
    return n_runs;
}

// A part that holds rubbish, so that what is not written is seen.
static struct attention_part rubbish(float *acc, int d_head) {
    for (int d = 0; d < d_head; d++) acc[d] = 99;
    return (struct attention_part){99, 99, acc};
}

static struct attention_part segment(float *acc, int run_len) {
    struct kv_run runs[SEGMENT];
    struct attention_part part = rubbish(acc, p.d_head);
    int n_runs = cut(runs, 0, p.n_keys, run_len);
    attention_segment(&part, p.q, runs, n_runs, p.d_head, p.scale);
    return part;
}

static void assert_part(const char *call, const struct attention_part *got, float max,
                        float sum, const float *acc, int d_head, double allowed) {
    char what[WHAT_BYTES];
    snprintf(what, sizeof(what), "%s max", call);
    assert_close(what, &got->max, &max, 1, allowed);
    snprintf(what, sizeof(what), "%s sum", call);
    assert_close(what, &got->sum, &sum, 1, allowed);
    snprintf(what, sizeof(what), "%s acc", call);
    assert_close(what, got->acc, acc, (size_t)d_head, allowed);
}

static void assert_empty(const char *call, const struct attention_part *got, int d_head) {
    static const float zeros[D_MAX];
    assert_part(call, got, -INFINITY, 0, zeros, d_head, 0);
}

// ---- segment ------------------------------------------------------------------------------------

// Scores ln 3 and 0: the second key weighs a third of the first.
START_TEST(worked_example) {
    float q[1] = {1}, k[2] = {1.0986123f, 0}, v[2] = {8, 4}, acc[1];
    const float want_acc[1] = {8 + 4 / 3.0f};
    struct kv_run run = {k, v, 2};
    struct attention_part part = rubbish(acc, 1);
    attention_segment(&part, q, &run, 1, 1, 1.0f);
    assert_part("attention_segment(2 keys of the worked example)", &part, 1.0986123f,
                1 + 1 / 3.0f, want_acc, 1, 1e-6);
}
END_TEST

static const struct {
    int n_keys, d_head, run_len;
} shapes[] = {
    {1,   1,   1  },
    {1,   64,  16 },
    {7,   33,  2  },
    {33,  8,   16 },
    {64,  1,   64 },
    {99,  128, 5  },
    {255, 64,  16 },
    {256, 7,   256},
    {256, 64,  100},
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

START_TEST(a_segment_says_what_softmax_says) { // the last round draws its shape
    char call[WHAT_BYTES];
    float acc[D_MAX];
    struct draw d = draw_start("attention shape");
    bool drawn = _i == N_SHAPES;
    int n_keys = drawn ? draw_int(&d, 2, SEGMENT) : shapes[_i].n_keys;
    int d_head = drawn ? draw_int(&d, 2, D_MAX) : shapes[_i].d_head;
    int run_len = drawn ? draw_int(&d, 1, n_keys) : shapes[_i].run_len;

    problem_draw("attention segment", n_keys, d_head);
    struct answer want = oracle();
    struct attention_part part = segment(acc, run_len);
    snprintf(call, sizeof(call), "attention_segment(%d keys in runs of %d, d_head %d)",
             n_keys, run_len, d_head);
    assert_part(call, &part, want.max, want.sum, want.acc, d_head, tolerance);
}
END_TEST

START_TEST(no_key_makes_an_empty_part) {
    float acc[3], q[3] = {1, 2, 3};
    struct kv_run runs[2] = {{0}};
    struct attention_part part = rubbish(acc, 3);
    attention_segment(&part, q, NULL, 0, 3, 1.0f);
    assert_empty("attention_segment(no run)", &part, 3);
    part = rubbish(acc, 3);
    attention_segment(&part, q, runs, 2, 3, 1.0f);
    assert_empty("attention_segment(2 runs of no key)", &part, 3);
}
END_TEST

// Keys 0 .. 9 and 20 .. 29, and a run of none between them.
START_TEST(runs_may_lie_anywhere) {
    float acc[8];
    problem_draw("attention anywhere", 30, 8);
    struct kv_run runs[3] = {
        {p.k, p.v, 10}
    };
    runs[2] = (struct kv_run){p.k + 20 * 8, p.v + 20 * 8, 10};
    struct attention_part part = rubbish(acc, 8);
    attention_segment(&part, p.q, runs, 3, 8, p.scale);

    // The oracle wants neighbours.
    memmove(p.k + 10 * 8, p.k + 20 * 8, 10 * 8 * sizeof(float));
    memmove(p.v + 10 * 8, p.v + 20 * 8, 10 * 8 * sizeof(float));
    p.n_keys = 20;
    struct answer want = oracle();
    assert_part("attention_segment(runs of 10, 0 and 10 keys)", &part, want.max, want.sum,
                want.acc, 8, tolerance);
}
END_TEST

START_TEST(any_cutting_into_runs_gives_the_same_bits) {
    static const int n_keys[] = {7, 256}, run_lens[] = {1, 2, 3, 16, 100, 255};
    char call[WHAT_BYTES];
    float whole_acc[33], acc[33];

    problem_draw("attention runs", n_keys[_i], 33);
    struct attention_part whole = segment(whole_acc, SEGMENT);
    for (int r = 0; r < 6; r++) {
        struct attention_part part = segment(acc, run_lens[r]);
        snprintf(call, sizeof(call), "attention_segment(%d keys in runs of %d)", n_keys[_i],
                 run_lens[r]);
        assert_part(call, &part, whole.max, whole.sum, whole_acc, 33, 0);
    }
}
END_TEST

// ---- segment: numbers at the end of the range ---------------------------------------------------

static const struct {
    const char *name;
    float k[3], v[3];    // three keys of d_head 1; q and scale are 1
    float max, sum, acc; // wanted
} extremes[] = {
    {"a key masked by -INFINITY",     {2, -INFINITY, 2},                 {3, 7, 5},   2,         2, 8},
    {"the first key masked",          {-INFINITY, 2, 2},                 {7, 3, 5},   2,         2, 8},
    {"the value of a masked key NaN", {-INFINITY, 5, -INFINITY},         {NAN, 3, 7}, 5,         1, 3},
    {"all keys masked",               {-INFINITY, -INFINITY, -INFINITY}, {1, 2, 3},   -INFINITY, 0, 0},
    {"exp(score) beyond a float",     {1000, 1000, 1000},                {1, 2, 3},   1000,      3, 6},
    {"scores far apart",              {0, 1000, -1000},                  {3, 4, 5},   1000,      1, 4},
    {"all scores far below zero",     {-1000, -1000, -1000},             {1, 2, 3},   -1000,     3, 6},
    {"scores at the ends of floats",  {-3e38f, 3e38f, 3e38f},            {1, 2, 3},   3e38f,     2, 5},
};

START_TEST(extreme_scores_leave_no_nan) {
    char call[WHAT_BYTES];
    float q[1] = {1}, acc[1];
    struct kv_run run = {extremes[_i].k, extremes[_i].v, 3};
    struct attention_part part = rubbish(acc, 1);
    attention_segment(&part, q, &run, 1, 1, 1.0f);
    snprintf(call, sizeof(call), "attention_segment(3 keys: %s)", extremes[_i].name);
    assert_part(call, &part, extremes[_i].max, extremes[_i].sum, &extremes[_i].acc, 1,
                1e-6);
}
END_TEST

// NUM-08: q . k is 131072, and half precision ends at 65504.
START_TEST(a_large_dot_product_stays_finite) {
    float acc[128], want[128];
    problem_draw("attention large", 2, 128);
    for (int i = 0; i < 128; i++) {
        p.q[i] = p.k[i] = p.k[128 + i] = 32;
        want[i] = p.v[i] + p.v[128 + i];
    }
    struct attention_part part = segment(acc, 1);
    assert_part("attention_segment(2 keys, all of q and k 32, d_head 128)", &part,
                131072 * p.scale, 2, want, 128, 1e-6);
}
END_TEST

// ---- merge --------------------------------------------------------------------------------------

START_TEST(worked_example_merge) { // the two keys, each in a segment of its own
    float a[1] = {8}, b[1] = {4};
    const float want_acc[1] = {8 + 4 / 3.0f};
    struct attention_part into = {1.0986123f, 1, a}, part = {0, 1, b};
    attention_merge(&into, &part, 1);
    assert_part("attention_merge(the two segments of the worked example)", &into,
                1.0986123f, 1 + 1 / 3.0f, want_acc, 1, 1e-6);
}
END_TEST

// A part of n keys that nobody has seen: only its three pieces count.
static struct attention_part part_draw(struct draw *d, float *acc, int d_head, float max) {
    for (int i = 0; i < d_head; i++) acc[i] = draw_float(d, -50.0f, 50.0f);
    return (struct attention_part){max, draw_float(d, 1.0f, 99.0f), acc};
}

START_TEST(two_parts_meet_on_the_larger_maximum) { // max of part: below, equal, above
    char call[WHAT_BYTES];
    float a[D_MAX], b[D_MAX], before[D_MAX], want[D_MAX];
    int d_head = _i < 3 ? 7 : 64;
    struct draw d = draw_start("attention merge");
    float max = draw_float(&d, -9, 9);
    float other = max + (float)(_i % 3 - 1) * draw_float(&d, 0.1f, 3);
    struct attention_part into = part_draw(&d, a, d_head, max);
    struct attention_part part = part_draw(&d, b, d_head, other);
    memcpy(before, b, sizeof(b));

    double top = fmax((double)max, (double)other);
    double keep = exp((double)max - top), add = exp((double)other - top);
    float sum = (float)(keep * (double)into.sum + add * (double)part.sum);
    for (int i = 0; i < d_head; i++)
        want[i] = (float)(keep * (double)a[i] + add * (double)b[i]);

    attention_merge(&into, &part, d_head);
    snprintf(call, sizeof(call), "attention_merge(max %g, with max %g, d_head %d)",
             (double)max, (double)other, d_head);
    assert_part(call, &into, (float)top, sum, want, d_head, tolerance);
    assert_close("attention_merge(into, part): acc of part", b, before, (size_t)d_head, 0);
}
END_TEST

START_TEST(an_empty_part_changes_nothing) {
    float a[5], before[5], none[5] = {0};
    struct draw d = draw_start("attention empty");
    struct attention_part into = part_draw(&d, a, 5, -3), empty = {-INFINITY, 0, none};
    float sum = into.sum;
    memcpy(before, a, sizeof(a));
    attention_merge(&into, &empty, 5);
    assert_part("attention_merge(into, an empty part)", &into, -3, sum, before, 5, 1e-6);
}
END_TEST

START_TEST(an_empty_part_becomes_what_it_is_given) {
    float none[5] = {0}, b[5];
    struct draw d = draw_start("attention first");
    struct attention_part into = {-INFINITY, 0, none}, part = part_draw(&d, b, 5, -3);
    attention_merge(&into, &part, 5);
    assert_part("attention_merge(an empty part, part)", &into, -3, part.sum, b, 5, 1e-6);
}
END_TEST

START_TEST(two_empty_parts_stay_empty) {
    float a[2] = {0}, b[2] = {0};
    struct attention_part into = {-INFINITY, 0, a}, part = {-INFINITY, 0, b};
    attention_merge(&into, &part, 2);
    assert_empty("attention_merge(two empty parts)", &into, 2);
}
END_TEST

START_TEST(maxima_far_apart_leave_the_larger) { // exp(2000) is infinity and must not be met
    float a[2] = {3, 4}, b[2] = {5, 6}, large[2] = {5, 6};
    struct attention_part into = {-1000, 2, a}, part = {1000, 7, b};
    attention_merge(&into, &part, 2);
    assert_part("attention_merge(max -1000, with max 1000)", &into, 1000, 7, large, 2,
                1e-6);
    a[0] = 3, a[1] = 4;
    struct attention_part small = {-1000, 2, a}, first = {1000, 7, b};
    attention_merge(&first, &small, 2);
    assert_part("attention_merge(max 1000, with max -1000)", &first, 1000, 7, large, 2,
                1e-6);
}
END_TEST

// ---- finish -------------------------------------------------------------------------------------

// (8 + 4/3) / (4/3) is 7: three quarters of 8 and a quarter of 4.
START_TEST(worked_example_finish) {
    float acc[1] = {8 + 4 / 3.0f}, y[1] = {99}, want[1] = {7};
    struct attention_part part = {1.0986123f, 1 + 1 / 3.0f, acc};
    attention_finish(y, &part, 1);
    assert_close("attention_finish(the worked example) y", y, want, 1, 1e-6);
}
END_TEST

START_TEST(the_sum_divides_every_element) {
    static const int head_sizes[] = {1, 33};
    char what[WHAT_BYTES];
    float acc[D_MAX], want[D_MAX], *y = malloc(sizeof(float) * (size_t)head_sizes[_i]);
    struct draw d = draw_start("attention finish");
    struct attention_part part = part_draw(&d, acc, head_sizes[_i], -5);
    for (int i = 0; i < head_sizes[_i]; i++) want[i] = acc[i] / part.sum;
    attention_finish(y, &part, head_sizes[_i]);
    snprintf(what, sizeof(what), "attention_finish(sum %g, d_head %d) y", (double)part.sum,
             head_sizes[_i]);
    assert_close(what, y, want, (size_t)head_sizes[_i], 1e-6);
    free(y);
}
END_TEST

START_TEST(an_empty_part_gives_zeros) { // NUM-07
    float acc[3] = {0}, y[3] = {99, 99, 99}, want[3] = {0};
    struct attention_part part = {-INFINITY, 0, acc};
    attention_finish(y, &part, 3);
    assert_close("attention_finish(an empty part) y", y, want, 3, 0);
}
END_TEST

// ---- whole: segments of 256 keys from position 0, merged in ascending order ---------------------

static void attend(float *y, int run_len) {
    float acc[2][D_MAX] = {{0}};
    struct attention_part whole = {-INFINITY, 0, acc[0]}, part = {0, 0, acc[1]};
    struct kv_run runs[SEGMENT];

    for (int begin = 0; begin < p.n_keys; begin += SEGMENT) {
        int end = begin + SEGMENT < p.n_keys ? begin + SEGMENT : p.n_keys;
        int n_runs = cut(runs, begin, end, run_len);
        attention_segment(&part, p.q, runs, n_runs, p.d_head, p.scale);
        attention_merge(&whole, &part, p.d_head);
    }
    attention_finish(y, &whole, p.d_head);
}

START_TEST(segments_match_one_softmax_over_all_keys) {
    static const int key_counts[] = {1, 256, 257, 513, 1000};
    char what[WHAT_BYTES];
    int n_keys = key_counts[_i], d_head = 33;
    float y[D_MAX];

    problem_draw("attention whole", n_keys, d_head);
    struct answer want = oracle();
    attend(y, 16);
    snprintf(what, sizeof(what), "attention over %d keys, d_head %d: y", n_keys, d_head);
    assert_close(what, y, want.y, (size_t)d_head, tolerance);
}
END_TEST

START_TEST(a_row_with_everything_masked_gives_zeros) { // NUM-07, in two segments
    float y[4], zeros[4] = {0};
    problem_draw("attention masked", 300, 4);
    for (int d = 0; d < 4; d++) p.q[d] = d == 0;
    for (int i = 0; i < 300; i++) p.k[i * 4] = -INFINITY;
    attend(y, 16);
    assert_close("attention over 300 masked keys: y", y, zeros, 4, 0);
}
END_TEST

static TCase *tcase(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    suite_add_tcase(s, tc);
    return tc;
}

static void segment_tests(Suite *s) {
    tcase_add_test(tcase(s, "segment worked example"), worked_example);
    TCase *reference = tcase(s, "segment reference");
    tcase_add_loop_test(reference, a_segment_says_what_softmax_says, 0, N_SHAPES + 1);

    TCase *edges = tcase(s, "segment edges");
    tcase_add_test(edges, no_key_makes_an_empty_part);
    tcase_add_test(edges, runs_may_lie_anywhere);
    tcase_add_loop_test(edges, any_cutting_into_runs_gives_the_same_bits, 0, 2);

    TCase *extreme = tcase(s, "segment extremes");
    tcase_add_loop_test(extreme, extreme_scores_leave_no_nan, 0,
                        sizeof(extremes) / sizeof(extremes[0]));
    tcase_add_test(extreme, a_large_dot_product_stays_finite);
}

static void merge_tests(Suite *s) {
    tcase_add_test(tcase(s, "merge worked example"), worked_example_merge);
    TCase *reference = tcase(s, "merge reference");
    tcase_add_loop_test(reference, two_parts_meet_on_the_larger_maximum, 0, 2 * 3);

    TCase *edges = tcase(s, "merge edges");
    tcase_add_test(edges, an_empty_part_changes_nothing);
    tcase_add_test(edges, an_empty_part_becomes_what_it_is_given);
    tcase_add_test(edges, two_empty_parts_stay_empty);
    tcase_add_test(edges, maxima_far_apart_leave_the_larger);
}

Suite *suite(void) {
    Suite *s = suite_create("level2/attention");
    segment_tests(s);
    merge_tests(s);

    tcase_add_test(tcase(s, "finish worked example"), worked_example_finish);
    TCase *finish = tcase(s, "finish reference");
    tcase_add_loop_test(finish, the_sum_divides_every_element, 0, 2);
    tcase_add_test(finish, an_empty_part_gives_zeros);

    TCase *whole = tcase(s, "whole reference");
    tcase_add_loop_test(whole, segments_match_one_softmax_over_all_keys, 0, 5);
    tcase_add_test(whole, a_row_with_everything_masked_gives_zeros);
    return s;
}
