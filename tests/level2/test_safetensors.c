// The safetensors reader: the format's own cases, each rule broken once, every truncation, thousands of
// changed copies.
#include "level2-operator/files/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/kernels/rows_for.h"
#include "tests/support/gguf_file.h"
#include "tests/support/json_memory.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct arena arena;
static struct safetensors s;
static struct bytes b;
static struct error err;

static void setup(void) {
    memset(&s, 0, sizeof(s));
    memset(&b, 0, sizeof(b));
    memset(&err, 0, sizeof(err));
    arena_init(&arena, 1 << 20);
}

static void teardown(void) {
    bytes_free(&b);
    arena_free(&arena);
}

// The file: a header of that text, then n bytes 0, 1, 2, ... of data.
static void build(const char *header, size_t n_data) {
    bytes_free(&b);
    put_u64(&b, strlen(header));
    put_raw(&b, header, strlen(header));
    for (size_t i = 0; i < n_data; i++) put_u8(&b, (unsigned)i & 0xff);
}

static enum status parse(void) {
    arena_free(&arena);
    arena_init(&arena, 32 * b.n + 4096); // what the file justifies
    memset(&err, 0, sizeof(err));
    return safetensors_parse(&s, b.data, b.n, "m.safetensors", &arena, &err);
}

static void parse_ok(void) {
    ck_assert_msg(parse() == OK, "%s", err.text);
}

static void refused(const char *what, enum status want, const char *says) {
    enum status st = parse();
    ck_assert_msg(st == want, "%s: %s %s", what, status_name(st), err.text);
    ck_assert_msg(strstr(err.text, says) != NULL, "%s: %s", what, err.text);
    ck_assert_msg(strncmp(err.text, "m.safetensors: ", 15) == 0, "%s", err.text);
    ck_assert_ptr_null(s.tensors);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(tensors_lie_where_their_offsets_say) {
    build("{\"b\":{\"dtype\":\"BF16\",\"shape\":[3,2],\"data_offsets\":[8,20]},"
          "\"__metadata__\":{\"format\":\"pt\"},"
          "\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
          20);
    parse_ok();
    assert_number("tensors", (int64_t)s.n_tensors, 2);
    assert_text("first", s.tensors[0].name, "a");
    assert_text("second", s.tensors[1].name, "b");
    const struct tensor_view *view = &s.tensors[1].view;
    ck_assert_int_eq(view->dtype, DTYPE_BF16);
    ck_assert_int_eq(view->n_dims, 2);
    assert_number("fastest", (int64_t)view->dim[0], 2);
    assert_number("slowest", (int64_t)view->dim[1], 3);
    ck_assert_ptr_eq(view->data, b.data + s.data_offset + 8);
    assert_number("notes", (int64_t)s.n_notes, 1);
    assert_text("note", s.notes[0].value, "pt");
}
END_TEST

START_TEST(data_need_not_be_aligned) { // LOAD-22
    char header[] =
        "{\"test\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[0,16]}} ";
    const float want[] = {1, -2, 0.5f, 1e-8f};
    float got[4];

    assert_number("header", (int64_t)strlen(header), 61);
    build(header, 0);
    put_raw(&b, want, sizeof(want));
    parse_ok();
    assert_number("data begins", (int64_t)s.data_offset, 69);
    rows_for(DTYPE_F32)(got, s.tensors[0].view.data, 4);
    assert_close("values", got, want, 4, 0);
}
END_TEST

START_TEST(white_space_may_follow_the_header) { // LOAD-26
    build("{}\r \t\n", 0);
    parse_ok();
    assert_number("tensors", (int64_t)s.n_tensors, 0);
}
END_TEST

START_TEST(single_numbers_and_empty_tensors_are_fine) {
    build("{\"one\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
          "\"none\":{\"dtype\":\"F16\",\"shape\":[0,7],\"data_offsets\":[4,4]},"
          "\"two\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[4,8]}}",
          8);
    parse_ok();
    assert_number("bytes of one", (int64_t)s.tensors[0].view.n_bytes, 4);
    assert_text("between", s.tensors[1].name, "none");
    assert_number("bytes of none", (int64_t)s.tensors[1].view.n_bytes, 0);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

// The header of a tensor t; the fields as given.
#define T(dtype, shape, offsets)                                                           \
    "{\"t\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}}"
#define J "{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0,16]}}"

static const struct {
    const char *name, *header;
    size_t n_data;
    enum status want;
    const char *says;
} wrong[] = {
    {"LOAD-27 shape and size disagree",
     "{\"test\":{\"dtype\":\"I32\",\"shape\":[2,2],\"data_offsets\":[0, 4]}}",           4,
     ERR_FORMAT,                                                                                                                                                                                                                                                                    "tensor test at byte 10: 4 bytes by its data_offsets, 16 by its shape"                                                                                                                                                                                        },
    {"LOAD-28 extra bytes",             J,                                               21,                                                       ERR_FORMAT,
     "data at byte 84: 5 bytes that are no tensor's"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                              },
    {"LOAD-28 missing bytes",           J,                                               14,                                                       ERR_FORMAT,
     "tensor test at byte 10: its data ends at 16"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                },
    {"data without a tensor",           "{}",                                            1,                                                        ERR_FORMAT,                                                                                                                      "data at byte 10"                                                                                                                                                                                                                                             },
    {"a list",                          "[]",                                            0,                                                        ERR_FORMAT,                                                                                                                      "not a JSON object at byte 8"                                                                                                                                                                                                                                 },
    {"space in front",                  " {}",                                           0,                                                        ERR_FORMAT,                                                                                                                      "must begin with {"                                                                                                                                                                                                                                           },
    {"no JSON",                         "{\"t\":",                                       0,                                                        ERR_FORMAT,                                                                                                                      "not valid JSON at byte"                                                                                                                                                                                                                                      },
    {"two texts",                       "{}{}",                                          0,                                                        ERR_FORMAT,                                                                                                                      "not valid JSON at byte"                                                                                                                                                                                                                                      },
    {"not closed",                      "{",                                             0,                                                        ERR_FORMAT,                                                                                                                      "not valid JSON at byte"                                                                                                                                                                                                                                      },
    {"name twice",
     "{\"t\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2]},"
     "\"t\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[2,4]}}",                  4,                                                        ERR_FORMAT,                                                                                                                      "duplicate"                                                                                                                                                                                                                                                   },
    {"field twice",                     "{\"t\":{\"dtype\":\"F16\",\"dtype\":\"F16\"}}", 0,                                                        ERR_FORMAT,
     "duplicate"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  },
    {"no object",                       "{\"t\":1}",                                     0,                                                        ERR_FORMAT,                                                                                                                      "tensor t at byte 10: must have dtype"                                                                                                                                                                                                                        },
    {"a field missing",                 "{\"t\":{\"dtype\":\"F16\",\"shape\":[]}}",      0,                                                        ERR_FORMAT,
     "no more"                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    },
    {"a field too many",
     "{\"t\":{\"dtype\":\"F16\",\"shape\":[1],\"data_offsets\":[0,2],\"x\":1}}",         2,
     ERR_FORMAT,                                                                                                                                                                                                                                                                    "no more"                                                                                                                                                                                                                                                     },
    {"a dtype of nobody",               T("Q4_1",                                        "[1]",                                                    "[0,4]"),                                                                                                                        4,                                                                                                                                                                                                                                                              ERR_FORMAT, "unknown dtype Q4_1"},
    {"a dtype of one letter",             T("F",                                                            "[1]",                                                                                              "[0,4]"),                                                                                                                                                                                                            4,                                                                                                                                                                                                                                                                                                                                                                                                          ERR_FORMAT, "unknown dtype F"},
    {"a dtype that is a number",                                "{\"t\":{\"dtype\":1,\"shape\":[],\"data_offsets\":[]}}",
     0,                                                                                                            ERR_FORMAT,                                "must be a string"},
    {"8-bit floats",                                 T("F8_E4M3",                                                                      "[4]", "[0,4]"),                                                                                                 4,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                       ERR_UNSUPPORTED,
     "dtype F8_E4M3 is not read"},
    {"bytes",                            T("U8","[4]",                                                     "[0,4]"),                                                                     4,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                   ERR_UNSUPPORTED, "dtype U8 is not read"},
    {"five dimensions",                           T("F16",                                         "[1,1,1,1,1]",                                                                                               "[0,2]"),                                                                                                                                                                  2,                                                                                                                                                                                                                                                                                                                                                           ERR_UNSUPPORTED,
     "5 dimensions"},
    {"shape as a number",           T("F16",                                                          "1",                                                                                                  "[0,2]"),                                                                                                                                                                                                2,                                                                                                                                                                                                                                                                                                                                                                                                         ERR_FORMAT, "shape must be a list"},
    {"dimension below zero",                                T("F16",                                                                "[-1]",                                                                                                                               "[0,2]"),                                                                                                                                                                                                                                                              2,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                          ERR_FORMAT, "no whole number"},
    {"dimension with a fraction",                              T("F16",            "[1.0]","[0,2]"),2,ERR_FORMAT,
     "no whole number"},
    {"dimensions that overflow",            T("F16",                     "[4294967296,4294967296,2]",        "[0,2]"), 2,
     ERR_FORMAT, "larger than any file"},
    {"LOAD-12 larger than the file",                T("F16",                                                               "[1152,4398046511105]",                                                                                             "[0,2]"),                                                                                                                                                                                        2,
     ERR_FORMAT, "by its shape"},
    {"number of 30 digits",                                T("F16",                                                                     "[100000000000000000000000000000]",                                                                                                                            "[0,2]"),                                                                                                                                                                                                                                                           2,
     ERR_FORMAT, "not valid JSON at byte"},
    {"offsets as one number",      T("F16",                         "[1]",                                                                         "2"),                                                                                                                                                                                                                                                                    2,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                            ERR_FORMAT, "must be [begin, end]"},
    {"three offsets",    T("F16",                             "[1]", "[0,1,2]"),                            2,                                                                                                  ERR_FORMAT, "must be [begin, end]"},
    {"end before begin",                   T("F16",                                                                  "[1]",                                                                                                      "[2,0]"),                                                                                                                                                                                               2,                                                                                                                                                                                                                                                                                                                                                       ERR_FORMAT, "must be [begin, end]"},
    {"offset below zero",                                T("F16",                                                                         "[1]",                                                                                                         "[-2,0]"),                                                                                                                                                                                                                                        2,                                                                                                                                                                                                                                                                                                                                                                                                                                                                                ERR_FORMAT, "must be [begin, end]"},
    {"a hole",                            T("F16",                                               "[1]",                              "[2,4]"),4,ERR_FORMAT, "after a hole of 2 bytes"},
    {"an overlap",
     "{\"t\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]},"
     "\"u\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[2,6]}}",                                                        6,                                                                               ERR_FORMAT,                                                                                                                                                                                                    "tensor u at byte 63: its data begins at 2, inside that of another"                                                                                                                                                                                                                                                                                                                                                                                                                                     },
    {"notes that are numbers",           "{\"__metadata__\":{\"a\":1}}",                                                          0,                                                                                                 ERR_FORMAT,
     "its values must be strings"                                                                                                                                                                                                                                                                                                                                                                                              },
    {"notes that are a list",                                "{\"__metadata__\":[]}",                                                                     0,                                                                                                       ERR_FORMAT,                                        "must be an object"},
};

START_TEST(refuses_and_says_what_is_wrong_and_where) {
    build(wrong[_i].header, wrong[_i].n_data);
    refused(wrong[_i].name, wrong[_i].want, wrong[_i].says);
}
END_TEST

START_TEST(refuses_what_is_no_header) { // LOAD-23, LOAD-24, LOAD-25
    refused("LOAD-23 empty file", ERR_FORMAT,
            "header length at byte 0: too small, 0 bytes");
    put_raw(&b, "\x3c\0\0\0\0\0\0\0", 8);
    refused("LOAD-24 header longer than the file", ERR_FORMAT, "only 0 bytes follow");
    bytes_free(&b);
    put_raw(&b, "\x01\0\0\0\0\0\0\0\xff", 9);
    refused("LOAD-25 not text", ERR_FORMAT, "not UTF-8 at byte 8");
    b.data[8] = 0x7b;
    refused("LOAD-25 not JSON", ERR_FORMAT, "not valid JSON at byte");
    memset(b.data, 0xff, 8);
    refused("a length of 2^64-1", ERR_FORMAT, "header length 18446744073709551615");
}
END_TEST

START_TEST(deep_and_long_headers_cost_nothing) {
    size_t n = (size_t)LIMIT_HF_HEADER_BYTES + 1;
    char *header = malloc(n + 1);
    memset(header, '[', n);
    header[n] = '\0';
    build(header, 0);
    refused("longer than the limit", ERR_LIMIT, "the limit is");
    header[4096] = '\0';
    build(header, 0);
    refused("deep", ERR_LIMIT, "nests deeper");
    free(header);
}
END_TEST

static const char good[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"model.norm.weight\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]},"
    "\"model.embed.weight\":{\"dtype\":\"BF16\",\"shape\":[3,4],\"data_offsets\":[16,40]},"
    "\"lm_head.weight\":{\"dtype\":\"F16\",\"shape\":[3,4],\"data_offsets\":[40,64]}}  ";

START_TEST(refuses_a_file_cut_anywhere) { // LOAD-16
    build(good, 64);
    parse_ok();
    size_t n_whole = b.n;
    for (size_t n = 0; n < n_whole; n++) {
        struct error why = {0};
        unsigned char *cut = malloc(n ? n : 1);
        memcpy(cut, b.data, n);
        arena_reset(&arena);
        enum status st = safetensors_parse(&s, cut, n, "m", &arena, &why);
        ck_assert_msg(st == ERR_FORMAT && why.text[0], "cut at %zu: %s", n, why.text);
        free(cut);
    }
}
END_TEST

START_TEST(survives_a_failure_of_every_allocation) {
    long n = 0, n_memory = 0;
    build(good, 64);
    for (;; n++) {
        memory_fail_after(n);
        enum status st = parse();
        memory_fail_after(-1);
        if (st == OK) break;
        // the JSON library calls some of them a text that goes on wrongly
        ck_assert_msg(st == ERR_MEMORY || st == ERR_FORMAT, "allocation %ld: %s", n,
                      err.text);
        n_memory += st == ERR_MEMORY;
    }
    ck_assert_int_gt(n_memory, 2);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// One to three bytes changed: most often digits and brackets of the header.
static void mutate(struct draw *d, unsigned char *bytes, size_t n) {
    static const unsigned char likely[] = "0123456789[]{}\",:\\u-eE ";
    for (int i = draw_int(d, 1, 3); i > 0; i--)
        bytes[draw_int(d, 0, (int)n - 1)] =
            draw_int(d, 0, 3) ? likely[draw_int(d, 0, (int)sizeof(likely) - 2)]
                              : (unsigned char)draw_u64(d);
}

START_TEST(a_changed_file_is_refused_or_lies_inside_itself) {
    struct draw d = draw_start("safetensors mutations");
    int n_accepted = 0, n_refused = 0;
    unsigned sum = 0;

    json_memory_watch();
    build(good, 64);
    struct bytes whole = b;
    b = (struct bytes){0};
    for (int i = 0; i < 20000; i++) {
        bytes_free(&b);
        put_raw(&b, whole.data, whole.n);
        mutate(&d, b.data, draw_int(&d, 0, 9) ? 8 + sizeof(good) - 1 : 8);
        enum status st = parse();
        ck_assert_msg(st == OK || (err.text[0] && st != ERR_MEMORY), "%d: %s", i, err.text);
        for (uint64_t t = 0; t < s.n_tensors; t++)
            for (uint64_t j = 0; j < s.tensors[t].view.n_bytes; j++)
                sum += ((const unsigned char *)s.tensors[t].view.data)[j]; // ASan looks on
        n_accepted += st == OK;
        n_refused += st != OK;
    }
    json_memory_release();
    bytes_free(&whole);
    ck_assert_msg(n_accepted > 500 && n_refused > 5000 && sum > 0,
                  "%d accepted, %d refused", n_accepted, n_refused);
    ck_assert_uint_eq(json_memory_now(), 0);
    ck_assert_msg(json_memory_peak() < 64 << 10, "%zu bytes of JSON", json_memory_peak());
}
END_TEST

Suite *suite(void) {
    Suite *x = suite_create("level2/safetensors");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, tensors_lie_where_their_offsets_say);
    tcase_add_test(reference, data_need_not_be_aligned);
    tcase_add_test(reference, white_space_may_follow_the_header);
    tcase_add_test(reference, single_numbers_and_empty_tensors_are_fine);
    suite_add_tcase(x, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, refuses_and_says_what_is_wrong_and_where, 0, ROWS(wrong));
    tcase_add_test(failures, refuses_what_is_no_header);
    tcase_add_test(failures, deep_and_long_headers_cost_nothing);
    tcase_add_test(failures, refuses_a_file_cut_anywhere);
    tcase_add_test(failures, survives_a_failure_of_every_allocation);
    suite_add_tcase(x, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_test(property, a_changed_file_is_refused_or_lies_inside_itself);
    suite_add_tcase(x, property);
    return x;
}
