// Where tags begin and end, and the white space around them, worked out by hand.
#include "level2-operator/template/template_lexer.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/template_rig.h"

// All lexemes as one line: T[text] {{ }} {% %} n:name s:string i:1 r:1.5 and signs as they are.
static enum status list_lexemes(char *out, size_t capacity, const char *source,
                                struct error *err) {
    static const char *const names[] = {"T[", "{{", "}}", "{%", "%}",
                                        "n:", "s:", "i:", "r:", ""};
    struct lexer l;
    struct lexeme t;
    size_t n = 0;

    lexer_init(&l, source, strlen(source));
    out[0] = '\0';
    for (;;) {
        enum status st = lexer_next(&l, &t, err);
        if (st || t.type == LEXEME_FILE_END) return st;
        if (t.type == LEXEME_TEXT && t.n_bytes == 0) continue;
        bool has_bytes = t.type == LEXEME_TEXT || t.type >= LEXEME_NAME;
        n += (size_t)snprintf(out + n, capacity - n, "%s%s%.*s%s", n ? " " : "",
                              names[t.type], has_bytes ? (int)t.n_bytes : 0, t.bytes,
                              t.type == LEXEME_TEXT ? "]" : "");
        ck_assert_uint_lt(n, capacity);
    }
}

static const struct {
    const char *source, *want;
} cases[] = {
    {"",                                    ""                                     },
    {"a\nb",                                "T[a\nb]"                              },
    {"a{{ x }}b",                           "T[a] {{ n:x }} T[b]"                  },
    {"a {{- x -}} b",                       "T[a] {{ n:x }} T[b]"                  },
    {"{{ x }}\nb",                          "{{ n:x }} T[\nb]"                     },
    {"{% x %}\nb",                          "{% n:x %} T[b]"                       },
    {"{% x +%}\nb",                         "{% n:x %} T[\nb]"                     },
    {"{% x %}\n\nb",                        "{% n:x %} T[\nb]"                     },
    {"{% x -%}\n\n b",                      "{% n:x %} T[b]"                       },
    {"a\n  {% x %}",                        "T[a\n] {% n:x %}"                     },
    {"  {% x %}",                           "{% n:x %}"                            },
    {"  {%+ x %}",                          "T[  ] {% n:x %}"                      },
    {"a  {% x %}",                          "T[a  ] {% n:x %}"                     },
    {"a  {%- x %}",                         "T[a] {% n:x %}"                       },
    {"  {{ x }}",                           "T[  ] {{ n:x }}"                      },
    {"{{ x }}  {% y %}",                    "{{ n:x }} T[  ] {% n:y %}"            },
    {"{% x %}\n  {% y %}",                  "{% n:x %} {% n:y %}"                  },
    {"a {# {{ x }} #}\nb",                  "T[a ] T[b]"                           },
    {"a\n {#- c -#} \n b",                  "T[a] T[b]"                            },
    {"{##}x{#-#}",                          "T[x]"                                 },
    {"{% raw %}{{ x }}{% y %}{% endraw %}", "T[{{ x }}{% y %}]"                    },
    {"{%- raw -%} a {%- endraw -%} b",      "T[a] T[b]"                            },
    {"{{ {'a': {}} }}",                     "{{ { s:a : { } } }}"                  },
    {"{{ '}}' }}{{ \"{{\" }}",              "{{ s:}} }} {{ s:{{ }}"                },
    {"{{ 'it\\'s' }}",                      "{{ s:it\\'s }}"                       },
    {"{{ 1 + 2.5*3e2 }}",                   "{{ i:1 + r:2.5 * r:3e2 }}"            },
    {"{{ x.1.y }}",                         "{{ n:x . i:1 . n:y }}"                },
    {"{{ a//b**c<=d!=e }}",                 "{{ n:a // n:b ** n:c <= n:d != n:e }}"},
    {"{{-1}}{{ -1 }}",                      "{{ i:1 }} {{ - i:1 }}"                },
    {"{ { } } {",                           "T[{ { } } {]"                         },
};

START_TEST(reads_lexemes_as_worked_out_by_hand) {
    char got[256];
    struct error err;
    enum status st = list_lexemes(got, sizeof(got), cases[_i].source, &err);
    ck_assert_msg(st == OK, "%s: %s", cases[_i].source, err.text);
    assert_text(cases[_i].source, got, cases[_i].want);
}
END_TEST

static const struct {
    const char *source;
    int line;
    const char *words;
} wrong[] = {
    {"a\n{{ x",                    2, "tag without an end"    },
    {"\n\n{# x",                   3, "comment without an end"},
    {"\n{% raw %}x",               2, "raw without endraw"    },
    {"{{\n'x }}",                  2, "string without an end" },
    {"{{ 'x\\",                    1, "string without an end" },
    {"{{ $ }}",                    1, "unexpected '$'"        },
    {"{{ ) }}",                    1, "unexpected ')'"        },
    {"{{ 99999999999999999999 }}", 1, "too large"             },
};

START_TEST(refuses_what_is_no_lexeme_at_its_line) {
    char got[256], place[16];
    struct error err = {0};
    enum status st = list_lexemes(got, sizeof(got), wrong[_i].source, &err);
    snprintf(place, sizeof(place), "line %d:", wrong[_i].line);
    ck_assert_int_eq(st, ERR_FORMAT);
    ck_assert_msg(strstr(err.text, wrong[_i].words) && strstr(err.text, place), "%s: %s",
                  wrong[_i].source, err.text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/template_lexer");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, reads_lexemes_as_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, refuses_what_is_no_lexeme_at_its_line, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    suite_add_tcase(s, failures);
    return s;
}
