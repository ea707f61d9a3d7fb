// From a model and a machine to answers and advice: the course's numbers, windows, copies, this machine,
// and that each piece of advice is true.
#include "level2-operator/fit/fit_case.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/os.h"
#include "level2-operator/engine/serial_fit.h"
#include "level2-operator/fit/fit_advice.h"
#include "level2-operator/fit/fit_constants.h"
#include "level2-operator/fit/fit_machine.h"
#include "level2-operator/fit/fit_type.h"
#include "level2-operator/model/model.h"
#include "level2-operator/model/ops.h"
#include "tests/support/engine_rig.h"
#include "tests/support/suite.h"

static const char entries[] =
    "{\"models\": ["
    "{\"name\": \"large\", \"params\": 70553706496, \"layers\": 80, \"d_model\": 8192, "
    "\"heads\":"
    " 64, \"kv_heads\": 8, \"d_head\": 128, \"d_ff\": 28672, \"vocab\": 128256, "
    "\"context\": 8192},"
    "{\"name\": \"latent\", \"params\": 1000, \"layers\": 61, \"d_model\": 7168, "
    "\"heads\": 128,"
    " \"kv_heads\": 128, \"d_ff\": 2048, \"vocab\": 10, \"context\": 100, \"kv_rank\": 512,"
    " \"rope_dim\": 64, \"nope_dim\": 128, \"v_dim\": 128, \"q_rank\": 1536},"
    "{\"name\": \"windows\", \"params\": 1000, \"layers\": 18, \"d_model\": 640, "
    "\"heads\": 4,"
    " \"kv_heads\": 1, \"d_head\": 256, \"d_ff\": 2048, \"vocab\": 10, \"context\": 32768,"
    " \"window\": 512, \"windowed_layers\": 15},"
    "{\"name\": \"some-windows\", \"params\": 1000, \"layers\": 2, \"d_model\": 6, "
    "\"heads\": 2,"
    " \"kv_heads\": 1, \"d_head\": 4, \"d_ff\": 5, \"vocab\": 10, \"context\": 99, "
    "\"window\": 7}]}";

static struct fit_subject subject_of(const char *name) {
    struct data_table t;
    struct error err = {0};
    struct fit_subject s;
    ck_assert_msg(
        data_table_parse(&t, &model_table, entries, strlen(entries), "list", &err) == OK,
        "%s", err.text);
    fit_subject_of_entry(&s, model_table_find(&t, name));
    data_table_close(&t);
    return s;
}

// A board of 80 GB, whole rates, no overhead.
static struct fit_case case_of(const struct fit_subject *s) {
    struct fit_case c = {
        .subject = s,
        .machine = {.name = "board",
                    .n_devices = 1,
                    .n_split = 1,
                    .device = {.memory_bytes = 84932978278, .share = 900},
                    .bandwidth = 1e12,
                    .ops = 1e15,
                    .load_rates = {1e10, 1e9, 1e8}},
        .weights = "bf16",
        .kv = "bf16",
        .weight_type = {1, 2               },
        .kv_type = {1,                        2},
        .n_ctx = 8192,
        .n_seqs = 1
    };
    return c;
}

// ---- subjects -----------------------------------------------------------------------------------

START_TEST(a_table_row_becomes_a_shape) {
    struct fit_subject s = subject_of("latent");
    assert_number("latent row", s.shape.d_latent, 576);
    assert_number("windows of it", s.shape.n_window_layers, 0);
    s = subject_of("windows");
    assert_number("window layers", s.shape.n_window_layers, 15);
    assert_number("window", (int64_t)s.shape.window, 512);
    ck_assert_msg(strstr(s.note, "15 of 18 layers keep 512 tokens only") != NULL,
                  "note: %s", s.note);
    fit_subject_serve(&s, NULL);
    assert_number("window layers, all kept", s.shape.n_window_layers, 0);
    ck_assert_msg(strstr(s.note, "15 layers") != NULL, "note: %s", s.note);
    s = subject_of("some-windows");
    assert_number("window layers, not known", s.shape.n_window_layers, 0);
    ck_assert_msg(strstr(s.note, "not known") != NULL, "note: %s", s.note);
}
END_TEST

START_TEST(a_file_becomes_a_shape) {
    struct fit_subject s;
    struct model m;
    struct error err = {0};
    ck_assert_msg(fit_subject_of_file(&s, tiny_model_path(), &err) == OK, "%s", err.text);
    ck_assert_msg(model_open(&m, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
    assert_number("layers", s.shape.n_layers, m.config.n_layers);
    assert_number("KV heads", s.shape.n_kv_heads, m.config.n_kv_heads);
    assert_number("d_head", s.shape.d_head, m.config.d_head);
    assert_number("context", (int64_t)s.n_ctx, m.config.n_ctx);
    assert_number("tied", s.is_tied, m.is_tied);
    uint64_t n_bytes = 0;
    for (uint64_t i = 0; i < m.gguf.n_tensors; i++)
        n_bytes += m.gguf.tensors[i].view.n_bytes;
    assert_number("stored bytes", (int64_t)s.stored_bytes, (int64_t)n_bytes);
    model_close(&m);
    assert_status("no file", fit_subject_of_file(&s, "no/such.gguf", &err), ERR_IO);
    assert_status("no model", fit_subject_of_file(&s, "README.md", &err), ERR_FORMAT);
}
END_TEST

// What serve stores for a context is what fit says, byte for byte.
START_TEST(the_engine_stores_as_many_bytes_as_fit_says) {

    struct model m;
    struct error err = {0};
    ck_assert_msg(model_open(&m, tiny_model_path(), NULL, &err) == OK, "%s", err.text);
    const struct fit_model shape = fit_shape_of_config(&m.config);
    const struct fit_plan plan = {
        .kv = {1, 4},
          .n_seqs = 1, .n_ctx = 1, .n_split = 1
    };
    static const int lengths[] = {1, 7, 64, 129};
    for (int i = 0; i < ROWS(lengths); i++) {
        struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = lengths[i]};
        assert_status("kv_layout", ops_plain.kv_layout(&layout, &m.config, &err), OK);
        assert_number("bytes of K and V",
                      (int64_t)fit_kv_bytes(&shape, &plan, (uint64_t)lengths[i]),
                      (int64_t)layout.block_bytes);
    }
    model_close(&m);
}
END_TEST

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

// ---- machines and types -------------------------------------------------------------------------

START_TEST(here_is_this_machine) {
    const struct fit_subject s = subject_of("windows");
    struct fit_machine m;
    fit_machine_here(&m, &s, 5);
    assert_number("memory", (int64_t)m.device.memory_bytes, (int64_t)os_memory_bytes());
    assert_number("share", m.device.share, 900);
    ck_assert_int_gt((int64_t)m.device.overhead_bytes, 0);
    assert_number("here", m.is_here, true);
}
END_TEST

// For a file, fit adds up here what serve then takes, byte for byte: weights, tables, activations, queues.
START_TEST(here_a_file_takes_what_the_ledger_of_serve_says) {
    int n_cpus = os_cpu_count() < LIMIT_WORKERS ? os_cpu_count() : LIMIT_WORKERS;
    struct rig rig;
    struct engine_ledger l;
    struct fit_subject s;
    struct fit_machine m;
    rig_open_tiny(&rig, n_cpus);
    rig.options.n_ctx = 33;
    assert_status("ledger", engine_serial_ledger(&rig.model, &rig.options, &l, NULL), OK);
    assert_status("file", fit_subject_of_file(&s, tiny_model_path(), NULL), OK);
    fit_subject_serve(&s, tiny_model_path());
    assert_text("note", s.note, "");
    fit_machine_here(&m, &s, serial_fit_beside_kv(&s.config, 33));
    assert_number("weights", (int64_t)s.stored_bytes, (int64_t)l.weights_bytes);
    assert_number("tables", (int64_t)s.tables_bytes, (int64_t)l.tables_bytes);
    assert_number("overhead", (int64_t)m.device.overhead_bytes,
                  (int64_t)(l.tables_bytes + l.activation_bytes + l.other_bytes));
    rig_start(&rig);
    assert_number("the arena of the model", (int64_t)rig.model.arena.used,
                  (int64_t)(l.tables_bytes + l.packed_bytes));
    rig_close(&rig);
}
END_TEST

START_TEST(what_serve_would_refuse_is_noted) {
    struct fit_subject s = subject_of("windows");
    fit_subject_serve(&s, "no/such.gguf");
    ck_assert_msg(strstr(s.note, "serve would not start: no/such.gguf") == s.note, "%s",
                  s.note);
    assert_number("tables", (int64_t)s.tables_bytes, 0);
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

START_TEST(constants_that_are_missing_are_named) {
    static const char text[] =
        "{\"overheads\": [{\"name\": \"context\", \"low_bytes\": 2, \"high_bytes\": 8},"
        "{\"name\": \"activations\", \"high_bytes\": 8}, {\"name\": \"graphs\"}]}";
    static const char rates[] = "{\"rates\": [{\"name\": \"disk\", \"bytes_per_s\": 5}]}";
    const struct device_entry board = {.name = "x", .usable_bytes = 9, .tag_usable = "S"};
    struct data_table t;
    struct fit_machine m;
    struct error err = {0};
    data_table_parse(&t, &fit_overhead_table, text, strlen(text), "list", &err);
    assert_status("overheads", fit_machine_of_entry(&m, &board, &t, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "context-split") != NULL, "%s", err.text);
    data_table_close(&t);
    data_table_parse(&t, &fit_rate_table, rates, strlen(rates), "list", &err);
    assert_status("rates", fit_machine_rates(&m, &t, &err), ERR_FORMAT);
    ck_assert_msg(strstr(err.text, "page-cache") != NULL, "%s", err.text);
    data_table_close(&t);
}
END_TEST

static const struct {
    const char *name;
    bool is_known;
    double bits;
} types[] = {
    {"bf16",      true,  16     },
    {"int8",      true,  8      },
    {"int4",      true,  4      },
    {"int4-g128", true,  4.15625},
    {"q4_k",      true,  4.5    },
    {"q4_1",      true,  5      },
    {"q6_k",      true,  6.5625 },
    {"4.8944",    true,  4.8944 },
    {"64",        true,  64     },
    {"0.4",       false, 0      },
    {"65",        false, 0      },
    {"-4",        false, 0      },
    {"nan",       false, 0      },
    {"int3",      false, 0      },
    {"",          false, 0      },
};

START_TEST(types_have_their_bits) {
    struct fit_type type = {1, 1};
    assert_number(types[_i].name, fit_type_find(&type, types[_i].name), types[_i].is_known);
    if (!types[_i].is_known) return;
    float got = (float)fit_type_bits(type), want = (float)types[_i].bits;
    assert_close(types[_i].name, &got, &want, 1, 1e-7);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit_case");
    TCase *subjects = tcase_in(s, "subjects");
    tcase_add_test(subjects, a_table_row_becomes_a_shape);
    tcase_add_test(subjects, a_file_becomes_a_shape);
    tcase_add_test(subjects, the_engine_stores_as_many_bytes_as_fit_says);
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
    TCase *machines = tcase_in(s, "machines");
    tcase_add_test(machines, here_is_this_machine);
    tcase_add_test(machines, here_a_file_takes_what_the_ledger_of_serve_says);
    tcase_add_test(machines, what_serve_would_refuse_is_noted);
    tcase_add_test(advice, here_only_what_can_be_done_is_advised);
    tcase_add_test(machines, constants_that_are_missing_are_named);
    tcase_add_loop_test(machines, types_have_their_bits, 0, ROWS(types));
    return s;
}
