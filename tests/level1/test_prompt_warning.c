// A warning as a sentence: the word that differs, wherever in it the difference is, and however long.
#include "level1-user/prompt_warning.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

static const struct {
    const char *text;
    size_t at;
    const char *word;
} words[] = {
    {"It is 10:05. Be brief.",                                       10, "10:05."     },
    {"10:05",                                                        4,  "10:05"      },
    {"Date:\n2026-03-02\nBe brief.",                                 15, "2026-03-02" },
    {"cut off",                                                      7,  "off"        },
    {"cut off ",                                                     8,  ""           },
    {"",                                                             0,  ""           },
    {"caf\xc3\xa9",                                                  4,  "caf\xc3\xa9"},
    {"{\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}", 30,
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                                       },
};

START_TEST(a_warning_shows_the_word_that_differs) {
    char line[PROMPT_WARNING_BYTES], want[PROMPT_WARNING_BYTES];
    struct prompt_warning w = {PROMPT_CHANGED, "rules", words[_i].text, words[_i].at, 12};
    prompt_warning_line(line, &w);
    snprintf(
        want, sizeof(want),
        "rules: \"%s\" was another before; it stands before 12 bytes that stay the same",
        words[_i].word);
    assert_text("prompt_warning_line()", line, want);
}
END_TEST

START_TEST(a_warning_tells_an_order_from_a_change) {
    char line[PROMPT_WARNING_BYTES];
    prompt_warning_line(line,
                        &(struct prompt_warning){PROMPT_SHUFFLED, "tools", "b a", 0, 1});
    assert_text("prompt_warning_line()", line,
                "tools: \"b\" begins another order of the same bytes; it stands before 1 "
                "bytes that stay the same");
    prompt_warning_line(line, &(struct prompt_warning){0});
    assert_text("prompt_warning_line()", line, "");
}
END_TEST

START_TEST(a_word_is_cut_between_two_characters) {
    char text[201] = "", line[PROMPT_WARNING_BYTES];
    for (int i = 0; i < 100; i++) strcat(text, "\xc3\xa9");
    for (size_t at = 0; at <= 200; at++) {
        struct prompt_warning w = {PROMPT_CHANGED, "rules", text, at, 1};
        prompt_warning_line(line, &w);
        ck_assert_msg(utf8_valid(line, strlen(line)), "at %zu: %s", at, line);
    }
}
END_TEST

START_TEST(an_order_is_told_from_a_change_by_how_often_bytes_stand) {
    static const struct {
        const char *was, *is;
        enum prompt_trouble want;
    } pairs[] = {
        {"",         "",         PROMPT_FINE    },
        {"ab",       "ab",       PROMPT_FINE    },
        {"ab",       "ba",       PROMPT_SHUFFLED},
        {"\xff\x01", "\x01\xff", PROMPT_SHUFFLED},
        {"aab",      "abb",      PROMPT_CHANGED },
        {"",         "a",        PROMPT_CHANGED },
        {"aa",       "a",        PROMPT_CHANGED },
    };
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        enum prompt_trouble got = prompt_trouble_of(pairs[i].was, pairs[i].is);
        ck_assert_msg(got == pairs[i].want, "%s, %s", pairs[i].was, pairs[i].is);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/prompt_warning");
    TCase *tc = tcase_create("reference");
    tcase_add_loop_test(tc, a_warning_shows_the_word_that_differs, 0,
                        (int)(sizeof(words) / sizeof(words[0])));
    tcase_add_test(tc, a_warning_tells_an_order_from_a_change);
    tcase_add_test(tc, a_word_is_cut_between_two_characters);
    tcase_add_test(tc, an_order_is_told_from_a_change_by_how_often_bytes_stand);
    suite_add_tcase(s, tc);
    return s;
}
