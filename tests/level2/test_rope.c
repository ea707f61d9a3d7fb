// Rotary positions: pairs worked by hand, a turn in double over many shapes, and what attention relies on.
// Tests of one function never call the other, so that each can be written first.
#include "level2-operator/kernels/rope.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static const enum rope_pairing pairings[] = {ROPE_NEIGHBOURS, ROPE_HALVES};

static const char *name_of(enum rope_pairing pairing) {
    return pairing == ROPE_HALVES ? "halves" : "neighbours";
}

// ---- worked example -----------------------------------------------------------------------------

// NUM-01, one and the same vector in both pairings, is {1, 0, 0, 0} at position 1.
static const struct {
    enum rope_pairing pairing;
    int position;
    float x[4], want[4];
} rows[] = {
    {ROPE_NEIGHBOURS, 1, {1, 2, 3, 4},  {-1.1426396f, 1.9220756f, 2.9598507f, 4.0297995f}},
    {ROPE_HALVES,     1, {1, 2, 3, 4},  {-1.9841107f, 1.9599007f, 2.4623779f, 4.0197997f}},
    {ROPE_NEIGHBOURS, 1, {1, 0, 0, 0},  {.5403023f, .8414710f, 0, 0}                     },
    {ROPE_HALVES,     1, {1, 0, 0, 0},  {.5403023f, 0, .8414710f, 0}                     },
    {ROPE_NEIGHBOURS, 2, {0, 2, 0, 0},  {-1.8185949f, -.8322937f, 0, 0}                  },
    {ROPE_HALVES,     0, {1, -2, 3, 4}, {1, -2, 3, 4}                                    },
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };

static void assert_row(int i) {
    const float freq[2] = {1, 0.01f}, *in = rows[i].x;
    float x[4];
    char what[128];
    snprintf(what, sizeof(what), "rope(x {%g, %g, %g, %g}, position %d, %s) x",
             (double)in[0], (double)in[1], (double)in[2], (double)in[3], rows[i].position,
             name_of(rows[i].pairing));
    memcpy(x, in, sizeof(x));
    rope(x, freq, rows[i].position, 1, 4, rows[i].pairing);
    assert_close(what, x, rows[i].want, 4, 1e-6);
}

START_TEST(worked_example) {
    assert_row(0);
    assert_row(1);
}
END_TEST

START_TEST(worked_example_of_frequencies) {
    float freq[4];
    const float of_4[] = {1, 0.01f}, of_8[] = {1, 0.1f, 0.01f, 0.001f};
    rope_frequencies(freq, 4, 10000);
    assert_close("rope_frequencies(d_head 4, base 10000) freq", freq, of_4, 2, 1e-7);
    rope_frequencies(freq, 8, 10000);
    assert_close("rope_frequencies(d_head 8, base 10000) freq", freq, of_8, 4, 1e-7);
}
END_TEST

START_TEST(more_rows_worked_by_hand) {
    assert_row(2 + _i);
}
END_TEST

// ---- frequencies --------------------------------------------------------------------------------

static const int head_sizes[] = {2, 6, 64, 66, 128};
enum { N_HEAD_SIZES = sizeof(head_sizes) / sizeof(head_sizes[0]), MAX_PAIRS = 64 };

// A number that was computed in double and rounded to float once is at most half a step off.
START_TEST(frequencies_fall_from_one_by_powers_of_the_base) {
    struct draw d = draw_start("rope frequencies");
    int d_head = head_sizes[_i], n = d_head / 2;
    float base = draw_float(&d, 5000, 1e6f);
    float *freq = malloc((size_t)n * sizeof(float)); // ends exactly where it may be written
    float want[MAX_PAIRS], off[MAX_PAIRS], none[MAX_PAIRS] = {0};
    char what[128];

    rope_frequencies(freq, d_head, base);
    for (int i = 0; i < n; i++) {
        double exact = exp(-2.0 * i / d_head * log((double)base));
        want[i] = (float)exact;
        off[i] = (float)(((double)freq[i] / exact - 1) * 0x1p24);
    }
    snprintf(what, sizeof(what), "rope_frequencies(d_head %d, base %.9g) freq", d_head,
             (double)base);
    assert_close(what, freq, want, (size_t)n, 1e-6);
    snprintf(what, sizeof(what),
             "rope_frequencies(d_head %d, base %.9g) error of freq, in 2^-24 of it", d_head,
             (double)base);
    assert_close(what, off, none, (size_t)n, 1.001);
    free(freq);
}
END_TEST

// ---- turns --------------------------------------------------------------------------------------

static const struct {
    int d_head, n_heads, position;
} shapes[] = {
    {2,   1, 3   },
    {6,   3, 1   },
    {8,   1, 7   },
    {16,  5, 8191},
    {64,  3, 100 },
    {66,  2, 33  },
    {128, 5, 511 }
};
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]), MAX_HEADS = 5, MAX_HEAD = 128 };

static void fill(struct draw *d, float *x, int n, float low, float high) {
    for (int i = 0; i < n; i++) x[i] = draw_float(d, low, high);
}

// The turn of the header, in double.
static void turn(float *x, const float *freq, int position, int d_head,
                 enum rope_pairing pairing) {
    for (int i = 0; i < d_head / 2; i++) {
        float *a = pairing == ROPE_HALVES ? x + i : x + 2 * i;
        float *b = pairing == ROPE_HALVES ? x + i + d_head / 2 : x + 2 * i + 1;
        double was_a = (double)*a, was_b = (double)*b;
        double angle = position * (double)freq[i];
        *a = (float)(was_a * cos(angle) - was_b * sin(angle));
        *b = (float)(was_a * sin(angle) + was_b * cos(angle));
    }
}

START_TEST(every_pair_of_every_head_turns) { // _i: shape and pairing
    int d_head = shapes[_i / 2].d_head, n_heads = shapes[_i / 2].n_heads;
    int n = n_heads * d_head, position = shapes[_i / 2].position;
    enum rope_pairing pairing = pairings[_i % 2];
    struct draw d = draw_start("rope turns");
    float *x = malloc((size_t)n * sizeof(float)); // ends exactly where it may be written
    float want[MAX_HEADS * MAX_HEAD], freq[MAX_HEAD / 2];
    char what[128];

    fill(&d, x, n, -2, 2);
    fill(&d, freq, d_head / 2, 0, 1); // not those of any base: what is given counts
    memcpy(want, x, (size_t)n * sizeof(float));
    for (int h = 0; h < n_heads; h++)
        turn(want + h * d_head, freq, position, d_head, pairing);

    rope(x, freq, position, n_heads, d_head, pairing);
    snprintf(what, sizeof(what), "rope(position %d, %d heads, d_head %d, %s) x", position,
             n_heads, d_head, name_of(pairing));
    assert_close(what, x, want, (size_t)n, 1e-6);
    free(x);
}
END_TEST

START_TEST(a_far_position_keeps_its_angle) { // in float, 2^24 + 1 would round to 2^24
    float x[2] = {1, 0}, freq[1] = {1};
    const float want[2] = {(float)cos(16777217.0), (float)sin(16777217.0)};
    rope(x, freq, 16777217, 1, 2, pairings[_i]);
    assert_close("rope(x {1, 0}, freq {1}, position 16777217) x", x, want, 2, 1e-6);
}
END_TEST

START_TEST(no_heads_turn_nothing) {
    float x[2] = {1, 2}, freq[1] = {1};
    const float want[2] = {1, 2};
    rope(x, freq, 5, 0, 2, ROPE_NEIGHBOURS);
    assert_close("rope(x {1, 2}, position 5, 0 heads) x", x, want, 2, 0);
}
END_TEST

// ---- what attention relies on -------------------------------------------------------------------

static float dot(const float *a, const float *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += (double)a[i] * (double)b[i];
    return (float)sum;
}

START_TEST(a_turn_keeps_the_length) {
    float x[66], freq[33];
    struct draw d = draw_start("rope length");
    fill(&d, x, 66, -2, 2);
    fill(&d, freq, 33, 0, 1);
    float before = dot(x, x, 66);
    rope(x, freq, draw_int(&d, 1, 5000), 1, 66, pairings[_i]);
    float after = dot(x, x, 66);
    assert_close("rope(d_head 66) sum of x[i] * x[i]", &after, &before, 1, 1e-5);
}
END_TEST

START_TEST(a_dot_product_knows_only_the_distance) {
    float freq[32], near[2][64], far[2][64];
    struct draw d = draw_start("rope distance");
    fill(&d, freq, 32, 0, 1);
    fill(&d, near[0], 2 * 64, -2, 2);
    memcpy(far, near, sizeof(near));
    int from = draw_int(&d, 0, 50), distance = draw_int(&d, 1, 50);

    rope(near[0], freq, from, 1, 64, pairings[_i]);
    rope(near[1], freq, from + distance, 1, 64, pairings[_i]);
    rope(far[0], freq, from + 1000, 1, 64, pairings[_i]);
    rope(far[1], freq, from + 1000 + distance, 1, 64, pairings[_i]);

    char what[128];
    snprintf(what, sizeof(what), "q . k at positions %d and %d, both moved on by 1000",
             from, from + distance);
    float moved = dot(far[0], far[1], 64), here = dot(near[0], near[1], 64);
    assert_close(what, &moved, &here, 1, 1e-4);
}
END_TEST

START_TEST(a_head_alone_gets_the_same_bits) {
    float together[3 * 16], alone[3 * 16], freq[8];
    struct draw d = draw_start("rope heads");
    fill(&d, together, 3 * 16, -2, 2);
    fill(&d, freq, 8, 0, 1);
    memcpy(alone, together, sizeof(alone));
    int position = draw_int(&d, 1, 5000);

    rope(together, freq, position, 3, 16, pairings[_i]);
    for (int h = 0; h < 3; h++) rope(alone + h * 16, freq, position, 1, 16, pairings[_i]);
    assert_close("rope(1 head, three times) beside rope(3 heads) x", alone, together,
                 3 * 16, 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rope");

    TCase *example = tcase_create("worked example");
    tcase_add_test(example, worked_example);
    tcase_add_test(example, worked_example_of_frequencies);
    tcase_add_loop_test(example, more_rows_worked_by_hand, 0, N_ROWS - 2);
    suite_add_tcase(s, example);

    TCase *frequencies = tcase_create("frequencies");
    tcase_add_loop_test(frequencies, frequencies_fall_from_one_by_powers_of_the_base, 0,
                        N_HEAD_SIZES);
    suite_add_tcase(s, frequencies);

    TCase *turns = tcase_create("turns");
    tcase_add_loop_test(turns, every_pair_of_every_head_turns, 0, 2 * N_SHAPES);
    tcase_add_loop_test(turns, a_far_position_keeps_its_angle, 0, 2);
    tcase_add_test(turns, no_heads_turn_nothing);
    suite_add_tcase(s, turns);

    TCase *attention = tcase_create("what attention relies on");
    tcase_add_loop_test(attention, a_turn_keeps_the_length, 0, 2);
    tcase_add_loop_test(attention, a_dot_product_knows_only_the_distance, 0, 2);
    tcase_add_loop_test(attention, a_head_alone_gets_the_same_bits, 0, 2);
    suite_add_tcase(s, attention);
    return s;
}
