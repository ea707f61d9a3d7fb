// The cost of a step: numbers worked by hand, drawn ones, and what others have published.
#include "common/cost.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/suite.h"

enum { N_DRAWS = 20 };

// Fails unless |got - want| <= tolerance * |want|.
static void assert_amount(const char *what, double got, double want, double tolerance) {
    double error = fabs(got - want);
    if (error <= tolerance * fabs(want)) return; // not so for a NaN
    report_differs(what, 0, "%.12g", got, want, error / (tolerance * fabs(want)));
    ck_abort_msg("%s = %.12g, want %.12g", what, got, want);
}

// Counts are whole: what remains is the rounding of a few additions.
static void assert_count(const char *what, double got, double want) {
    assert_amount(what, got, want, 1e-12);
}

// ---- worked example -----------------------------------------------------------------------------

// Three tokens behind ten that are stored, one wants logits. The sums stand in docs/level2/cost.md.
START_TEST(worked_example) {
    struct cost_model model = {.layer_weights = 1000,
                               .head_weights = 200,
                               .kv_values = 8,
                               .bytes_per_weight = 0.5,
                               .bytes_per_head_weight = 1,
                               .bytes_per_kv_value = 2,
                               .ops_per_row_key = 16};
    struct cost_step step = {
        .n_rows = 3, .n_logit_rows = 1, .n_keys_read = 10, .n_row_keys = 11 + 12 + 13};
    struct cost_machine machine = {.bytes_per_s = 1000, .ops_per_s = 8000};

    struct cost c = cost_of_step(&model, &step, &machine);
    assert_count("cost_of_step(3 rows behind 10 keys) weight_bytes", c.weight_bytes, 700);
    assert_count("cost_of_step(3 rows behind 10 keys) kv_bytes", c.kv_bytes, 208);
    assert_count("cost_of_step(3 rows behind 10 keys) ops", c.ops, 6976);
    assert_count("cost_of_step(3 rows behind 10 keys) read_seconds", c.read_seconds, 0.908);
    assert_count("cost_of_step(3 rows behind 10 keys) compute_seconds", c.compute_seconds,
                 0.872);
    assert_count("cost_of_step(3 rows behind 10 keys) seconds", c.seconds, 0.908);
}
END_TEST

// ---- one amount a test, drawn -------------------------------------------------------------------

static struct draw draws;

static double whole(int high) {
    return draw_int(&draws, 1, high);
}

static struct cost_model draw_model(void) {
    static const double type_bytes[] = {4, 2, 34.0 / 32, 20.0 / 32, 18.0 / 32};
    return (struct cost_model){
        .layer_weights = 1e6 * whole(2000),
        .head_weights = 1e4 * whole(3000),
        .kv_values = 2 * whole(60000),
        .bytes_per_weight = type_bytes[draw_int(&draws, 0, 4)],
        .bytes_per_head_weight = type_bytes[draw_int(&draws, 0, 4)],
        .bytes_per_kv_value = type_bytes[draw_int(&draws, 0, 2)],
        .ops_per_row_key = 4 * whole(90000),
    };
}

// n_rows rows behind n_keys stored ones.
static struct cost_step behind(double n_rows, double n_logit_rows, double n_keys) {
    double n_row_keys = n_rows * n_keys + n_rows * (n_rows + 1) / 2;
    return (struct cost_step){n_rows, n_logit_rows, n_keys, n_row_keys};
}

static const char *call(const char *field, const struct cost_step *s) {
    static char what[160];
    snprintf(what, sizeof(what),
             "cost_of_step(rows %.0f, logit rows %.0f, keys read %.0f, row-keys %.0f) %s",
             s->n_rows, s->n_logit_rows, s->n_keys_read, s->n_row_keys, field);
    return what;
}

static void start(void) {
    draws = draw_start("cost");
}

START_TEST(layers_and_head_are_read_each_in_its_own_type) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step s = behind(1, 1, whole(3000));
        struct cost c = cost_of_step(&m, &s, NULL);
        assert_count(call("weight_bytes", &s), c.weight_bytes,
                     m.layer_weights * m.bytes_per_weight +
                         m.head_weights * m.bytes_per_head_weight);
    }
}
END_TEST

START_TEST(many_rows_read_the_weights_once) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step one = behind(1, 1, 0), many = behind(1 + whole(500), 1, 0);
        many.n_logit_rows = 1 + whole((int)many.n_rows - 1);
        assert_count(call("weight_bytes", &many),
                     cost_of_step(&m, &many, NULL).weight_bytes,
                     cost_of_step(&m, &one, NULL).weight_bytes);
    }
}
END_TEST

START_TEST(rows_without_logits_leave_the_head_alone) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step s = behind(whole(64), 0, whole(3000));
        struct cost c = cost_of_step(&m, &s, NULL);
        assert_count(call("weight_bytes", &s), c.weight_bytes,
                     m.layer_weights * m.bytes_per_weight);
    }
}
END_TEST

START_TEST(stored_keys_are_read_and_own_ones_written) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        double n_rows = whole(64), n_keys = whole(3000);
        struct cost_step s = behind(n_rows, 1, n_keys);
        struct cost c = cost_of_step(&m, &s, NULL);
        assert_count(call("kv_bytes", &s), c.kv_bytes,
                     n_keys * m.kv_values * m.bytes_per_kv_value +
                         n_rows * m.kv_values * m.bytes_per_kv_value);
    }
}
END_TEST

START_TEST(a_first_prompt_reads_no_keys_but_writes_its_own) {
    struct cost_model m = draw_model();
    struct cost_step s = behind(7, 1, 0);
    assert_count(call("kv_bytes", &s), cost_of_step(&m, &s, NULL).kv_bytes,
                 7 * m.kv_values * m.bytes_per_kv_value);
}
END_TEST

START_TEST(every_row_meets_every_weight_of_the_layers) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step s = {.n_rows = whole(64)}; // no attention, no logits
        assert_count(call("ops", &s), cost_of_step(&m, &s, NULL).ops,
                     2 * s.n_rows * m.layer_weights);
    }
}
END_TEST

START_TEST(only_rows_that_want_logits_meet_the_head) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step s = behind(1 + whole(63), 1, 0);
        struct cost with = cost_of_step(&m, &s, NULL);
        s.n_logit_rows = 0;
        struct cost without = cost_of_step(&m, &s, NULL);
        s.n_logit_rows = 1;
        assert_amount(call("ops of the head", &s), with.ops - without.ops,
                      2 * m.head_weights, 1e-9); // a difference of large numbers
    }
}
END_TEST

START_TEST(attention_grows_with_rows_times_keys) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step s = behind(whole(64), 1, whole(3000));
        assert_count(call("ops", &s), cost_of_step(&m, &s, NULL).ops,
                     2 * m.layer_weights * s.n_rows + 2 * m.head_weights +
                         m.ops_per_row_key * s.n_row_keys);
    }
}
END_TEST

START_TEST(the_slower_of_the_two_decides) {
    for (int i = 0; i < N_DRAWS; i++) {
        struct cost_model m = draw_model();
        struct cost_step s = behind(whole(64), 1, whole(3000));
        struct cost c = cost_of_step(&m, &s, NULL);
        double read_s = 0.001 * whole(99), compute_s = 0.0011 * whole(99);
        struct cost_machine machine = {(c.weight_bytes + c.kv_bytes) / read_s,
                                       c.ops / compute_s};
        c = cost_of_step(&m, &s, &machine);
        assert_count(call("read_seconds", &s), c.read_seconds, read_s);
        assert_count(call("compute_seconds", &s), c.compute_seconds, compute_s);
        assert_count(call("seconds", &s), c.seconds, fmax(read_s, compute_s));
    }
}
END_TEST

START_TEST(without_a_machine_there_are_no_seconds) {
    struct cost_model m = draw_model();
    struct cost_step s = behind(whole(64), 1, whole(3000));
    struct cost c = cost_of_step(&m, &s, NULL);
    assert_count("cost_of_step(machine NULL) read_seconds", c.read_seconds, 0);
    assert_count("cost_of_step(machine NULL) compute_seconds", c.compute_seconds, 0);
    assert_count("cost_of_step(machine NULL) seconds", c.seconds, 0);
}
END_TEST

START_TEST(nothing_to_do_costs_nothing) {
    struct cost_model m = draw_model();
    struct cost_machine machine = {1e9, 1e9};
    struct cost_step s = {0};
    struct cost c = cost_of_step(&m, &s, &machine);
    assert_count(call("weight_bytes", &s), c.weight_bytes, 0);
    assert_count(call("kv_bytes", &s), c.kv_bytes, 0);
    assert_count(call("ops", &s), c.ops, 0);
    assert_count(call("seconds", &s), c.seconds, 0);
}
END_TEST

// ---- models, worked by hand ---------------------------------------------------------------------

// SmolLM2-135M: layers Q4_1 (20 bytes for 32 weights), the tied head Q8_0 (34 bytes), f32 KV.
//   a layer:  Wq, Wo 2 * 576*576 = 663,552    Wk, Wv 2 * 192*576 = 221,184
//             gate, up, down 3 * 576*1536 = 2,654,208             sum 3,538,944
//   30 layers 106,168,320     head 49152 * 576 = 28,311,552
//   KV        2 * 30 * 3 * 64 = 11,520 values a token     attention 4 * 30 * 9 * 64 = 69,120
static const struct cost_model smollm2 = {
    .layer_weights = 106168320,
    .head_weights = 28311552,
    .bytes_per_weight = 20.0 / 32,
    .bytes_per_head_weight = 34.0 / 32,
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
    double weight_bytes, kv_bytes, ops, seconds;
} models[] = {
    // 66,355,200 of the layers and 30,081,024 of the head at 45 GB/s: 2.1 ms, 466 tokens/s.
    {"SmolLM2, first token", &smollm2, &laptop, {1, 1, 0, 1},
     96436224, 46080, 269028864, 96482304 / 45e9},
    // 1000 keys * 46,080 bytes, and the new token's own.
    {"SmolLM2, one token after 1000", &smollm2, &laptop, {1, 1, 1000, 1001},
     96436224, 46126080, 338148864, 142562304 / 45e9},
    // A prompt of 64: row t attends to t + 1 keys, 64 * 65 / 2 = 2080. Arithmetic bounds it.
    {"SmolLM2, 64 rows of a prompt", &smollm2, &laptop, {64, 1, 0, 2080},
     96436224, 2949120, 13789937664, 13789937664 / 2e11},
    // 15.01 GB at 2 TB/s: 7.5 ms a token, 133 tokens/s at best, however fast the arithmetic.
    {"Llama 3 8B, one token", &llama3_8b, &gpu, {1, 1, 0, 0},
     15009316864, 131072, 15009316864, 15009447936 / 2e12},
    // 64 sequences of 1000 keys each share the weights: 23.4 GB in 11.7 ms for 64 tokens.
    {"Llama 3 8B, batch of 64", &llama3_8b, &gpu, {64, 64, 64000, 64064},
     15009316864, 8396996608, 994184265728, 23406313472 / 2e12},
};
// clang-format on

START_TEST(a_real_model_costs_what_a_hand_can_add_up) {
    struct cost c = cost_of_step(models[_i].model, &models[_i].step, models[_i].machine);
    char what[4][96];
    static const char *const fields[] = {"weight_bytes", "kv_bytes", "ops", "seconds"};
    for (int f = 0; f < 4; f++)
        snprintf(what[f], sizeof(what[f]), "cost_of_step(%s) %s", models[_i].name,
                 fields[f]);
    assert_count(what[0], c.weight_bytes, models[_i].weight_bytes);
    assert_count(what[1], c.kv_bytes, models[_i].kv_bytes);
    assert_count(what[2], c.ops, models[_i].ops);
    assert_count(what[3], c.seconds, models[_i].seconds);
}
END_TEST

// ---- published ----------------------------------------------------------------------------------

// Weights as the source counts them, in 16 bits; kv: bytes of one token, all layers.
static struct cost_model published(double weights, double kv) {
    return (struct cost_model){.layer_weights = weights,
                               .bytes_per_weight = 2,
                               .kv_values = kv,
                               .bytes_per_kv_value = 1};
}

// clang-format off
static const struct {
    const char *source;
    double weights, kv;
    struct cost_machine machine;
    struct cost_step step;
    double ms, tolerance;
} steps[] = {
    // Llama 2 13B on 8 TPU v5e, 8192 tokens a sequence, 6.7 GB of KV each: jax-ml scaling-book, ch. 7.
    {"scaling book, 13B, batch 1", 13e9, 6.7e9 / 8192, {6.56e12, 1.576e15}, {1, 0, 8191, 0}, 4.98, .001},
    {"scaling book, 13B, batch 8", 13e9, 6.7e9 / 8192, {6.56e12, 1.576e15}, {8, 0, 8 * 8191, 0}, 12.13, .001},
    {"scaling book, 13B, batch 240", 13e9, 6.7e9 / 8192, {6.56e12, 1.576e15}, {240, 0, 240 * 8191, 0}, 249.09, .001},
    // 12 * 40 * 5120 * 5120 weights on an A100, a product alone: Transformer Inference Arithmetic, kipp.ly 2022.
    {"kipp.ly, 13B, one token", 12.0 * 40 * 5120 * 5120, 0, {1.5e12, 312e12}, {1, 0, 0, 0}, 16.8, .01},
    {"kipp.ly, 260B on 16 GPUs", 260e9, 0, {16 * 1.5e12, 16 * 312e12}, {1, 0, 0, 0}, 21.7, .01},
    {"kipp.ly, 512 rows, 5120 by 20480", 5120.0 * 20480, 0, {1.5e12, 312e12}, {512, 0, 0, 0}, .344, .01},
};
// clang-format on

START_TEST(a_step_takes_what_others_have_published) {
    struct cost_model m = published(steps[_i].weights, steps[_i].kv);
    char what[96];
    snprintf(what, sizeof(what), "cost_of_step(%s) milliseconds", steps[_i].source);
    struct cost c = cost_of_step(&m, &steps[_i].step, &steps[_i].machine);
    assert_amount(what, 1e3 * c.seconds, steps[_i].ms, steps[_i].tolerance);
}
END_TEST

// Measured: requests per second of MPT-7B, 512 tokens in and 64 out, batches of one size. Databricks,
// LLM Inference Performance Engineering, 2023-10-12, Table 2. One efficiency for each kind of GPU is
// all that is fitted; batch and memory do the rest.
static const struct {
    const char *gpu;
    struct cost_machine machine;
    double efficiency;
    int batch;
    double requests_per_s;
} served[] = {
    {"A100-40GB", {1555e9, 312e12}, .535, 1,  .9  },
    {"A100-40GB", {1555e9, 312e12}, .535, 4,  3.2 },
    {"A100-40GB", {1555e9, 312e12}, .535, 16, 8   },
    {"A100-40GB", {1555e9, 312e12}, .535, 64, 12.5},
    {"A10",       {600e9, 125e12},  .607, 1,  .4  },
    {"A10",       {600e9, 125e12},  .607, 8,  2.3 },
    {"A10",       {600e9, 125e12},  .607, 16, 3.5 },
};

START_TEST(batches_serve_what_others_have_measured) {
    struct cost_model m = published(6649286656, 524288);
    int b = served[_i].batch;
    struct cost_step prefill = {.n_rows = 512 * b};
    double seconds = cost_of_step(&m, &prefill, &served[_i].machine).seconds;
    for (int i = 0; i < 64; i++) {
        struct cost_step decode = {.n_rows = b, .n_keys_read = b * (511 + i)};
        seconds += cost_of_step(&m, &decode, &served[_i].machine).seconds;
    }
    char what[96];
    snprintf(what, sizeof(what), "MPT-7B on %s, batch %d: requests/s from cost_of_step",
             served[_i].gpu, b);
    assert_amount(what, b * served[_i].efficiency / seconds, served[_i].requests_per_s,
                  .03);
}
END_TEST

static TCase *drawn(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    tcase_add_checked_fixture(tc, start, NULL);
    suite_add_tcase(s, tc);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("common/cost");
    TCase *example = tcase_create("worked example");
    tcase_add_test(example, worked_example);
    suite_add_tcase(s, example);

    TCase *bytes = drawn(s, "bytes");
    tcase_add_test(bytes, layers_and_head_are_read_each_in_its_own_type);
    tcase_add_test(bytes, many_rows_read_the_weights_once);
    tcase_add_test(bytes, rows_without_logits_leave_the_head_alone);
    tcase_add_test(bytes, stored_keys_are_read_and_own_ones_written);
    tcase_add_test(bytes, a_first_prompt_reads_no_keys_but_writes_its_own);

    TCase *operations = drawn(s, "operations");
    tcase_add_test(operations, every_row_meets_every_weight_of_the_layers);
    tcase_add_test(operations, only_rows_that_want_logits_meet_the_head);
    tcase_add_test(operations, attention_grows_with_rows_times_keys);

    TCase *seconds = drawn(s, "seconds");
    tcase_add_test(seconds, the_slower_of_the_two_decides);
    tcase_add_test(seconds, without_a_machine_there_are_no_seconds);
    tcase_add_test(seconds, nothing_to_do_costs_nothing);

    TCase *real = tcase_create("real models");
    tcase_add_loop_test(real, a_real_model_costs_what_a_hand_can_add_up, 0,
                        sizeof(models) / sizeof(models[0]));
    tcase_add_loop_test(real, a_step_takes_what_others_have_published, 0,
                        sizeof(steps) / sizeof(steps[0]));
    tcase_add_loop_test(real, batches_serve_what_others_have_measured, 0,
                        sizeof(served) / sizeof(served[0]));
    suite_add_tcase(s, real);
    return s;
}
