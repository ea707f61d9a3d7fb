// Attention in segments against a plain softmax over all keys in double; any cutting into runs and
// any key count must give the same answer.
#include "level2-operator/attention.h"

#include <math.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/suite.h"

enum { D_MAX = 128, KEYS_MAX = 1000, SEGMENT = LIMIT_ATTENTION_SEGMENT };

static float keys[KEYS_MAX * D_MAX], values[KEYS_MAX * D_MAX], query[D_MAX];

static void draw_case(const char *name, int n_keys, int d_head) {
    struct draw d = draw_start(name);
    for (int i = 0; i < d_head; i++) query[i] = draw_float(&d, -2.0f, 2.0f);
    for (int i = 0; i < n_keys * d_head; i++) {
        keys[i] = draw_float(&d, -2.0f, 2.0f);
        values[i] = draw_float(&d, -2.0f, 2.0f);
    }
}

// Softmax over all keys at once, in double.
static void oracle(float *y, int n_keys, int d_head, double scale) {
    static double weight[KEYS_MAX];
    double max = -INFINITY, sum = 0;

    for (int i = 0; i < n_keys; i++) {
        weight[i] = 0;
        for (int d = 0; d < d_head; d++)
            weight[i] += (double)query[d] * (double)keys[i * d_head + d];
        weight[i] *= scale;
        max = fmax(max, weight[i]);
    }
    for (int i = 0; i < n_keys; i++) sum += weight[i] = exp(weight[i] - max);
    for (int d = 0; d < d_head; d++) {
        double acc = 0;
        for (int i = 0; i < n_keys; i++) acc += weight[i] * (double)values[i * d_head + d];
        y[d] = (float)(acc / sum);
    }
}

// The keys of one segment, cut into runs of run_len; returns how many runs.
static int cut(struct kv_run *runs, int begin, int end, int run_len, int d_head) {
    int n_runs = 0;
    for (int i = begin; i < end; i += run_len) {
        runs[n_runs++] = (struct kv_run){keys + i * d_head, values + i * d_head,
                                         i + run_len < end ? run_len : end - i};
    }
    return n_runs;
}

static void attend(float *y, int n_keys, int d_head, float scale, int run_len) {
    float acc[2][D_MAX] = {{0}};
    struct attention_part whole = {-INFINITY, 0, acc[0]}, part = {0, 0, acc[1]};
    struct kv_run runs[SEGMENT];

    for (int begin = 0; begin < n_keys; begin += SEGMENT) {
        int end = begin + SEGMENT < n_keys ? begin + SEGMENT : n_keys;
        int n_runs = cut(runs, begin, end, run_len, d_head);
        attention_segment(&part, query, runs, n_runs, d_head, scale);
        attention_merge(&whole, &part, d_head);
    }
    attention_finish(y, &whole, d_head);
}

// ---- reference ---------------------------------------------------------------------------------

START_TEST(two_keys_worked_by_hand) { // scores ln 3 and 0: weights 3/4 and 1/4
    float q[1] = {1}, k[2] = {1.0986123f, 0}, v[2] = {8, 4}, acc[1], y[1], want[1] = {7};
    struct kv_run run = {k, v, 2};
    struct attention_part part = {.acc = acc};
    attention_segment(&part, q, &run, 1, 1, 1.0f);
    assert_close("max", &part.max, &k[0], 1, 1e-7);
    float sum = 1 + 1.0f / 3, weighted = 8 + 4.0f / 3;
    assert_close("sum", &part.sum, &sum, 1, 1e-6);
    assert_close("acc", acc, &weighted, 1, 1e-6);
    attention_finish(y, &part, 1);
    assert_close("y", y, want, 1, 1e-6);
}
END_TEST

START_TEST(two_parts_worked_by_hand) { // maxima 0 and ln 2: the first part counts half
    float a[1] = {6}, b[1] = {5}, want_acc[1] = {8}, want_sum = 4;
    struct attention_part into = {0, 2, a}, part = {0.6931472f, 3, b};
    attention_merge(&into, &part, 1);
    assert_close("max", &into.max, &part.max, 1, 0);
    assert_close("sum", &into.sum, &want_sum, 1, 1e-6);
    assert_close("acc", into.acc, want_acc, 1, 1e-6);
}
END_TEST

static const int key_counts[] = {1, 7, 33, 255, 256, 257, 512, 513, 1000};
static const int head_sizes[] = {1, 8, 33, 64, 128};
enum {
    N_COUNTS = sizeof(key_counts) / sizeof(key_counts[0]),
    N_SIZES = sizeof(head_sizes) / sizeof(head_sizes[0])
};

START_TEST(segments_match_one_softmax_over_all_keys) {
    int n_keys = key_counts[_i / N_SIZES], d_head = head_sizes[_i % N_SIZES];
    float y[D_MAX], want[D_MAX], scale = 1.0f / sqrtf((float)d_head);
    draw_case("attention oracle", n_keys, d_head);
    oracle(want, n_keys, d_head, (double)scale);
    attend(y, n_keys, d_head, scale, SEGMENT);
    assert_close("y", y, want, (size_t)d_head, 5e-6);
}
END_TEST

// ---- edges -------------------------------------------------------------------------------------

START_TEST(one_key_gives_its_value) {
    float y[64];
    draw_case("attention one key", 1, 64);
    attend(y, 1, 64, 0.125f, 1);
    ck_assert_mem_eq(y, values, sizeof(y));
}
END_TEST

START_TEST(no_keys_give_zeros) {
    float acc[3] = {9, 9, 9}, y[3] = {9, 9, 9}, q[3] = {1, 2, 3}, want[3] = {0};
    struct attention_part part = {.acc = acc};
    attention_segment(&part, q, NULL, 0, 3, 1.0f);
    ck_assert(part.max == -INFINITY && part.sum == 0);
    attention_finish(y, &part, 3);
    assert_close("y", y, want, 3, 0);
}
END_TEST

START_TEST(an_empty_part_changes_nothing) {
    float a[2] = {3, -4}, none[2] = {0};
    struct attention_part into = {1.5f, 2, a}, empty = {-INFINITY, 0, none};
    attention_merge(&into, &empty, 2);
    ck_assert(into.max == 1.5f && into.sum == 2 && a[0] == 3 && a[1] == -4);

    struct attention_part start = {-INFINITY, 0, none};
    attention_merge(&start, &into, 2);
    ck_assert(start.max == 1.5f && start.sum == 2 && none[0] == 3 && none[1] == -4);
}
END_TEST

START_TEST(two_empty_parts_stay_empty) {
    float a[1] = {0}, b[1] = {0}, y[1] = {9};
    struct attention_part into = {-INFINITY, 0, a}, part = {-INFINITY, 0, b};
    attention_merge(&into, &part, 1);
    attention_finish(y, &into, 1);
    ck_assert(y[0] == 0);
}
END_TEST

// ---- failures: numbers at the end of the range -------------------------------------------------

START_TEST(a_row_with_everything_masked_gives_zeros) { // NUM-07
    float q[2] = {1, 0}, k[4] = {-INFINITY, 0, -INFINITY, 0}, v[4] = {1, 2, 3, 4};
    float acc[2], y[2], want[2] = {0};
    struct kv_run run = {k, v, 2};
    struct attention_part part = {.acc = acc};
    attention_segment(&part, q, &run, 1, 2, 1.0f);
    attention_finish(y, &part, 2);
    assert_close("y", y, want, 2, 0);
}
END_TEST

START_TEST(a_masked_key_takes_no_part) { // not even if its value is not a number
    float q[1] = {1}, k[2] = {-INFINITY, 5}, v[2] = {NAN, 3}, acc[1], y[1], want[1] = {3};
    struct kv_run run = {k, v, 2};
    struct attention_part part = {.acc = acc};
    attention_segment(&part, q, &run, 1, 1, 1.0f);
    attention_finish(y, &part, 1);
    assert_close("y", y, want, 1, 0);
}
END_TEST

START_TEST(a_dot_product_beyond_f16_stays_finite) { // NUM-08: q . k = 131072
    float y[128], want[128];
    draw_case("attention large", 2, 128);
    for (int i = 0; i < 128; i++) query[i] = keys[i] = keys[128 + i] = 32;
    for (int i = 0; i < 128; i++) want[i] = (values[i] + values[128 + i]) / 2;
    attend(y, 2, 128, 1.0f / sqrtf(128.0f), 1);
    assert_close("y", y, want, 128, 1e-6);
}
END_TEST

START_TEST(
    scores_far_apart_leave_the_best_key) { // exp(-1000) is zero, exp(1000) never computed
    float q[1] = {1000}, k[2] = {0, 1}, v[2] = {3, 4}, acc[1], y[1];
    struct kv_run run = {k, v, 2};
    struct attention_part part = {.acc = acc};
    attention_segment(&part, q, &run, 1, 1, 1.0f);
    attention_finish(y, &part, 1);
    ck_assert(y[0] == 4);
}
END_TEST

// ---- property ----------------------------------------------------------------------------------

START_TEST(any_cutting_into_runs_gives_the_same_bits) {
    static const int run_lens[] = {1, 2, 3, 16, 100, 255};
    float whole[64], y[64];
    draw_case("attention runs", key_counts[_i], 64);
    attend(whole, key_counts[_i], 64, 0.125f, SEGMENT);
    for (size_t r = 0; r < sizeof(run_lens) / sizeof(run_lens[0]); r++) {
        attend(y, key_counts[_i], 64, 0.125f, run_lens[r]);
        ck_assert_msg(memcmp(y, whole, sizeof(y)) == 0, "runs of %d keys", run_lens[r]);
    }
}
END_TEST

START_TEST(equal_keys_give_the_mean_value) {
    float y[8], want[8] = {0};
    draw_case("attention mean", 300, 8);
    for (int i = 0; i < 300 * 8; i++) keys[i] = 0.5f;
    for (int i = 0; i < 300 * 8; i++) want[i % 8] += values[i] / 300;
    attend(y, 300, 8, 1.0f, 7);
    assert_close("y", y, want, 8, 1e-5);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/attention");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, two_keys_worked_by_hand);
    tcase_add_test(reference, two_parts_worked_by_hand);
    tcase_add_loop_test(reference, segments_match_one_softmax_over_all_keys, 0,
                        N_COUNTS * N_SIZES);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, one_key_gives_its_value);
    tcase_add_test(edges, no_keys_give_zeros);
    tcase_add_test(edges, an_empty_part_changes_nothing);
    tcase_add_test(edges, two_empty_parts_stay_empty);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_row_with_everything_masked_gives_zeros);
    tcase_add_test(failures, a_masked_key_takes_no_part);
    tcase_add_test(failures, a_dot_product_beyond_f16_stays_finite);
    tcase_add_test(failures, scores_far_apart_leave_the_best_key);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, any_cutting_into_runs_gives_the_same_bits, 0, N_COUNTS);
    tcase_add_test(property, equal_keys_give_the_mean_value);
    suite_add_tcase(s, property);
    return s;
}
