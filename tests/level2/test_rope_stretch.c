// Divisors of rotary frequencies: published numbers, what holds for all ways, and bounds that meet.
#include "level2-operator/kernels/rope_stretch.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/suite.h"

static const struct rope_stretch llama_3_2 = {
    .kind = ROPE_LLAMA3, .factor = 32, .n_ctx_trained = 8192, .low = 1, .high = 4};

// NUM-03: the divisors of Llama 3.2, head size 64, base 500000.
START_TEST(llama_3_2_has_these_divisors) {
    float got[32], want[32];
    for (int i = 0; i < 32; i++) want[i] = i < 15 ? 1 : 32;
    want[15] = 1.65133f, want[16] = 3.29226f, want[17] = 9.66673f;
    rope_stretch_divisors(got, &llama_3_2, 64, 500000);
    assert_close("divisors of Llama 3.2", got, want, 32, 2e-6);
}
END_TEST

// Qwen3 with yarn, as its model card asks for 131,072 positions: head size 128, base 1000000, factor 4,
// 32,768 positions. Pairs 23 to 40 are in between, by hand: share = 1 - (i - 23) / 17.
START_TEST(yarn_blends_over_the_index_of_the_pair) {
    static const struct rope_stretch qwen3 = {
        .kind = ROPE_YARN, .factor = 4, .n_ctx_trained = 32768, .low = 1, .high = 32};
    float got[64], want[64];
    for (int i = 0; i < 64; i++) want[i] = i <= 23 ? 1 : 4;
    for (int i = 24; i < 40; i++)
        want[i] = (float)(1 / (1 - (i - 23) / 17.0 + (i - 23) / 17.0 / 4));
    rope_stretch_divisors(got, &qwen3, 128, 1e6f);
    assert_close("divisors of Qwen3 with yarn", got, want, 64, 1e-6);
}
END_TEST

START_TEST(yarn_lengthens_queries_and_keys) { // NUM-04
    static const float factors[] = {4, 8, 16};
    static const float want[] = {1.13863f, 1.20794f, 1.27726f};
    float got[3];
    for (int i = 0; i < 3; i++) {
        struct rope_stretch s = {.kind = ROPE_YARN, .factor = factors[i]};
        got[i] = rope_stretch_length(&s);
    }
    assert_close("0.1 ln(factor) + 1", got, want, 3, 3e-6);
}
END_TEST

START_TEST(only_yarn_lengthens_and_only_when_it_stretches) {
    for (int kind = ROPE_AS_TRAINED; kind <= ROPE_LLAMA3; kind++) {
        struct rope_stretch s = {.kind = (enum rope_stretch_kind)kind, .factor = 8};
        ck_assert(rope_stretch_length(&s) == 1);
    }
    struct rope_stretch shorter = {.kind = ROPE_YARN, .factor = 0.5f};
    ck_assert(rope_stretch_length(&shorter) == 1);
}
END_TEST

START_TEST(linear_divides_all_pairs_alike) {
    struct rope_stretch s = {.kind = ROPE_LINEAR, .factor = 2.5f};
    float got[3], want[3] = {2.5f, 2.5f, 2.5f}, ones[3] = {1, 1, 1};
    rope_stretch_divisors(got, &s, 6, 10000);
    assert_close("linear by 2.5", got, want, 3, 0);
    s.kind = ROPE_AS_TRAINED;
    rope_stretch_divisors(got, &s, 6, 10000);
    assert_close("as trained", got, ones, 3, 0);
}
END_TEST

// Bounds that fall on one pair, and heads of one pair, divide by no zero.
START_TEST(narrow_bounds_are_a_step) {
    struct rope_stretch s = {
        .kind = ROPE_YARN, .factor = 3, .n_ctx_trained = 1, .low = 1, .high = 1.0001f};
    float got[16];
    for (int d_head = 2; d_head <= 32; d_head += 6) {
        rope_stretch_divisors(got, &s, d_head, 1.5f);
        for (int i = 0; i < d_head / 2; i++)
            ck_assert_msg(got[i] >= 1 && got[i] <= 3, "d_head %d, pair %d: %g", d_head, i,
                          (double)got[i]);
    }
}
END_TEST

// Fast pairs stay, slow ones are divided by factor, and from one to the next it only grows.
START_TEST(divisors_grow_from_one_to_the_factor) {
    struct draw d = draw_start("rope stretch");
    float got[64];
    for (int round = 0; round < 50; round++) {
        struct rope_stretch s = {.kind = round % 2 ? ROPE_LLAMA3 : ROPE_YARN,
                                 .factor = draw_float(&d, 1.5f, 40),
                                 .n_ctx_trained = draw_int(&d, 2048, 40000),
                                 .low = draw_float(&d, 0.5f, 2),
                                 .high = draw_float(&d, 3, 40)};
        rope_stretch_divisors(got, &s, 128, draw_float(&d, 1e4f, 1e6f));
        assert_close("divisor of pair 0", &got[0], &(float){1}, 1, 1e-6);
        assert_close("divisor of the last pair", &got[63], &s.factor, 1, 1e-5);
        for (int i = 1; i < 64; i++)
            ck_assert_msg(got[i] >= got[i - 1], "round %d, pair %d: %g after %g", round, i,
                          (double)got[i], (double)got[i - 1]);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rope_stretch");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, llama_3_2_has_these_divisors);
    tcase_add_test(reference, yarn_blends_over_the_index_of_the_pair);
    tcase_add_test(reference, yarn_lengthens_queries_and_keys);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, only_yarn_lengthens_and_only_when_it_stretches);
    tcase_add_test(edges, linear_divides_all_pairs_alike);
    tcase_add_test(edges, narrow_bounds_are_a_step);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_test(property, divisors_grow_from_one_to_the_factor);
    suite_add_tcase(s, property);
    return s;
}
