// What a run of steps should take, added up by hand.
#include "level3-optimizer/prediction.h"

#include "tests/support/suite.h"

// 100 weights of 1 byte, a head of 10, 2 bytes of KV a token; no attention unless a test says so.
static const struct cost_model model = {.layer_weights = 100,
                                        .head_weights = 10,
                                        .bytes_per_weight = 1,
                                        .bytes_per_head_weight = 1,
                                        .kv_values = 1,
                                        .bytes_per_kv_value = 2};

static void assert_amount(const char *what, double got, double want) {
    ck_assert_msg(got - want < 1e-9 && want - got < 1e-9, "%s = %.12g, want %.12g", what,
                  got, want);
}

// Two steps of one token behind 5: each reads 110 bytes of weights, 5 or 6 keys, writes its own.
START_TEST(decode_reads_all_weights_for_each_token) {
    struct workload w = {2, 1, 5, true};
    struct speed speed = {10, 1000, 1000};
    struct prediction p = predict(&model, &w, &speed);
    assert_amount("bytes", p.bytes, 2 * 110 + 2 * (5 + 1) + 2 * (6 + 1));
    assert_amount("ops", p.ops, 2 * 2 * 110);
    assert_amount("read_seconds", p.read_seconds, 246 / 10.0);
    assert_amount("compute_seconds", p.compute_seconds, 440 / 1000.0);
    assert_amount("seconds", p.seconds, 24.6);
}
END_TEST

// Two steps of 4: weights twice, the head once, the second step reads 4 keys.
START_TEST(prefill_reads_the_weights_once_a_step_and_the_head_once) {
    struct workload w = {8, 4, 0, false};
    struct speed speed = {1e6, 100, 100};
    struct prediction p = predict(&model, &w, &speed);
    assert_amount("bytes", p.bytes, 2 * 100 + 10 + 2 * 4 + 2 * (4 + 4));
    assert_amount("ops", p.ops, 8 * 200 + 20);
    assert_amount("seconds", p.seconds, 16.2);
}
END_TEST

START_TEST(rows_attend_to_what_is_before_them_and_to_themselves) {
    struct cost_model m = model;
    struct workload w = {6, 3, 2, false};
    struct speed speed = {1e6, 100, 100};
    double without = predict(&m, &w, &speed).ops;
    m.ops_per_row_key = 1;
    assert_amount("ops of attention", predict(&m, &w, &speed).ops - without,
                  3 + 4 + 5 + 6 + 7 + 8);
}
END_TEST

// 200 operations at 100 a second and 20 at 10: 2 s each.
START_TEST(layers_and_head_go_each_at_its_own_rate) {
    struct workload w = {1, 1, 0, true};
    struct speed speed = {1e6, 100, 10};
    assert_amount("seconds", predict(&model, &w, &speed).seconds, 4);
}
END_TEST

START_TEST(the_longer_half_is_taken_step_by_step) {
    struct workload w = {2, 1, 0, false}; // only the second step meets the head
    struct speed speed = {50, 100, 1}; // reading 102/50 and 114/50 s, computing 2 and 22 s
    struct prediction p = predict(&model, &w, &speed);
    assert_amount("seconds", p.seconds, 102 / 50.0 + 22);
    assert_amount("read_seconds", p.read_seconds, 216 / 50.0);
    assert_amount("compute_seconds", p.compute_seconds, 24);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level3/prediction");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, decode_reads_all_weights_for_each_token);
    tcase_add_test(reference, prefill_reads_the_weights_once_a_step_and_the_head_once);
    tcase_add_test(reference, rows_attend_to_what_is_before_them_and_to_themselves);
    tcase_add_test(reference, layers_and_head_go_each_at_its_own_rate);
    tcase_add_test(reference, the_longer_half_is_taken_step_by_step);
    suite_add_tcase(s, reference);
    return s;
}
