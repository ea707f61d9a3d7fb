// What looks like a date, a time or an id, and what does not.
#include "level1-user/volatile_word.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

#define RULES " You answer the questions of a shop's customers. Be brief."

static const struct {
    const char *text, *word;
} found[] = {
    {"Today is 2026-11-30." RULES,                              "2026-11-30."             },
    {"2026-11-30T10:05:33.123Z" RULES,                          "2026-11-30T10:05:33.123Z"},
    {"30.11.2026" RULES,                                        "30.11.2026"              },
    {"On 11/30/2026:" RULES,                                    "11/30/2026:"             },
    {"It is 10:05" RULES,                                       "10:05"                   },
    {"(10:05:33)" RULES,                                        "10:05:33)"               },
    {"id=3f2b8c1e-9a4d-4e6f-8b7a-0123456789AB\n" RULES,
     "3f2b8c1e-9a4d-4e6f-8b7a-0123456789AB"                                               },
    {"2026-11-30xxxxxxxxxxxxxxxxxxxxxxxxxxxxx\xc3\xa9yy" RULES,
     "2026-11-30xxxxxxxxxxxxxxxxxxxxxxxxxxxxx"                                            },
};

START_TEST(the_first_volatile_word_is_found) {
    struct volatile_word w = {0};
    char word[80];
    const char *text = found[_i].text;
    ck_assert_msg(volatile_word_find(&w, text), "volatile_word_find(\"%s\")", text);
    snprintf(word, sizeof(word), "%.*s", (int)w.n_bytes, text + w.at);
    assert_text(text, word, found[_i].word);
    assert_number(text, (int64_t)(w.at + w.n_bytes + w.n_behind), (int64_t)strlen(text));
}
END_TEST

static const char *const stable[] = {
    "",
    "1",
    "You answer the questions of a shop's customers.",
    "Version 1.2.3 of 10.0.0.1:8080, model gpt-4-2024, order 12345-6789." RULES,
    "10:055 20:1 2026-1-30 x10:05 110:05" RULES,
    "3f2b8c1e-9a4d-4e6f-8b7a" RULES,
    "Be brief. It is 10:05", // nothing behind it that could be lost
    "10:05",
};

START_TEST(what_stays_the_same_is_not_named) {
    struct volatile_word w = {.at = 77};
    ck_assert_msg(!volatile_word_find(&w, stable[_i]), "volatile_word_find(\"%s\")",
                  stable[_i]);
    assert_number("w.at, untouched", (int64_t)w.at, 77);
}
END_TEST

START_TEST(any_bytes_are_safe) {
    struct draw d = draw_start("any_bytes_are_safe");
    static const char letters[] = "0123456789abcdef-:./ \n\xff\xc3";
    for (int round = 0; round < 2000; round++) {
        size_t n = (size_t)draw_int(&d, 0, 60);
        char text[61];
        struct volatile_word w;
        for (size_t i = 0; i < n; i++)
            text[i] = letters[draw_int(&d, 0, sizeof(letters) - 2)];
        text[n] = '\0';
        if (volatile_word_find(&w, text))
            ck_assert_uint_eq(w.at + w.n_bytes + w.n_behind, n);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/volatile_word");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, the_first_volatile_word_is_found, 0,
                        sizeof(found) / sizeof(found[0]));
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_loop_test(edges, what_stays_the_same_is_not_named, 0,
                        sizeof(stable) / sizeof(stable[0]));
    suite_add_tcase(s, edges);
    TCase *property = tcase_create("property");
    tcase_add_test(property, any_bytes_are_safe);
    suite_add_tcase(s, property);
    return s;
}
