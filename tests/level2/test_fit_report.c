// What fit says: both units of bytes, bars that end where the bytes do, JSON without memory, a picture.
#include "level2-operator/fit/fit_report.h"

#include <stdlib.h>
#include <string.h>

#include "level2-operator/fit/fit_bars.h"
#include "level2-operator/text/byte_text.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static const struct {
    uint64_t n_bytes;
    const char *want;
} bytes[] = {
    {0,             "0 B"                     },
    {999,           "999 B"                   },
    {1000,          "1.0 KB (1.0 KiB)"        },
    {131072,        "131.1 KB (128.0 KiB)"    },
    {1073741824,    "1.1 GB (1.0 GiB)"        },
    {48318382080,   "48.3 GB (45.0 GiB)"      }, // FIT-03: GiB shown as GB
    {141107412992,  "141.1 GB (131.4 GiB)"    },
    {1342052838400, "1.3 TB (1.2 TiB)"        },
    {UINT64_MAX,    "18446.7 PB (16384.0 PiB)"},
};

START_TEST(bytes_have_both_units) {
    char text[BYTE_TEXT_BYTES];
    assert_text("byte_text", byte_text(text, bytes[_i].n_bytes), bytes[_i].want);
}
END_TEST

// 400 bytes of weights, 100 overhead, 1000 of 2000 usable; a sequence takes 100: 5 fit.
static const struct fit_subject subject = {
    .name = "a",
    .shape = {.n_weights = 400, .n_layers = 1, .n_heads = 2, .n_kv_heads = 1, .d_head = 5},
    .n_active = 400,
    .n_ctx = 10,
    .source = "a test"
};

static struct fit_case small_case(void) {
    return (struct fit_case){
        .subject = &subject,
        .machine = {.name = "board",
                    .n_devices = 1,
                    .n_split = 1,
                    .device = {2000, 500, 100, 0},
                    .load_rates = {4, 2, 1}},
        .weights = "int8",
        .kv = "int8",
        .weight_type = {1, 1},
        .kv_type = {1,                             1                   },
        .n_ctx = 10,
        .n_seqs = 2,
        .is_ctx_assumed = true
    };
}

static char *printed(void (*print)(FILE *, const struct fit_case *,
                                   const struct fit_answer *),
                     const struct fit_case *c, const struct fit_answer *a) {
    char *text = NULL;
    size_t n_bytes;
    FILE *out = open_memstream(&text, &n_bytes);
    ck_assert_ptr_nonnull(out);
    print(out, c, a);
    fclose(out);
    return text;
}

static void assert_says(const char *text, const char *words) {
    ck_assert_msg(strstr(text, words) != NULL, "does not say \"%s\":\n%s", words, text);
}

START_TEST(bars_grow_to_the_line_and_over_it) {
    const struct fit_case c = small_case();
    struct fit_answer a;
    uint64_t loads[FIT_BARS];
    fit_answer_of(&a, &c);
    assert_number("batch", (int64_t)a.max_sequences, 5);
    fit_bar_loads(loads, &a);
    static const int want[FIT_BARS] = {0, 1, 2, 3, 5, 6};
    for (int i = 0; i < FIT_BARS; i++) assert_number("load", (int64_t)loads[i], want[i]);
    struct fit_bar bar = fit_bar_of(&c, &a, 3);
    assert_number("overhead", (int64_t)bar.overhead, 100);
    assert_number("weights", (int64_t)bar.weights, 400);
    assert_number("KV", (int64_t)bar.kv, 300);
    assert_number("line", (int64_t)bar.line, 1000);
    char *text = printed(fit_bars_print, &c, &a);
    // 1100 bytes are 59 cells.
    assert_says(text,
                "        0  ooooo=====================                           |\n");
    assert_says(text,
                "        5  ooooo=====================kkkkkkkkkkkkkkkkkkkkkkkkkkk|\n");
    assert_says(text,
                "        6  ooooo=====================kkkkkkkkkkkkkkkkkkkkkkkkkkk!!!!!!\n");
    free(text);
}
END_TEST

START_TEST(what_was_assumed_is_said) {
    struct fit_case c = small_case();
    struct fit_answer a;
    fit_answer_of(&a, &c);
    char *text = printed(fit_print, &c, &a);
    assert_says(text, "a on 1 x board: fits");
    assert_says(text, "context     10 tokens, assumed: --context says otherwise\n");
    assert_says(text, "sequences   2\n");
    free(text);
    c.is_ctx_assumed = false;
    c.n_seqs = 6;
    c.request_s = 2;
    fit_answer_of(&a, &c);
    text = printed(fit_print, &c, &a);
    assert_says(text, "does not fit");
    assert_says(text, "context     10 tokens\n");
    assert_says(text, "at 2.5 requests a second, if each stays 2 s");
    assert_says(text, "--sequences 5");
    free(text);
}
END_TEST

START_TEST(here_it_is_said_what_serve_does) {
    struct fit_case c = small_case();
    struct fit_answer a;
    c.machine.is_here = true;
    fit_answer_of(&a, &c);
    char *text = printed(fit_print, &c, &a);
    assert_says(text,
                "serve       holds one sequence (and in f32), and takes its KV at start");
    free(text);
    c.kv = "f32";
    c.kv_type = (struct fit_type){1, 4};
    fit_answer_of(&a, &c);
    text = printed(fit_print, &c, &a);
    assert_says(text,
                "serve       holds one sequence, and takes its KV at start: others wait\n");
    free(text);
}
END_TEST

START_TEST(json_without_memory_is_no_half_document) {
    struct fit_case c = small_case();
    struct fit_answer a;
    long n = 0;
    json_t *document = NULL;
    c.n_seqs = 6; // one too many
    fit_answer_of(&a, &c);
    while (!document) {
        memory_fail_after(n++);
        document = fit_json(&c, &a);
        memory_fail_after(-1);
    }
    ck_assert_int_gt(n, 20);
    assert_number("fits", json_is_true(json_object_get(document, "fits")), false);
    assert_number("KV", json_integer_value(json_object_get(document, "kv_bytes")), 600);
    ck_assert_int_gt(a.n_advice, 1);
    assert_number("suggestions",
                  (int64_t)json_array_size(json_object_get(document, "suggestions")),
                  a.n_advice);
    json_decref(document);
}
END_TEST

static int count(const struct picture *p, colour_rgb colour) {
    int n = 0;
    for (int i = 0; i < p->width * p->height; i++) {
        const unsigned char *at = p->rgb + (size_t)i * 3;
        n += ((colour_rgb)at[0] << 16 | (colour_rgb)at[1] << 8 | at[2]) == colour;
    }
    return n;
}

// 1100 bytes are 290 pixels: a column of 70 has 26 rows of overhead, 106 of weights; a square of 14 each.
START_TEST(a_picture_shows_what_is_fixed_and_what_grows) {
    const struct fit_case c = small_case();
    struct fit_answer a;
    struct picture p;
    fit_answer_of(&a, &c);
    assert_status("fit_bars_picture", fit_bars_picture(&p, &c, &a, NULL), OK);
    assert_number("overhead", count(&p, 0xB0B0B0), 6 * 26 * 70 + 14 * 14);
    assert_number("weights", count(&p, 0x4C78A8), 6 * 106 * 70 + 14 * 14);
    ck_assert_int_gt(count(&p, 0xE45756), 20 * 70);
    int n_red = count(&p, 0xC0392B);
    ck_assert_int_gt(n_red, 3 * 700 - 100);
    picture_free(&p);
    struct fit_case over =
        c; // a line in the middle of columns hides no letter of its label
    over.n_ctx = 1000;
    fit_answer_of(&a, &over);
    assert_status("fit_bars_picture", fit_bars_picture(&p, &over, &a, NULL), OK);
    assert_number("red, with high columns", count(&p, 0xC0392B), n_red);
    picture_free(&p);
    memory_fail_after(0);
    enum status st = fit_bars_picture(&p, &c, &a, NULL);
    memory_fail_after(-1);
    assert_status("without memory", st, ERR_MEMORY);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/fit_report");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_loop_test(reference, bytes_have_both_units, 0, ROWS(bytes));
    tcase_add_test(reference, bars_grow_to_the_line_and_over_it);
    tcase_add_test(reference, what_was_assumed_is_said);
    tcase_add_test(reference, here_it_is_said_what_serve_does);
    tcase_add_test(reference, a_picture_shows_what_is_fixed_and_what_grows);
    TCase *failures = tcase_in(s, "failures");
    tcase_add_test(failures, json_without_memory_is_no_half_document);
    return s;
}
