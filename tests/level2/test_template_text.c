// Texts that know who wrote each byte.
#include "level2-operator/template/template_text.h"

#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/template_rig.h"

static void assert_text_is(const char *what, struct text got, const char *want) {
    ck_assert_msg(text_is(got, want), "%s: got \"%.*s\", want \"%s\"", what,
                  (int)got.n_bytes, got.bytes, want);
}

START_TEST(a_slice_keeps_its_marks) {
    static const unsigned char own[] = {1, 0, 0, 1};
    struct text t = {.bytes = "abcd", .n_bytes = 4, .own = own};
    struct text middle = text_slice(t, 1, 4);
    assert_text_is("slice", middle, "bcd");
    ck_assert_int_eq(middle.own[0], 0);
    ck_assert_int_eq(middle.own[2], 1);
    ck_assert_uint_eq(text_slice(t, 3, 3).n_bytes, 0);
    ck_assert_uint_eq(text_slice(t, 3, 1).n_bytes, 0);
}
END_TEST

START_TEST(finds_a_text_in_a_text) {
    struct text t = text_own("abcabc"), abc = text_own("abc"), none = text_own("");
    ck_assert_uint_eq(text_find(t, abc, 0), 0);
    ck_assert_uint_eq(text_find(t, abc, 1), 3);
    ck_assert(text_find(t, abc, 4) == SIZE_MAX);
    ck_assert(text_find(t, text_own("abcabcd"), 0) == SIZE_MAX);
    ck_assert_uint_eq(text_find(t, none, 6), 6);
    ck_assert(text_find(t, none, 7) == SIZE_MAX);
    ck_assert_uint_eq(text_candidate(t, text_own("ax"), 1), 3);
    ck_assert(text_candidate(t, text_own("ax"), 5) == SIZE_MAX);
}
END_TEST

// Two bytes, three bytes, four bytes: one character each.
START_TEST(counts_characters_and_not_bytes) {
    struct text t = text_own("a\xc3\xa9\xe4\xbd\xa0\xf0\x9f\x99\x82z");
    static const size_t begins[] = {0, 1, 3, 6, 10, 11, 11};
    ck_assert_uint_eq(text_length(t), 5);
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
        ck_assert_uint_eq(text_offset(t, i), begins[i]);
}
END_TEST

START_TEST(strips_what_python_strips) {
    struct text t = text_own("\xc2\xa0 \t\x1c"
                             "a b\xe3\x80\x80\n"),
                chars = text_own("ab\xc3\xa9");
    assert_text_is("both", text_strip(t, NULL, TEXT_BOTH), "a b");
    assert_text_is("left", text_strip(t, NULL, TEXT_LEFT), "a b\xe3\x80\x80\n");
    assert_text_is("right", text_strip(t, NULL, TEXT_RIGHT),
                   "\xc2\xa0 \t\x1c"
                   "a b");
    assert_text_is("chars", text_strip(text_own("b\xc3\xa9xa\xc3\xa9"), &chars, TEXT_BOTH),
                   "x");
    assert_text_is("all", text_strip(text_own(" \n "), NULL, TEXT_BOTH), "");
    ck_assert(!text_is_space(0x200b) && !text_is_space(-1) && text_is_space(0x2029));
}
END_TEST

START_TEST(orders_by_code_point) {
    ck_assert_int_lt(text_compare(text_own("a"), text_own("ab")), 0);
    ck_assert_int_gt(text_compare(text_own("\xc3\xa9"), text_own("z")), 0);
    ck_assert_int_eq(text_compare(text_own(""), text_own("")), 0);
}
END_TEST

START_TEST(a_builder_marks_what_each_writer_put) {
    struct arena arena;
    struct pool pool;
    struct text_builder b;

    arena_init(&arena, 1 << 20);
    pool_init(&pool, &arena);
    text_builder_init(&b, &pool, 1000);
    ck_assert(text_built(&b).is_own && text_built(&b).n_bytes == 0);
    text_put(&b, text_own("ab"));
    ck_assert(!text_built(&b).own && text_built(&b).is_own);
    text_put_made(&b, "c");
    text_put_character(&b, 0xe9, true);
    struct text t = text_built(&b);
    assert_text_is("built", t, "abc\xc3\xa9");
    ck_assert_mem_eq(t.own, "\1\1\0\1\1", 5);
    arena_free(&arena);
}
END_TEST

START_TEST(a_builder_stops_at_its_limit) {
    struct arena arena;
    struct pool pool;
    struct text_builder b;

    arena_init(&arena, 1 << 20);
    pool_init(&pool, &arena);
    text_builder_init(&b, &pool, 5);
    text_put_made(&b, "abcde");
    ck_assert(!b.failed);
    text_put_made(&b, "f");
    ck_assert(b.failed && b.is_long);
    text_put_made(&b, "");
    assert_text_is("kept", text_built(&b), "abcde");
    arena_free(&arena);
}
END_TEST

// {{ x }} is a message's, all letters around it are the template's.
static const struct {
    const char *source, *own;
} marks[] = {
    {"a{{ x }}b",                                         "10001"   },
    {"{{ 'a' + x + 'b' }}",                               "10001"   },
    {"{{ 'a' ~ x ~ 1 }}",                                 "10000"   },
    {"{{ (' ' + x + ' ')|trim }}",                        "000"     },
    {"{{ ('a' + x)[1:] }}{{ ('a' + x)[:2] }}",            "00010"   },
    {"{{ ('a' + x)[::-1] }}",                             "0001"    },
    {"{{ x|replace('e', '<>') }}",                        "0110"    },
    {"{{ 'a-b'|replace('-', x) }}",                       "10001"   },
    {"{{ x|upper }}{{ 'a'|upper }}",                      "0001"    },
    {"{{ [x, 'a']|join('-') }}",                          "00011"   },
    {"{{ x|tojson }}",                                    "00000"   },
    {"{{ 'a'|tojson }}{{ ['a'] }}",                       "00000000"},
    {"{{ ('a,' + x).split(',')|join }}",                  "1000"    },
    {"{% set b %}a{{ x }}{% endset %}{{ b }}",            "1000"    },
    {"{% macro m(y) %}<{{ y }}>{% endmacro %}{{ m(x) }}", "10001"   },
    {"{% filter trim %} {{ x }}a {% endfilter %}",        "0001"    },
    {"{{ x if x else 'a' }}{{ nothing|default('a') }}",   "0001"    },
    {"{{ '%s!'|format(x) }}",                             "0001"    },
    {"{{ 'a\nb'|indent(1) }}",                            "1111"    },
};

START_TEST(every_byte_knows_its_writer) {
    assert_own(marks[_i].source, "{\"x\": \"yes\"}", marks[_i].own);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/template_text");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, a_slice_keeps_its_marks);
    tcase_add_test(reference, finds_a_text_in_a_text);
    tcase_add_test(reference, counts_characters_and_not_bytes);
    tcase_add_test(reference, strips_what_python_strips);
    tcase_add_test(reference, orders_by_code_point);
    tcase_add_test(reference, a_builder_marks_what_each_writer_put);
    tcase_add_loop_test(reference, every_byte_knows_its_writer, 0,
                        sizeof(marks) / sizeof(marks[0]));
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, a_builder_stops_at_its_limit);
    suite_add_tcase(s, edges);
    return s;
}
