// From a model and a machine to answers and advice: the course's numbers, copies, the fewest devices, and that
// each piece of advice is true.
#include "level2-operator/fit/fit_case.h"

#include <stdio.h>
#include <string.h>

#include "level2-operator/fit/fit_advice.h"
#include "tests/support/fit_subjects.h"
#include "tests/support/suite.h"

// ---- answers ------------------------------------------------------------------------------------

START_TEST(seventy_billion_weights_need_two_boards) {
    const struct fit_subject s = subject_of("large");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    fit_answer_of(&a, &c);
    assert_number("fits", a.fits, false);
    assert_number("weights", (int64_t)a.weight_bytes, 141107412992);
    assert_number("KV of a token", (int64_t)a.kv_bytes_per_token, 327680);
    assert_number("usable", (int64_t)a.usable_bytes, 76439680450);
    assert_number("batch", (int64_t)a.max_sequences, 0);
    assert_number("devices", a.devices_needed, 2);
    assert_number("seconds from disk, times 1000",
                  (int64_t)(a.load_seconds[FIT_DISK] * 1000), 141107);
    assert_text("first advice", a.advice[0].option, "--count 2");
    c.machine.is_split_said = true; // it would hold on, and make two copies of two devices
    fit_answer_of(&a, &c);
    assert_text("after --tp", a.advice[0].option, "--count 2 --tp 2");
    assert_text("second", a.advice[1].option, "--weights int8");
    assert_text("third", a.advice[2].option, "--weights int4");
}
END_TEST

START_TEST(copies_share_the_sequences) {
    const struct fit_subject s = subject_of("large");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    c.machine.n_devices = 8;
    c.machine.n_split = 4;
    c.n_seqs = 7;
    fit_answer_of(&a, &c);
    assert_number("copies", a.n_copies, 2);
    assert_number("sequences of the fuller copy", (int64_t)a.plan.n_seqs, 4);
    assert_number("KV of that copy", (int64_t)a.kv_bytes, 4 * 8192 * INT64_C(327680));
    assert_number("usable of a copy", (int64_t)a.usable_bytes, 4 * INT64_C(76439680450));
    uint64_t room = 76439680450 - 141107412992 / 4;
    assert_number("batch of both", (int64_t)a.max_sequences,
                  2 * (int64_t)(room / (UINT64_C(8192) * 327680 / 4)));
}
END_TEST

START_TEST(overhead_of_a_split_counts_for_each_device) {
    const struct fit_subject s = subject_of("large");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    c.machine.n_devices = c.machine.n_split = 4;
    c.machine.device.overhead_bytes = 100;
    c.machine.device.split_bytes = 11;
    fit_answer_of(&a, &c);
    assert_number("overhead", (int64_t)a.overhead_bytes, 444);
    c.machine.n_devices = c.machine.n_split = 32;
    c.machine.device.overhead_bytes = UINT64_C(1) << 60; // fit.h: the most
    fit_answer_of(&a, &c);
    ck_assert_uint_eq(a.overhead_bytes, FIT_TOO_MUCH);
}
END_TEST

START_TEST(the_highest_overhead_is_looked_at_as_well) {
    const struct fit_subject s = subject_of("windows");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    fit_answer_of(&a, &c);
    assert_number("fits", a.fits, true);
    assert_number("at worst", a.fits_at_worst, true);
    assert_number("no advice", a.n_advice, 0);
    c.machine.highest_overhead = 84932978278;
    fit_answer_of(&a, &c);
    assert_number("fits", a.fits, true);
    assert_number("at worst", a.fits_at_worst, false);
    c.machine.highest_overhead = 0;
    c.machine.highest_split = 84932978278; // counts where there is a split, and only there
    fit_answer_of(&a, &c);
    assert_number("alone, at worst", a.fits_at_worst, true);
    c.machine.n_devices = c.machine.n_split = 2;
    fit_answer_of(&a, &c);
    assert_number("fits", a.fits, true);
    assert_number("split, at worst", a.fits_at_worst, false);
}
END_TEST

// All weights but an embedding's row, and the KV of a sequence, once a token, over the bandwidth.
START_TEST(one_sequence_is_as_fast_as_its_bytes) {
    const struct fit_subject s = subject_of("large");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    fit_answer_of(&a, &c);
    double embedding = 128256.0 * 8192, kv = 8192 * 327680.0;
    float want = (float)(1e12 / (2 * (70553706496.0 - embedding) + kv));
    float got = (float)a.tokens_per_s;
    assert_close("tokens_per_s", &got, &want, 1, 1e-5);
    c.machine.bandwidth = 0;
    fit_answer_of(&a, &c);
    assert_number("not known", (int64_t)a.tokens_per_s, 0);
}
END_TEST

START_TEST(a_context_ends_where_training_did) {
    const struct fit_subject s = subject_of("windows");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    fit_answer_of(&a, &c);
    assert_number("longest", (int64_t)a.max_context, 32768);
    ck_assert_int_gt((int64_t)a.kv_tokens, 32768);
    c.n_ctx = 40000;
    fit_answer_of(&a, &c);
    assert_number("longest, when more is asked for", (int64_t)a.max_context, 40000);
}
END_TEST

// A latent row is on each device, so no split gives room for many: copies do.
START_TEST(where_no_split_is_enough_there_are_copies) {
    const struct fit_subject s = subject_of("latent");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    c.n_ctx = 1000;
    c.n_seqs = 100;
    c.machine.device.memory_bytes =
        40 * UINT64_C(70272000) * 10 / 9; // 39 sequences, and weights
    fit_answer_of(&a, &c);
    assert_number("split", a.needed_split, 1);
    assert_number("devices", a.devices_needed, 3);
    assert_text("advice", a.advice[0].option, "--count 3 --tp 1");
}
END_TEST

// A split copies what cannot be divided, so two copies may do with fewer devices than one split over more.
START_TEST(the_fewest_devices_are_looked_for) {
    struct fit_subject s = subject_of("windows"); // 4 heads: a split over 1, 2 or 4
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    s.shape.n_weights = 0;
    uint64_t one = fit_kv_bytes(&s.shape,
                                &(struct fit_plan){
                                    .kv = {1, 2},
                                      .n_split = 1
    },
                                8192);
    c.machine.device = (struct fit_device){.memory_bytes = 2 * one, .share = 1000};
    c.n_seqs = 5; // its one KV head is on each device: copies of 2
    fit_answer_of(&a, &c);
    assert_number("devices", a.devices_needed, 3);
    assert_number("split", a.needed_split, 1);
    c.n_seqs = 2;
    fit_answer_of(&a, &c);
    assert_number("one is enough", a.devices_needed, 1);

    // Weights of 3/4 of a device leave room for one sequence: alone 6 devices for 6, split over 2 only 2.
    const struct fit_subject large = subject_of("large");
    c = case_of(&large);
    one = 8192 * UINT64_C(327680);
    c.machine.device.memory_bytes = 141107412992 + one;
    c.machine.device.share = 1000;
    c.n_seqs = 6;
    fit_answer_of(&a, &c);
    assert_number("devices", a.devices_needed, 2);
    assert_number("split", a.needed_split, 2);
}
END_TEST

// ---- advice -------------------------------------------------------------------------------------

static void follow(struct fit_case *c, const char *option) {
    unsigned long long n;
    int split;
    if (strcmp(option, "--weights int8") == 0) {
        c->weights = "int8";
        c->weight_type = (struct fit_type){1, 1};
    } else if (strcmp(option, "--weights q8_0") == 0) {
        c->weight_type = (struct fit_type){32, 34};
    } else if (strcmp(option, "--weights q4_0") == 0) {
        c->weight_type = (struct fit_type){32, 18};
    } else if (strcmp(option, "--weights int4") == 0) {
        c->weights = "int4";
        c->weight_type = (struct fit_type){2, 1};
    } else if (strcmp(option, "--weights int4 --kv int8") == 0) {
        c->weights = "int4";
        c->weight_type = (struct fit_type){2, 1};
        c->kv_type = (struct fit_type){1, 1};
    } else if (strcmp(option, "--kv int8") == 0) {
        c->kv_type = (struct fit_type){1, 1};
    } else if (sscanf(option, "--count %llu --tp %d", &n, &split) == 2) {
        c->machine.n_devices = (int)n;
        c->machine.n_split = split;
    } else if (sscanf(option, "--count %llu", &n) == 1) {
        c->machine.n_devices = c->machine.n_split = (int)n;
    } else if (sscanf(option, "--memory %llu", &n) == 1) {
        c->machine.device.memory_bytes = n;
    } else if (sscanf(option, "--context %llu", &n) == 1) {
        c->n_ctx = n;
    } else {
        ck_assert_msg(sscanf(option, "--sequences %llu", &n) == 1, "%s", option);
        c->n_seqs = n;
    }
}

// Whoever follows it has a model that fits, and one byte less of bought memory would not do.
START_TEST(advice_is_true) {
    static const char *const names[] = {"large", "latent", "windows"};
    struct draw d = draw_start("advice_is_true");
    int n_followed = 0;
    for (int i = 0; i < 200; i++) {
        const struct fit_subject s = subject_of(names[draw_int(&d, 0, 2)]);
        struct fit_case c = case_of(&s);
        struct fit_answer a, then;
        c.machine.is_here = draw_int(&d, 0, 1);
        c.machine.device.memory_bytes = (uint64_t)draw_int(&d, 1, 90000) * 1000000;
        c.n_ctx = (uint64_t)draw_int(&d, 1, 9000);
        c.n_seqs = (uint64_t)draw_int(&d, 1, 300);
        fit_answer_of(&a, &c);
        for (int k = 0; k < a.n_advice; k++, n_followed++) {
            struct fit_case changed = c;
            follow(&changed, a.advice[k].option);
            fit_answer_of(&then, &changed);
            ck_assert_msg(then.fits, "%s with %d x %d tokens: %s does not make it fit",
                          s.name, (int)c.n_seqs, (int)c.n_ctx, a.advice[k].option);
            if (strncmp(a.advice[k].option, "--memory", 8) != 0) continue;
            changed.machine.device.memory_bytes--;
            fit_answer_of(&then, &changed);
            ck_assert_msg(!then.fits, "%s: %s is more than needed", s.name,
                          a.advice[k].option);
        }
    }
    ck_assert_int_gt(n_followed, 50);
}
END_TEST

// There is one machine, serve keeps K and V in f32, and weights come as files.
START_TEST(here_only_what_can_be_done_is_advised) {
    const struct fit_subject s = subject_of("large");
    struct fit_case c = case_of(&s);
    struct fit_answer a;
    c.machine.is_here = true;
    fit_answer_of(&a, &c);
    assert_number("fits", a.fits, false);
    assert_number("devices", a.devices_needed, 0);
    assert_number("pieces of advice", a.n_advice, 2); // 8 bits and a scale are too much
    ck_assert_msg(strncmp(a.advice[0].option, "--memory ", 9) == 0, "%s",
                  a.advice[0].option);
    assert_text("second", a.advice[1].option, "--weights q4_0");
    c.weight_type = (struct fit_type){32, 18};
    fit_answer_of(&a, &c);
    assert_number("in 4 bits: fits", a.fits, true);
    assert_number("devices", a.devices_needed, 1);
    c.n_seqs = 1000;
    fit_answer_of(&a, &c);
    for (int i = 0; i < a.n_advice; i++)
        ck_assert_msg(strstr(a.advice[i].option, "--kv") == NULL, "%s", a.advice[i].option);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit_case");
    TCase *answers = tcase_in(s, "answers");
    tcase_add_test(answers, seventy_billion_weights_need_two_boards);
    tcase_add_test(answers, copies_share_the_sequences);
    tcase_add_test(answers, overhead_of_a_split_counts_for_each_device);
    tcase_add_test(answers, the_highest_overhead_is_looked_at_as_well);
    tcase_add_test(answers, one_sequence_is_as_fast_as_its_bytes);
    tcase_add_test(answers, a_context_ends_where_training_did);
    tcase_add_test(answers, where_no_split_is_enough_there_are_copies);
    tcase_add_test(answers, the_fewest_devices_are_looked_for);
    TCase *advice = tcase_in(s, "advice");
    tcase_add_test(advice, advice_is_true);
    tcase_add_test(advice, here_only_what_can_be_done_is_advised);
    return s;
}
