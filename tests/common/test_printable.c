// What reaches a terminal: every character that it shows, and none that it obeys.
#include "common/printable.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

static const struct {
    const char *text;
    size_t n_bytes;
    const char *plain, *quoted;
} cases[] = {
    {"",                     0, "",                       "\"\""                      },
    {"plain",                5, "plain",                  "\"plain\""                 },
    {"a\nb\tc\rd",           7, "a\\nb\\tc\\rd",          "\"a\\nb\\tc\\rd\""         },
    {"say \"\\\"",           7, "say \"\\\"",             "\"say \\\"\\\\\\\"\""      },
    {"\033[2J",              4, "\\x1b[2J",               "\"\\x1b[2J\""              },
    {"a\0b\x7f",             4, "a\\x00b\\x7f",           "\"a\\x00b\\x7f\""          },
    {"\xC2\x9b\x33\x31m",    5, "\\xc2\\x9b31m",          "\"\\xc2\\x9b31m\""         },
    {"\xE4\xBD\xA0\xE4\xBD", 5, "\xE4\xBD\xA0\\xe4\\xbd", "\"\xE4\xBD\xA0\\xe4\\xbd\""},
};

typedef int write_fn(FILE *out, const char *text, size_t n_bytes);

// Characters of UTF-8.
static int columns_of(const char *text) {
    int n = 0;
    for (; *text; text++) n += (*text & 0xC0) != 0x80;
    return n;
}

static void assert_written(write_fn *write, int i, const char *want) {
    char *got = NULL;
    size_t n_got;
    FILE *out = open_memstream(&got, &n_got);
    int n_columns = write(out, cases[i].text, cases[i].n_bytes);
    fclose(out);
    ck_assert_str_eq(got, want);
    ck_assert_int_eq(n_columns, columns_of(want));
    free(got);
}

START_TEST(controls_and_broken_bytes_are_escaped) {
    assert_written(printable_write, _i, cases[_i].plain);
    assert_written(printable_quote, _i, cases[_i].quoted);
}
END_TEST

START_TEST(no_byte_string_reaches_the_terminal_as_a_command) {
    struct draw d = draw_start("printable");
    for (int round = 0; round < 2000; round++) {
        char text[24], *got = NULL;
        size_t n = (size_t)draw_int(&d, 0, sizeof(text)), n_got;
        for (size_t i = 0; i < n; i++) text[i] = (char)draw_int(&d, 0, 255);
        FILE *out = open_memstream(&got, &n_got);
        printable_quote(out, text, n);
        fclose(out);
        for (size_t i = 0; i < n_got; i++) {
            ck_assert((unsigned char)got[i] >= 0x20 && got[i] != 0x7f);
            ck_assert(got[i] != '\xC2' || (unsigned char)got[i + 1] >= 0xA0);
        }
        free(got);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/printable");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, controls_and_broken_bytes_are_escaped, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *property = tcase_create("property");
    tcase_add_test(property, no_byte_string_reaches_the_terminal_as_a_command);
    suite_add_tcase(s, property);
    return s;
}
