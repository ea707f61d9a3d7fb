// Rotary positions: hand-worked pairs, a double oracle, and the properties attention relies on.
#include "level2-operator/rope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "level2-operator/matmul.h"
#include "tests/support/suite.h"

enum { MAX_HEAD = 128, MAX_HEADS = 5 };

static const enum rope_pairing pairings[] = {ROPE_NEIGHBOURS, ROPE_HALVES};

// ---- reference ---------------------------------------------------------------------------------

static const struct {
    const char *name;
    enum rope_pairing pairing;
    int position;
    float x[4], want[4];
} rows[] = {
    {"NUM-01: neighbours",  ROPE_NEIGHBOURS, 1, {1, 0, 0, 0},  {.540302f, .841471f, 0, 0}   },
    {"NUM-01: halves",      ROPE_HALVES,     1, {1, 0, 0, 0},  {.540302f, 0, .841471f, 0}   },
    {"b turns to -a",       ROPE_NEIGHBOURS, 1, {0, 1, 0, 0},  {-.841471f, .540302f, 0, 0}  },
    {"second pair, slow",   ROPE_NEIGHBOURS, 1, {0, 0, 1, 0},  {0, 0, .999950f, .009999833f}},
    {"the same in halves",  ROPE_HALVES,     1, {0, 1, 0, 0},  {0, .999950f, 0, .009999833f}},
    {"position 2",          ROPE_NEIGHBOURS, 2, {0, 2, 0, 0},  {-1.818595f, -.832294f, 0, 0}},
    {"position 0: nothing", ROPE_HALVES,     0, {1, -2, 3, 4}, {1, -2, 3, 4}                },
};

START_TEST(matches_hand_worked_rows) {
    float x[4], freq[2];
    memcpy(x, rows[_i].x, sizeof(x));
    rope_frequencies(freq, 4, 10000.0f);
    rope(x, freq, rows[_i].position, 1, 4, rows[_i].pairing);
    assert_close(rows[_i].name, x, rows[_i].want, 4, 1e-6);
}
END_TEST

START_TEST(frequencies_are_powers_of_the_base) {
    float freq[32], want[4] = {1.0f, 0.1f, 0.01f, 0.001f};
    rope_frequencies(freq, 8, 10000.0f);
    assert_close("freq", freq, want, 4, 1e-7);

    rope_frequencies(freq, 64, 100000.0f); // the default model's
    float last = (float)pow(100000.0, -62.0 / 64.0);
    ck_assert_msg(freq[0] == 1.0f && freq[31] == last, "%g .. %g", (double)freq[0],
                  (double)freq[31]);
}
END_TEST

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
enum { N_SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void fill(struct draw *d, float *x, int n) {
    for (int i = 0; i < n; i++) x[i] = draw_float(d, -2.0f, 2.0f);
}

START_TEST(matches_the_rotation_in_double) { // _i: shape and pairing
    int d_head = shapes[_i / 2].d_head, n_heads = shapes[_i / 2].n_heads;
    int position = shapes[_i / 2].position;
    enum rope_pairing pairing = pairings[_i % 2];
    char what[64];
    snprintf(what, sizeof(what), "position %d, (%d, %d), %s: x", position, n_heads, d_head,
             pairing == ROPE_HALVES ? "halves" : "neighbours");
    float x[MAX_HEADS * MAX_HEAD], want[MAX_HEADS * MAX_HEAD], freq[MAX_HEAD / 2];
    struct draw d = draw_start("rope oracle");
    fill(&d, x, n_heads * d_head);
    rope_frequencies(freq, d_head, 10000.0f);

    for (int h = 0; h < n_heads; h++) {
        for (int i = 0; i < d_head / 2; i++) {
            int a = h * d_head + (pairing == ROPE_HALVES ? i : 2 * i);
            int b = pairing == ROPE_HALVES ? a + d_head / 2 : a + 1;
            double angle = position * (double)freq[i];
            want[a] = (float)((double)x[a] * cos(angle) - (double)x[b] * sin(angle));
            want[b] = (float)((double)x[a] * sin(angle) + (double)x[b] * cos(angle));
        }
    }
    rope(x, freq, position, n_heads, d_head, pairing);
    assert_close(what, x, want, (size_t)(n_heads * d_head), 1e-6);
}
END_TEST

// ---- edges -------------------------------------------------------------------------------------

START_TEST(no_heads_turn_nothing) {
    float x[2] = {1, 2}, freq[1] = {1};
    rope(x, freq, 5, 0, 2, ROPE_NEIGHBOURS);
    ck_assert(x[0] == 1 && x[1] == 2);
}
END_TEST

START_TEST(a_far_position_keeps_its_angle) { // in float, 2^24 + 1 would round to 2^24
    float x[2] = {1, 0}, freq[1] = {1};
    rope(x, freq, 16777217, 1, 2, ROPE_NEIGHBOURS);
    float want[2] = {(float)cos(16777217.0), (float)sin(16777217.0)};
    assert_close("position 2^24 + 1: x", x, want, 2, 1e-6);
}
END_TEST

// ---- property ----------------------------------------------------------------------------------

START_TEST(a_turn_keeps_the_length) {
    float x[64], freq[32];
    struct draw d = draw_start("rope length");
    fill(&d, x, 64);
    float before = dot_f32(x, x, 64);
    rope_frequencies(freq, 64, 10000.0f);
    rope(x, freq, 1234, 1, 64, pairings[_i]);
    float after = dot_f32(x, x, 64);
    assert_close("length", &after, &before, 1, 1e-5);
}
END_TEST

START_TEST(a_dot_product_knows_only_the_distance) {
    float freq[32], near[2][64], far[2][64];
    struct draw d = draw_start("rope distance");
    rope_frequencies(freq, 64, 10000.0f);
    fill(&d, near[0], 64);
    fill(&d, near[1], 64);
    memcpy(far, near, sizeof(near));

    rope(near[0], freq, 3, 1, 64, pairings[_i]);
    rope(near[1], freq, 10, 1, 64, pairings[_i]);
    rope(far[0], freq, 1003, 1, 64, pairings[_i]);
    rope(far[1], freq, 1010, 1, 64, pairings[_i]);
    float a = dot_f32(near[0], near[1], 64), b = dot_f32(far[0], far[1], 64);
    assert_close("q . k", &a, &b, 1, 1e-4);
}
END_TEST

START_TEST(heads_together_equal_heads_alone_bit_for_bit) {
    float together[3 * 16], alone[3 * 16], freq[8];
    struct draw d = draw_start("rope heads");
    fill(&d, together, 3 * 16);
    memcpy(alone, together, sizeof(alone));
    rope_frequencies(freq, 16, 10000.0f);
    rope(together, freq, 77, 3, 16, pairings[_i]);
    for (int h = 0; h < 3; h++) rope(alone + h * 16, freq, 77, 1, 16, pairings[_i]);
    ck_assert_mem_eq(alone, together, sizeof(alone));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rope");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, matches_hand_worked_rows, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(reference, frequencies_are_powers_of_the_base);
    tcase_add_loop_test(reference, matches_the_rotation_in_double, 0, 2 * N_SHAPES);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, no_heads_turn_nothing);
    tcase_add_test(edges, a_far_position_keeps_its_angle);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, a_turn_keeps_the_length, 0, 2);
    tcase_add_loop_test(property, a_dot_product_knows_only_the_distance, 0, 2);
    tcase_add_loop_test(property, heads_together_equal_heads_alone_bit_for_bit, 0, 2);
    suite_add_tcase(s, property);
    return s;
}
