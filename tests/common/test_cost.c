// The cost of a step, against numbers worked by hand.
#include "common/cost.h"

#include <math.h>

#include "tests/support/suite.h"

// SmolLM2-135M in Q4_1 (20 bytes per 32 weights), f32 KV, tied head read as Q4_1 too.
//   a layer:  Wq, Wo 2 * 576*576 = 663,552    Wk, Wv 2 * 192*576 = 221,184
//             gate, up, down 3 * 576*1536 = 2,654,208             sum 3,538,944
//   30 layers 106,168,320     head 49152 * 576 = 28,311,552
//   KV        2 * 30 * 3 * 64 = 11,520 values a token     attention 4 * 30 * 9 * 64 = 69,120
static const struct cost_model smollm2 = {
    .layer_weights = 106168320,
    .head_weights = 28311552,
    .bytes_per_weight = 20.0 / 32,
    .bytes_per_head_weight = 20.0 / 32,
    .kv_values = 11520,
    .bytes_per_kv_value = 4,
    .ops_per_row_key = 69120,
};

// Llama 3 8B in bf16, f16 KV.
//   a layer:  Wq, Wo 2 * 4096*4096 = 33,554,432    Wk, Wv 2 * 1024*4096 = 8,388,608
//             gate, up, down 3 * 4096*14336 = 176,160,768             sum 218,103,808
//   32 layers 6,979,321,856   head 128256 * 4096 = 525,336,576
//   KV        2 * 32 * 8 * 128 = 65,536 values a token   attention 4 * 32 * 32 * 128 = 524,288
static const struct cost_model llama3_8b = {
    .layer_weights = 6979321856,
    .head_weights = 525336576,
    .bytes_per_weight = 2,
    .bytes_per_head_weight = 2,
    .kv_values = 65536,
    .bytes_per_kv_value = 2,
    .ops_per_row_key = 524288,
};

static const struct cost_machine laptop = {.bytes_per_s = 45e9, .ops_per_s = 2e11};
static const struct cost_machine gpu = {.bytes_per_s = 2e12, .ops_per_s = 312e12};

// clang-format off
static const struct {
    const char *name;
    const struct cost_model *model;
    const struct cost_machine *machine;
    struct cost_step step; // rows, logit rows, keys read, row-keys
    struct cost want;      // weight bytes, kv bytes, ops, seconds
} cases[] = {
    // 134,479,872 weights * 0.625; 2 operations a weight; 45 GB/s bounds it: 1.87 ms, 535 tokens/s.
    {"SmolLM2, first token, no context", &smollm2, &laptop, {1, 1, 0, 0},
     {84049920, 46080, 268959744, 84096000 / 45e9}},
    // 1000 keys * 46,080 bytes, and the new token's own.
    {"SmolLM2, one token after 1000", &smollm2, &laptop, {1, 1, 1000, 1001},
     {84049920, 46126080, 338148864, 130176000 / 45e9}},
    // A prompt of 64: row t attends to t + 1 keys, 64 * 65 / 2 = 2080. Arithmetic bounds it.
    {"SmolLM2, 64 rows of a prompt, one wants logits", &smollm2, &laptop, {64, 1, 0, 2080},
     {84049920, 2949120, 13789937664, 13789937664 / 2e11}},
    {"SmolLM2, rows without logits leave the head alone", &smollm2, &laptop, {1, 0, 0, 1},
     {66355200, 46080, 212405760, 66401280 / 45e9}},
    // 15.01 GB at 2 TB/s: 7.5 ms a token, 133 tokens/s at best, however fast the arithmetic.
    {"Llama 3 8B, one token", &llama3_8b, &gpu, {1, 1, 0, 0},
     {15009316864, 131072, 15009316864, 15009447936 / 2e12}},
    // 64 sequences of 1000 keys each share the weights: 23.4 GB in 11.7 ms for 64 tokens.
    {"Llama 3 8B, batch of 64", &llama3_8b, &gpu, {64, 64, 64000, 64064},
     {15009316864, 8396996608, 994184265728, 23406313472 / 2e12}},
    {"without a machine there are no seconds", &llama3_8b, NULL, {1, 1, 0, 0},
     {15009316864, 131072, 15009316864, 0}},
    {"nothing to do costs nothing", &smollm2, &laptop, {0, 0, 0, 0}, {0, 0, 0, 0}},
};
// clang-format on

START_TEST(matches_numbers_worked_by_hand) {
    struct cost c = cost_of_step(cases[_i].model, &cases[_i].step, cases[_i].machine);
    const struct cost *want = &cases[_i].want;
    ck_assert_msg(c.weight_bytes == want->weight_bytes, "%s: weight bytes %.0f, want %.0f",
                  cases[_i].name, c.weight_bytes, want->weight_bytes);
    ck_assert_msg(c.kv_bytes == want->kv_bytes, "%s: KV bytes %.0f, want %.0f",
                  cases[_i].name, c.kv_bytes, want->kv_bytes);
    ck_assert_msg(c.ops == want->ops, "%s: operations %.0f, want %.0f", cases[_i].name,
                  c.ops, want->ops);
    ck_assert_msg(fabs(c.seconds - want->seconds) <= 1e-12 * want->seconds,
                  "%s: %.9g s, want %.9g s", cases[_i].name, c.seconds, want->seconds);
}
END_TEST

START_TEST(rows_share_one_read_of_the_weights_but_not_the_arithmetic) {
    struct draw d = draw_start("rows_share_one_read_of_the_weights");
    struct cost_step one = {.n_rows = 1, .n_logit_rows = 1};
    struct cost alone = cost_of_step(&smollm2, &one, &laptop);
    for (int i = 0; i < 100; i++) {
        int n = draw_int(&d, 1, 500);
        struct cost_step many = {.n_rows = n, .n_logit_rows = n};
        struct cost batch = cost_of_step(&smollm2, &many, &laptop);
        ck_assert_double_eq(batch.weight_bytes, alone.weight_bytes);
        ck_assert_double_eq(batch.ops, n * alone.ops);
        ck_assert_double_le(batch.seconds, n * alone.seconds); // batching never costs more
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/cost");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, matches_numbers_worked_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *property = tcase_create("property");
    tcase_add_test(property, rows_share_one_read_of_the_weights_but_not_the_arithmetic);
    suite_add_tcase(s, property);
    return s;
}
