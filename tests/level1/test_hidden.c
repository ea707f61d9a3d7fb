// Keys in the words of a stranger.
#include "level1-user/hidden.h"

#include <stdio.h>

#include "tests/support/suite.h"

static const struct {
    const char *name, *text, *secret, *want;
} cases[] = {
    {"in the middle",      "bad key sk-0123456789, sorry", "sk-0123456789",
     "bad key *************, sorry"                                                           },
    {"twice",              "abcabc",                       "abc",           "******"          },
    {"cut at the end",     "bad key sk-01234",             "sk-0123456789", "bad key ********"},
    {"cut, and then more", "bad key sk-01234; check it",   "sk-0123456789",
     "bad key ********; check it"                                                             },
    {"too little of it",   "keys begin with sk-0123",      "sk-0123456789",
     "keys begin with sk-0123"                                                                },
    {"behind its start",   "sk-sk-0123456789",             "sk-0123456789", "sk-*************"},
    {"a short one",        "the key is k1",                "k1",            "the key is **"   },
    {"nothing to hide",    "as it is",                     "",              "as it is"        },
    {"no secret",          "as it is",                     NULL,            "as it is"        },
    {"no text",            "",                             "sk-0123456789", ""                },
};

START_TEST(a_secret_and_its_beginning_are_hidden) {
    char text[64];
    snprintf(text, sizeof(text), "%s", cases[_i].text);
    hide_secret(text, cases[_i].secret);
    assert_text(cases[_i].name, text, cases[_i].want);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/hidden");
    TCase *tc = tcase_create("reference");
    tcase_add_loop_test(tc, a_secret_and_its_beginning_are_hidden, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, tc);
    return s;
}
