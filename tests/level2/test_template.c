// The language, a row for each of its parts, worked out by hand. jinja2 judges the same code on many more
// rows in tests/reference/templates.py.
#include "level2-operator/template/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/suite.h"
#include "tests/support/template_rig.h"

#define TALK                                                                               \
    "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"},"                            \
    " {\"role\": \"assistant\", \"content\": null}], \"n\": 3, \"u\": "                    \
    "\"\\u00e9\\ud83d\\ude42x\"}"

// clang-format off
static const struct {
    const char *source, *want;
} cases[] = {
    // values
    {"{{ 1 }}{{ 2.50 }}{{ true }}{{ none }}{{ 'x' }}", "12.5TrueNonex"},
    {"{{ [1, 'a', (2,), {'k': none}] }}", "[1, 'a', (2,), {'k': None}]"},
    {"{{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 1e-5 }}",
     "1e+16 1000000000000000.0 0.0001 1e-05"},
    {"{{ nothing }}|{{ nothing is defined }}", "|False"},
    {"{{ ['it\\'s', 'a\"b', '\\n\\x01'] }}", "[\"it's\", 'a\"b', '\\n\\x01']"},
    // operators, from the loosest on
    {"{{ 'y' if n > 2 else 'n' }}{{ 'z' if false }}", "y"},
    {"{{ '' or 'a' }}{{ 'b' and 'c' }}{{ not 1 in [2] }}", "acTrue"},
    {"{{ 1 < 2 < 3 }}{{ 1 == 1.0 }}{{ 3 not in [1] }}", "TrueTrueTrue"},
    {"{{ 1 + 2 * 3 - 4 }}{{ 2 ~ 1 * 2 }}", "322"},
    {"{{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }} {{ 2 ** 3 ** 2 }}", "-4 2 3.5 64"},
    {"{{ -2 ** 2 }}{{ 'a' * 3 }}{{ [1] + [2] }}", "4aaa[1, 2]"},
    {"{{ 1 if n is odd and n is not none }}", "1"},
    // fields and slices
    {"{{ messages[0].role }}{{ messages[-1]['role'] }}", "userassistant"},
    {"{{ messages[0].nothing }}{{ messages[9] }}{{ n.x }}", ""},
    {"{{ u[0] }}{{ u[-1] }}{{ u[:2] }}{{ u[::-1]|length }}",
     "\xc3\xa9x\xc3\xa9\xf0\x9f\x99\x82" "3"},
    {"{{ [1, 2, 3, 4][1:-1] }}{{ [1, 2, 3][::-2] }}", "[2, 3][3, 1]"},
    {"{{ {'items': 1}['items'] }}{{ {'a': 1}.items()|list }}", "1[('a', 1)]"},
    {"{{ {'a': 1}.get('b', 2) }}{{ {'a': 1}.get('b') }}", "2None"},
    // statements
    {"{% if n == 1 %}a{% elif n == 3 %}b{% else %}c{% endif %}", "b"},
    {"{% for x in [1, 2, 3] if x != 2 %}{{ loop.index }}{{ x }}{{ loop.last }} "
     "{% endfor %}", "11False 23True "},
    {"{% for x in [] %}{% else %}none{% endfor %}", "none"},
    {"{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}", "a1"},
    {"{% for x in range(9) %}{% if x == 1 %}{% continue %}{% endif %}{% if x == 3 %}"
     "{% break %}{% endif %}{{ x }}{% endfor %}", "02"},
    {"{% for x in 'abc' %}{{ loop.previtem }}{{ loop.nextitem }}{{ loop.revindex0 }}"
     "{% endfor %}", "b2ac1b0"},
    {"{% set x = 1 %}{% for y in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"},
    {"{% set ns = namespace(x=1) %}{% for y in [1] %}{% set ns.x = 2 %}{% endfor %}"
     "{{ ns.x }}", "2"},
    {"{% set a, b = 1, 2 %}{{ b }}{{ a }}{% set c %}<{{ a }}>{% endset %}{{ c }}", "21<1>"},
    {"{% macro m(x, y=x) %}{{ x }}{{ y }} {% endmacro %}{{ m(1) }}{{ m(1, y=2) }}{{ m() }}",
     "11 12  "},
    {"{% macro m(x) %}{{ x }}{{ m(x - 1) if x }}{% endmacro %}{{ m(3) }}", "3210"},
    {"{% macro m() %}<{{ caller(1) }}>{% endmacro %}{% call(x) m() %}{{ x + 1 }}"
     "{% endcall %}", "<2>"},
    {"{% macro m() %}{{ late }}{% endmacro %}{% set late = 1 %}{{ m() }}", "1"},
    {"{% with x = 1 %}{{ x }}{% endwith %}{{ x }}{% filter upper %}a{% endfilter %}", "1A"},
    {"{% generation %}{% set q = 1 %}{{ q }}{% endgeneration %}{{ q }}", "1"},
    // filters and tests
    {"{{ ' a '|trim }}{{ [3, 1]|sort|join('<') }}{{ 'aB'|upper|lower|title }}", "a1<3Ab"},
    {"{{ messages|map(attribute='role')|join(',') }}", "user,assistant"},
    {"{{ messages|selectattr('content')|list|length }}"
     "{{ messages|rejectattr('role', 'equalto', 'user')|list|length }}", "11"},
    {"{{ nothing|default('d') }}{{ ''|default('d', true) }}{{ none|default('d') }}",
     "ddNone"},
    {"{{ {'b': 1, 'a': 2}|dictsort }}{{ [1, 2, 2]|unique|list }}",
     "[('a', 2), ('b', 1)][1, 2]"},
    {"{{ '3'|int + 1 }}{{ 'x'|int }}{{ 2.5|round }}{{ [1, 2]|sum }}", "402.03"},
    {"{{ 2.675|round(2) }} {{ -1.005|round(2) }} {{ 1e300|round(1) }} {{ 0.1|round(400) }}",
     "2.67 -1.0 1e+300 0.1"},
    {"{{ \"it's a (dog's) mid-day\"|title }}{{ \"it's\".title() }}",
     "It's A (Dog's) Mid-DayIt'S"},
    {"{{ 'a\nb'|indent(2) }}{{ 'abc'|replace('b', '') }}", "a\n  bac"},
    {"{{ [1]|tojson(indent=20) }}", "[\n                    1\n]"},
    {"{{ n is number }}{{ messages is iterable }}{{ 'a' is mapping }}{{ n is in [3] }}",
     "TrueTrueFalseTrue"},
    // methods and functions
    {"{{ 'a,b'.split(',') }}{{ ' a  b '.split() }}{{ 'a-b-c'.rsplit('-', 1) }}",
     "['a', 'b']['a', 'b']['a-b', 'c']"},
    {"{{ ',ca,b'.rsplit(',', 1) }}{{ 'a,,b'.rsplit(',', 1) }}{{ ',,'.rsplit(',', 1) }}",
     "[',ca', 'b']['a,', 'b'][',', '']"},
    {"{{ 'aaa'.rsplit('aa') }}{{ 'a-b-c'.rsplit('-') }}{{ 'a-b'.rsplit('-', 0) }}",
     "['a', '']['a', 'b', 'c']['a-b']"},
    {"{{ 'a,b'.split(',', -9223372036854775807 - 1) }}"
     "{{ 'aa'|replace('a', 'b', -9223372036854775807 - 1) }}", "['a', 'b']bb"},
    {"{{ 'abc'.startswith('a') }}{{ 'abc'.endswith(('x', 'c')) }}{{ 'abcb'.find('b') }}"
     "{{ 'abcb'.rfind('b') }}{{ 'a'.rfind('ab') }}", "TrueTrue13-1"},
    {"{{ ' a '.strip() }}{{ 'xax'.lstrip('x') }}{{ 'xax'.rstrip('x') }}"
     "{{ 'a'.replace('a', 'b') }}", "aaxxab"},
    {"{{ range(1, 6, 2)|list }}{{ dict(a=1) }}{{ strftime_now('%d %b %Y') }}",
     "[1, 3, 5]{'a': 1}01 Jan 1970"},
};
// clang-format on

START_TEST(renders_as_worked_out_by_hand) {
    setenv("TZ", "UTC", 1); // for the date
    assert_renders(cases[_i].source, TALK, cases[_i].want);
}
END_TEST

static const struct {
    const char *source;
    enum status want;
    int line;
    const char *words;
} wrong[] = {
    {"a\n{{ raise_exception('no: ' ~ n) }}",        ERR_INPUT,       2, "no: 3"                 },
    {"{{ nothing.x }}",                             ERR_INPUT,       1, "'nothing' is undefined"},
    {"{{ nothing + 'x' }}",                         ERR_INPUT,       1, "'nothing' is undefined"},
    {"\n{{ 'a' +\n 1 }}",                           ERR_INPUT,       2, "str and int"           },
    {"{{ 'a' + messages[1].content }}",             ERR_INPUT,       1, "str and NoneType"      },
    {"{{ 1 / 0 }}",                                 ERR_INPUT,       1, "division by zero"      },
    {"{{ 1 < 'a' }}",                               ERR_INPUT,       1, "int and str"           },
    {"{% for x in 3 %}{% endfor %}",                ERR_INPUT,       1, "int"                   },
    {"{% for a, b in [[1]] %}{% endfor %}",         ERR_INPUT,       1, "1 values for 2 names"  },
    {"{{ [1].append(2) }}",                         ERR_INPUT,       1, "'append' is undefined" },
    {"{% macro m(x) %}{% endmacro %}{{ m(1, 2) }}", ERR_INPUT,       1, "'m'"                   },
    {"{% set x = 1 %}{% set x.y = 2 %}",            ERR_INPUT,       1, "setting a field"       },
    {"{{ 'a'|trim(1, 2) }}",                        ERR_INPUT,       1, "too many arguments"    },
    {"{{ 'a'|indent(wide=2) }}",                    ERR_INPUT,       1, "'wide'"                },
    {"{{ 1|nosuch }}",                              ERR_UNSUPPORTED, 1, "no filter 'nosuch'"    },
    {"{{ 1 is nosuch }}",                           ERR_UNSUPPORTED, 1, "no test 'nosuch'"      },
    {"{% include 'x' %}",                           ERR_UNSUPPORTED, 1, "not supported"         },
    {"{{ 9223372036854775807 + 1 }}",               ERR_UNSUPPORTED, 1, "64 bits"               },
    {"{% break %}",                                 ERR_FORMAT,      1, "outside of a loop"     },
    {"{% if 1 %}\n\nx",                             ERR_FORMAT,      3, "without its end"       },
    {"{{ 1 2 }}",                                   ERR_FORMAT,      1, "expected }}, at '2'"   },
    {"{{ (1 }}",                                    ERR_FORMAT,      1, "expected"              },
    {"{{ }}",                                       ERR_FORMAT,      1, "expected an expression"},
    {"{% endfor %}",                                ERR_UNSUPPORTED, 1, "at 'endfor'"           },
    {"{{ '\\ud800' }}",                             ERR_FORMAT,      1, "wrong escape"          },
    {"\xff",                                        ERR_FORMAT,      1, "not UTF-8"             },
};

START_TEST(refuses_and_says_where) {
    assert_not_rendered(wrong[_i].source, TALK, wrong[_i].want, wrong[_i].line,
                        wrong[_i].words);
}
END_TEST

// ---- limits -------------------------------------------------------------------------------------

// A text so long that looking at it once costs more than a step.
#define BLANK "{% set s = ' ' * 1000000 %}"
#define LONG  "{% set s = 'a' * 1000000 %}{% set d = {s: 1} %}"

// clang-format off
static const struct {
    const char *source, *words;
} hungry[] = {
    {"{% set r = range(9999) %}{% for a in r %}{% for b in r %}{% endfor %}{% endfor %}",
     "steps"},
    {"{% for a in range(99999999) %}{% endfor %}", "steps"},
    {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "nested deeper than"},
    {"{% set ns = namespace(x=[]) %}{% for i in range(999) %}{% set ns.x = [ns.x] %}"
     "{% endfor %}{{ ns.x }}", "nested deeper than"},
    {"{% set ns = namespace(x=[1]) %}{% for i in range(60) %}"
     "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x == ns.x|list }}", "steps"},
    {"{% set ns = namespace(x='aaaaaaaaaaaaaaaa') %}{% for i in range(60) %}"
     "{% set ns.x = ns.x + ns.x %}{% endfor %}", "than"},
    {"{{ 'a' * 99999999999 }}", "than"},
    {"{{ [1] * 99999999999 }}", "than"},
    {"{% set s = 'a' * 1000000 %}{{ (s[:500000] + 'b') in s }}", "steps"},
    {"{% set s = 'a' * 1000000 %}{{ s.rfind(s[:500000] + 'b') }}", "steps"},
    {"{% set s = 'a' * 1000000 %}{{ s.strip('b' * 1000 + 'a') }}", "steps"},
    {LONG "{% for i in range(999999) %}{% if s.startswith(s) %}{% endif %}{% endfor %}",
     "steps"},
    {"{% set l = range(100000) %}{% for i in range(100) %}{% set x = l == l %}{% endfor %}",
     "steps"},
    {"{% set l = range(100000) %}{% for i in range(100) %}{% set x = l < l %}{% endfor %}",
     "steps"},
    {"{% set l = range(100000) %}{% for i in range(100) %}{% set x = l|max %}{% endfor %}",
     "steps"},
    {"{% set l = range(100000) %}{% for i in range(100) %}{% set x = l|sum %}{% endfor %}",
     "steps"},
    {BLANK "{% for i in range(10) %}{% set x = s.find(' x') %}{% endfor %}", "steps"},
    {BLANK "{% for i in range(10) %}{% set x = s.rfind(' x') %}{% endfor %}", "steps"},
    {BLANK "{% for i in range(1000) %}{% set x = s.startswith(s) %}{% endfor %}", "steps"},
    {BLANK "{% for i in range(1000) %}{% set x = s.endswith((s, 'x')) %}{% endfor %}",
     "steps"},
    {LONG "{% for i in range(999999) %}{% set t = s.removesuffix(s) %}{% endfor %}", "steps"},
    {LONG "{% for i in range(999999) %}{% if d[s] %}{% endif %}{% endfor %}", "steps"},
    {LONG "{{ range(300000)|map(attribute=s)|list }}", "steps"},
    {"{% set ns = namespace() %}{% set ns.a = ns %}{% set s = 'a.' * 1000000 + 'a' %}"
     "{% for i in range(999999) %}{% set x = [ns]|map(attribute=s)|list %}{% endfor %}",
     "steps"},
    {"{% set s = ' ' * 1000000 %}{% for i in range(999999) %}{% set n = s|int %}{% endfor %}",
     "steps"},
    {"{{ 2 ** 2 ** 62 }}", "64 bits"},
    {"{{ [1]|tojson(indent=9223372036854775807) }}", "steps"},
    {"{{ ' ' * 1000000|int }}{% for i in range(100) %}{{ 'x' * 1000000 }}{% endfor %}",
     "than"},
};
// clang-format on

START_TEST(no_template_takes_all) {
    struct rendering r;
    rendering_make(&r, hungry[_i].source, NULL, -1);
    ck_assert_msg(r.st == ERR_LIMIT || r.st == ERR_UNSUPPORTED, "%s: %s", hungry[_i].source,
                  status_name(r.st));
    ck_assert_msg(strstr(r.err.text, hungry[_i].words), "%s: %s", hungry[_i].source,
                  r.err.text);
    ck_assert_uint_le(r.arena.used, RENDERING_BYTES);
    rendering_free(&r);
}
END_TEST

// n times one letter, then what stands in the middle, then n times another.
static char *nested(const char *before, const char *middle, const char *after, int n) {
    size_t n_before = strlen(before), n_after = strlen(after), n_middle = strlen(middle);
    char *all = malloc((n_before + n_after) * (size_t)n + n_middle + 1), *at = all;
    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < n; i++, at += n_before) memcpy(at, before, n_before);
    memcpy(at, middle, n_middle);
    at += n_middle;
    for (int i = 0; i < n; i++, at += n_after) memcpy(at, after, n_after);
    *at = '\0';
    return all;
}

static const struct {
    const char *before, *middle, *after;
} deep[] = {
    {"(",            "1",   ")"      },
    {"[",            "1",   "]"      },
    {"{1:",          "1",   "}"      },
    {"-",            "1",   ""       },
    {"not ",         "1",   ""       },
    {"x[",           "1",   "]"      },
    {"f(",           "1",   ")"      },
    {"1 if ",        "1",   ""       },
    {"1 if 1 else ", "1",   ""       },
    {"",             "1",   " + 1"   },
    {"",             "'a'", "|trim"  },
    {"",             "x",   ".a"     },
    {"",             "x",   "()"     },
    {"",             "1",   " is odd"},
};

// Deep templates are refused in good time, wherever the depth lies.
START_TEST(depth_is_no_way_to_break_the_stack) {
    char *inside = nested(deep[_i].before, deep[_i].middle, deep[_i].after, 20000);
    size_t n = strlen(inside) + 8;
    char *source = malloc(n);
    struct rendering r;
    ck_assert_ptr_nonnull(source);
    snprintf(source, n, "{{ %s }}", inside);
    rendering_make(&r, source, NULL, -1);
    ck_assert_int_ne(r.st, OK);
    rendering_free(&r);
    free(source);
    free(inside);
}
END_TEST

START_TEST(blocks_and_targets_have_a_depth_too) {
    static const char *const blocks[][2] = {
        {"{% if 1 %}",             "{% endif %}"   },
        {"{% for x in y %}",       "{% endfor %}"  },
        {"{% macro m() %}",        "{% endmacro %}"},
        {"{% if 1 %}{% elif 1 %}", "{% endif %}"   },
    };
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        char *source = nested(blocks[i][0], "x", blocks[i][1], 5000);
        assert_not_rendered(source, NULL, ERR_LIMIT, 1, "nested too deep");
        free(source);
    }
    char *target = nested("(", "a", ")", 5000), source[16000];
    snprintf(source, sizeof(source), "{%% set %s = 1 %%}", target);
    assert_not_rendered(source, NULL, ERR_LIMIT, 1, "nested too deep");
    free(target);
}
END_TEST

START_TEST(a_template_is_not_too_long) {
    char *source = nested("", "", "x", LIMIT_TEMPLATE_BYTES + 1);
    assert_not_rendered(source, NULL, ERR_LIMIT, 1, "longer than");
    source[LIMIT_TEMPLATE_BYTES] = '\0';
    assert_renders(source, NULL, source);
    free(source);
}
END_TEST

// Names are found by looking at one after the other, which counts as work.
START_TEST(many_names_are_too_many_steps) {
    enum { N_NAMES = 16384, NAME_BYTES = 24 };
    char *source = calloc(N_NAMES, NAME_BYTES), *at = source;
    ck_assert_ptr_nonnull(source);
    for (int i = 0; i < N_NAMES; i++)
        at += snprintf(at, NAME_BYTES, "{%% set n%d = 1 %%}", i);
    assert_not_rendered(source, NULL, ERR_LIMIT, 1, "steps");
    free(source);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

static const char busy[] =
    "{% set ns = namespace(n=0) %}{% macro m(x, y='d') %}{{ x|upper ~ y }}{% endmacro %}"
    "{% for m2 in messages|selectattr('role')|list if m2.role in ['user'] %}"
    "{% set ns.n = ns.n + 1 %}{{ m(m2.role) }}{{ m2|tojson(indent=1) }}{{ "
    "'a,b'.split(',')[1:] }}"
    "{% endfor %}{% set b %}{{ ns.n }}{% endset %}{{ b }}{{ [3, 1]|sort }}{{ {'a': "
    "u[::-1]} }}";

START_TEST(says_so_when_memory_is_short) {
    enum status st = ERR_MEMORY;
    long n = 0;
    for (; st != OK; n++) {
        struct rendering r;
        rendering_make(&r, busy, TALK, n);
        st = r.st;
        ck_assert_msg(st == OK || (st == ERR_MEMORY && r.err.text[0]), "after %ld: %s %s",
                      n, status_name(st), r.err.text);
        rendering_free(&r);
    }
    ck_assert_int_gt(n, 3);
}
END_TEST

START_TEST(no_beginning_of_a_template_breaks_it) {
    char source[sizeof(busy)];
    for (size_t n = 0; n < sizeof(busy); n++) {
        struct rendering r;
        memcpy(source, busy, n);
        source[n] = '\0';
        rendering_make(&r, source, TALK, -1);
        ck_assert(r.st == OK || r.err.text[0]);
        rendering_free(&r);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/template");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, renders_as_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_set_timeout(edges, 60); // all steps, under a sanitizer, on a busy machine
    tcase_add_loop_test(edges, no_template_takes_all, 0,
                        sizeof(hungry) / sizeof(hungry[0]));
    tcase_add_loop_test(edges, depth_is_no_way_to_break_the_stack, 0,
                        sizeof(deep) / sizeof(deep[0]));
    tcase_add_test(edges, blocks_and_targets_have_a_depth_too);
    tcase_add_test(edges, a_template_is_not_too_long);
    tcase_add_test(edges, many_names_are_too_many_steps);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, refuses_and_says_where, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(failures, says_so_when_memory_is_short);
    tcase_add_test(failures, no_beginning_of_a_template_breaks_it);
    suite_add_tcase(s, failures);
    return s;
}
