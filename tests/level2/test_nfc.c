// Form NFC in pieces. The `tokenizers` package judges all of Unicode in tests/reference.
#include "level2-operator/tokenizer/nfc.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "tests/support/suite.h"

static const struct {
    const char *name, *text, *want;
    bool is_sure;
} cases[] = {
    {"nothing",                        "",                         "",                         true },
    {"ASCII",                          "abc",                      "abc",                      true },
    {"a character that is whole",      "\xc3\xa9",                 "\xc3\xa9",                 true },
    {"a letter and its accent",        "e\xcc\x81",                "\xc3\xa9",                 false},
    {"among others",
     "ae\xcc\x81"
     "b",                                                          "a\xc3\xa9"
     "b",                                                                             false},
    {"two marks in the wrong order",   "q\xcc\x87\xcc\xa3",        "q\xcc\xa3\xcc\x87",        false},
    {"jamo become a syllable",         "\xe1\x84\x80\xe1\x85\xa1", "\xea\xb0\x80",             false},
    {"Chinese stays",                  "\xe4\xbd\xa0\xe5\xa5\xbd", "\xe4\xbd\xa0\xe5\xa5\xbd", false},
    {"a character that becomes three", "\xf0\x9d\x85\xa0",
     "\xf0\x9d\x85\x98\xf0\x9d\x85\xa5\xf0\x9d\x85\xae",                                       false},
    {"broken bytes stay",              "e\xff\xcc\x81",            "e\xff\xcc\x81",            false},
    {"a cut character stays",          "a\xe2\x80",                "a\xe2\x80",                false},
};

START_TEST(composes_as_the_standard_says) {
    char out[64];
    const char *text = cases[_i].text;
    size_t n = nfc_normalize(out, text, strlen(text));
    out[n] = '\0';
    assert_text(cases[_i].name, out, cases[_i].want);
    ck_assert_int_eq(nfc_is_sure(text, strlen(text)), cases[_i].is_sure);
}
END_TEST

// A letter with 200,000 marks: each part is put in order by itself, all of them at once would take hours.
START_TEST(takes_any_number_of_marks) {
    enum { N_MARKS = 200000 };
    char *text = malloc(1 + 2 * N_MARKS), *out = malloc(NFC_GROWTH * (1 + 2 * N_MARKS));
    text[0] = 'q';
    for (int i = 0; i < N_MARKS; i++)
        memcpy(text + 1 + 2 * i, i % 2 ? "\xcc\xa3" : "\xcc\x87", 2);
    size_t n = nfc_normalize(out, text, 1 + 2 * N_MARKS);
    ck_assert_uint_gt(n, N_MARKS);
    ck_assert_int_eq(memcmp(out, "q\xcc\xa3\xcc\xa3", 5), 0); // the lower marks come first
    ck_assert_uint_le(n, 1 + 2 * N_MARKS);
    free(text);
    free(out);
}
END_TEST

START_TEST(does_as_the_library_does_with_the_whole) {
    static const int32_t characters[] = {'a',    'e',   ' ',    0xe9,   0x300,  0x301,
                                         0x323,  0x345, 0x1100, 0x1161, 0x11a8, 0xac00,
                                         0x4e2d, 0x958, 0x2126, 0x1f82};
    struct draw d = draw_start("nfc");
    for (int round = 0; round < 3000; round++) {
        utf8proc_uint8_t text[129];
        char out[NFC_GROWTH * 128];
        size_t n = 0;
        for (int i = draw_int(&d, 0, 30); i > 0; i--)
            n += (size_t)utf8proc_encode_char(
                characters[draw_int(&d, 0, ROWS(characters) - 1)], text + n);
        text[n] = 0;
        utf8proc_uint8_t *want = utf8proc_NFC(text);
        size_t n_out = nfc_normalize(out, (const char *)text, n);
        ck_assert_uint_eq(n_out, strlen((const char *)want));
        ck_assert_int_eq(memcmp(out, want, n_out), 0);
        free(want);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/nfc");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_loop_test(reference, composes_as_the_standard_says, 0, ROWS(cases));
    TCase *edges = tcase_in(s, "edges");
    tcase_add_test(edges, takes_any_number_of_marks);
    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, does_as_the_library_does_with_the_whole);
    return s;
}
