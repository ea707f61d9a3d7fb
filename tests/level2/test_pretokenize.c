// How text is cut into words. Rows worked out from the expression by hand; the `tokenizers` package
// judges the same scanner in tests/reference/tokenizer.py.
#include "level2-operator/tokenizer/pretokenize.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

// words: the text with a '|' between words; no text here holds a '|' of its own.
static const struct {
    const char *name, *words;
} cases[] = {
    {"a space joins the word behind it",          "Hello| world"                                          },
    {"of two spaces the last joins",              "a| | b"                                                },
    {"of many spaces the last joins",             "a|   | b"                                              },
    {"a tab never joins",                         "a|\t|b"                                                },
    {"a line end never joins",                    "a|\n|b"                                                },
    {"only the last of mixed space stands alone", "a| \n|\t|b"                                            },
    {"spaces at the end stay together",           "a|   "                                                 },
    {"line end and indent",                       "{|\n   | return"                                       },
    {"CRLF is two characters of space",           "a|\r|\n|b"                                             },
    {"three line ends",                           "a|\n\n|\n|b"                                           },
    {"nothing but space",                         " \n\t "                                                },
    {"a no-break space never joins",              "a|\xc2\xa0|b"                                          },
    {"an ideographic space is space",             "a|\xe3\x80\x80| b"                                     },
    {"a zero-width space is none",                "a|\xe2\x80\x8b|b"                                      },
    {"digits one by one",                         "1|2|3"                                                 },
    {"digits inside a word",                      "a|1|b"                                                 },
    {"a digit takes no space",                    "a| |1"                                                 },
    {"a digit is the end for spaces",             "a|  |1|  | b"                                          },
    {"a line end before a digit",                 "a| \n |1"                                              },
    {"numbers that are no digits",                "\xc2\xbd|\xe2\x85\xa7|\xc2\xb2|\xd9\xa3"               },
    {"a fraction after a word",                   " months| |\xc2\xbd"                                    },
    {"contractions",                              "don|'t| you|'ll| we|'ve| I|'m| they|'re| she|'d| it|'s"},
    {"contractions only in small letters",        "DON|'|T"                                               },
    {"a contraction at the start",                "'s|x"                                                  },
    {"a space is no part of a contraction",       "a| '|s"                                                },
    {"the shortest ending is taken",              "'t|is"                                                 },
    {"no contraction after another sign",         "''|s"                                                  },
    {"a contraction before a digit",              "'s|1"                                                  },
    {"an apostrophe alone",                       "a|'"                                                   },
    {"signs stay together",                       "a|!?!|b"                                               },
    {"signs take a space",                        "a| =>| b"                                              },
    {"letters of any script stay together",
     "\xe4\xbd\xa0\xe5\xa5\xbd|\xef\xbc\x8c|\xe4\xb8\x96"                                                 },
    {"a combining mark is no letter",             "e|\xcc\x81|a"                                          },
    {"emoji are signs",                           " \xf0\x9f\x99\x82\xf0\x9f\x99\x82|a"                   },
    {"an underscore is a sign",                   "a|_|b"                                                 },
    {"control bytes are signs",                   "a|\x01\x1f|b"                                          },
    {"broken bytes are signs",                    "a|\xe2\x80|b|\xff"                                     },
    {"a cut character at the end",                "a|\xf0\x9f\x99"                                        },
    {"a surrogate is broken",                     "a|\xed\xa0\x80|b"                                      },
    {"one letter",                                "a"                                                     },
    {"one space",                                 " "                                                     },
};

static void check_words(const char *name, enum pretokenizer pre, const char *words) {
    char text[128], got[256] = "";
    size_t n_text = 0, n_got = 0;
    for (const char *c = words; *c; c++)
        if (*c != '|') text[n_text++] = *c;

    for (size_t pos = 0, n; pos < n_text; pos += n) {
        n = pretokenize_next(pre, text + pos, n_text - pos);
        ck_assert(n >= 1 && n <= n_text - pos);
        if (pos > 0) got[n_got++] = '|';
        memcpy(got + n_got, text + pos, n);
        n_got += n;
    }
    ck_assert_msg(strcmp(got, words) == 0, "%s: got %s, want %s", name, got, words);
}

START_TEST(cuts_as_worked_out_by_hand) {
    check_words(cases[_i].name, PRE_SMOLLM, cases[_i].words);
}
END_TEST

// The places where the other families differ.
static const struct {
    const char *name;
    enum pretokenizer pre;
    const char *words;
} families[] = {
    {"gpt-2: digits stay together",             PRE_GPT2,    "a| 123|b"                  },
    {"gpt-2: a space before a number joins",    PRE_GPT2,    "x| | 1"                    },
    {"llama: three digits at most",             PRE_LLAMA3,  "a| |123|456|7"             },
    {"llama: any sign joins a word",            PRE_LLAMA3,  "(a|)| \"|b"                },
    {"llama: a tab joins a word",               PRE_LLAMA3,  "x|\t|\ty"                  },
    {"llama: a line end joins no word",         PRE_LLAMA3,  "x|\n|y"                    },
    {"llama: line ends stay with signs",        PRE_LLAMA3,  "x|:\r\n\n|y"               },
    {"llama: space up to the last line end",    PRE_LLAMA3,  "x| \n \n|  |\ty"           },
    {"llama: contractions in any case",         PRE_LLAMA3,  "DON|'T|'re|'Ve|n|'\xc5\xbf"},
    {"llama: a longer ending is not there",     PRE_LLAMA3,  "a|'l|'r"                   },
    {"llama: spaces before a number",           PRE_LLAMA3,  "a| | |12"                  },
    {"llama: spaces at the end",                PRE_LLAMA3,  "a|   "                     },
    {"llama: a space takes signs",              PRE_LLAMA3,  "a| ->\n|b"                 },
    {"qwen: digits one by one",                 PRE_QWEN2,   "a| |1|2|3"                 },
    {"qwen: signs with line end",               PRE_QWEN2,   "(x|):\n"                   },
    {"default: signs by themselves",            PRE_DEFAULT, "a|.|b| |!?| c"             },
    {"default: no contractions",                PRE_DEFAULT, "don|'|t"                   },
    {"default: a back quote is no sign",        PRE_DEFAULT, "a|`|.|`| `"                },
    {"default: digits by threes from the left", PRE_DEFAULT, "a| |123|456|7"             },
    {"default: other numbers end a three",      PRE_DEFAULT, "12\xc2\xbd|345|6\xc2\xbd"  },
    {"default: a sign is the end for spaces",   PRE_DEFAULT, "a|  |.|  | b"              },
};

START_TEST(cuts_each_family_in_its_way) {
    check_words(families[_i].name, families[_i].pre, families[_i].words);
}
END_TEST

START_TEST(knows_its_names_and_no_others) {
    enum pretokenizer pre = PRE_COUNT;
    ck_assert(pretokenizer_find("smollm", 6, &pre));
    ck_assert_int_eq(pre, PRE_SMOLLM);
    ck_assert(pretokenizer_find("llama-bpe", 9, &pre));
    ck_assert_int_eq(pre, PRE_LLAMA3);
    ck_assert(pretokenizer_find("qwen2", 5, &pre));
    ck_assert_int_eq(pre, PRE_QWEN2);
    ck_assert(pretokenizer_find("gpt-2", 5, &pre));
    ck_assert_int_eq(pre, PRE_GPT2);
    ck_assert(pretokenizer_find("default", 7, &pre));
    ck_assert_int_eq(pre, PRE_DEFAULT);
    ck_assert(!pretokenizer_find("nosuch", 6, &pre));
    ck_assert(!pretokenizer_find("smoll", 5, &pre));
    ck_assert(!pretokenizer_find("smollm2", 7, &pre));
    ck_assert(!pretokenizer_find("", 0, &pre));
}
END_TEST

// --- the expression itself, for ASCII ------------------------------------------------------------

typedef size_t alternative(const char *text, size_t n);

static bool is_other(char c) {
    return !isspace((unsigned char)c) && !isalnum((unsigned char)c);
}

static size_t match_contraction(const char *text, size_t n) {
    if (n < 2 || text[0] != '\'') return 0;
    if (strchr("stmd", text[1])) return 2;
    bool is_long = n >= 3 && (!memcmp(text, "'re", 3) || !memcmp(text, "'ve", 3) ||
                              !memcmp(text, "'ll", 3));
    return is_long ? 3 : 0;
}

static size_t match_letters(const char *text, size_t n) { // ` ?\p{L}+`
    size_t i = text[0] == ' ', start = i;
    while (i < n && isalpha((unsigned char)text[i])) i++;
    return i > start ? i : 0;
}

static size_t match_others(const char *text, size_t n) { // ` ?[^\s\p{L}\p{N}]+`
    size_t i = text[0] == ' ', start = i;
    while (i < n && is_other(text[i])) i++;
    return i > start ? i : 0;
}

static size_t match_space_before_space(const char *text,
                                       size_t n) { // `\s+(?!\S)`, backtracking
    size_t i = 0;
    while (i < n && isspace((unsigned char)text[i])) i++;
    while (i > 0 && i < n && !isspace((unsigned char)text[i])) i--;
    return i;
}

static size_t match_space(const char *text, size_t n) { // `\s+`
    size_t i = 0;
    while (i < n && isspace((unsigned char)text[i])) i++;
    return i;
}

// The text up to the next digit, then the first alternative that matches.
static size_t next_by_expression(const char *text, size_t n) {
    static alternative *const alternatives[] = {match_contraction, match_letters,
                                                match_others, match_space_before_space,
                                                match_space};
    if (isdigit((unsigned char)text[0])) return 1;
    size_t n_piece = 0;
    while (n_piece < n && !isdigit((unsigned char)text[n_piece])) n_piece++;
    for (size_t i = 0; i < sizeof(alternatives) / sizeof(*alternatives); i++) {
        size_t n_word = alternatives[i](text, n_piece);
        if (n_word > 0) return n_word;
    }
    return 0;
}

START_TEST(cuts_ascii_as_the_expression_does) {
    static const char letters[] = "  \n\tabstrevldm''''!-15";
    struct draw d = draw_start("pretokenize");

    for (int round = 0; round < 20000; round++) {
        char text[33];
        size_t n = (size_t)draw_int(&d, 1, 33);
        for (size_t i = 0; i < n; i++)
            text[i] = letters[draw_int(&d, 0, (int)sizeof(letters) - 2)];
        for (size_t pos = 0, got; pos < n; pos += got) {
            got = pretokenize_next(PRE_SMOLLM, text + pos, n - pos);
            ck_assert_msg(got == next_by_expression(text + pos, n - pos),
                          "round %d: wrong word of %zu bytes at %zu of '%.*s'", round, got,
                          pos, (int)n, text);
        }
    }
}
END_TEST

// Any bytes: words cover the text, none is empty, and nothing behind the end is read.
START_TEST(takes_any_bytes) {
    struct draw d = draw_start("bytes");

    for (int round = 0; round < 5000; round++) {
        size_t n = (size_t)draw_int(&d, 1, 40);
        char *text = malloc(n); // exactly, so that ASan sees a read too far
        for (size_t i = 0; i < n; i++) text[i] = (char)draw_int(&d, 0, 255);
        for (size_t pos = 0, n_word; pos < n; pos += n_word) {
            n_word = pretokenize_next((enum pretokenizer)(round % PRE_COUNT), text + pos,
                                      n - pos);
            ck_assert_uint_ge(n_word, 1);
            ck_assert_uint_le(n_word, n - pos);
        }
        free(text);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/pretokenize");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, cuts_each_family_in_its_way, 0, ROWS(families));
    tcase_add_loop_test(reference, cuts_as_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, knows_its_names_and_no_others);
    suite_add_tcase(s, edges);
    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 60);
    tcase_add_test(property, cuts_ascii_as_the_expression_does);
    tcase_add_test(property, takes_any_bytes);
    suite_add_tcase(s, property);
    return s;
}
