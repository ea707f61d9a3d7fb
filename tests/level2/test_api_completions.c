// What only /v1/completions has: prompts.
#include "level2-operator/api/api_request.h"

#include <stdio.h>

#include "tests/support/parsed_request.h"
#include "tests/support/suite.h"

START_TEST(prompts_come_in_four_shapes) {
    const struct {
        const char *prompt;
        int n_prompts, n_text, n_ids; // of the last
    } rows[] = {
        {"\"abc\"",        1, 3, 0},
        {"[\"a\",\"bc\"]", 2, 2, 0},
        {"[1,2,99]",       1, 0, 3},
        {"[[1],[2,0]]",    2, 0, 2},
        {"[\"a\",[5]]",    2, 0, 1},
        {"\"\"",           1, 0, 0}, // may become a begin token
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct parsed f;
        char body[256];
        snprintf(body, sizeof(body), "{\"model\":\"m\",\"prompt\":%s}", rows[i].prompt);
        ck_assert_int_eq(parse_body(&f, ROUTE_COMPLETIONS, body), OK);
        ck_assert_int_eq(f.r.n_prompts, rows[i].n_prompts);
        const struct api_prompt *last = &f.r.prompts[f.r.n_prompts - 1];
        ck_assert_int_eq((int)last->n_text, rows[i].n_text);
        ck_assert_int_eq(last->n_ids, rows[i].n_ids);
        ck_assert((last->text == NULL) == (rows[i].n_ids > 0));
        close_parsed(&f);
    }
}
END_TEST

static const char *const bad_prompts[] = {
    "null",      "5",         "{}",    "true", "[]",    "[[]]",      "[[1],[]]",
    "[\"a\",5]", "[1,\"a\"]", "[100]", "[-1]", "[1.5]", "[[1,100]]", "[4294967297]",
    "[null]",    "[[[1]]]",
};

START_TEST(refuses_empty_and_mixed_prompts) {
    struct parsed f;
    char body[256];
    snprintf(body, sizeof(body), "{\"model\":\"m\",\"prompt\":%s}", bad_prompts[_i]);
    enum status st = parse_body(&f, ROUTE_COMPLETIONS, body);
    ck_assert_msg(st == ERR_INPUT, "%s: %s", bad_prompts[_i], status_name(st));
    ck_assert_str_eq(f.err.param, "prompt");
    close_parsed(&f);
}
END_TEST

START_TEST(answers_are_counted_over_prompts) {
    struct parsed f;
    for (int n = 42; n <= 43; n++) { // 126 and 129 answers
        char body[128];
        snprintf(body, sizeof(body),
                 "{\"model\":\"m\",\"prompt\":[\"a\",\"b\",\"c\"],\"n\":%d}", n);
        ck_assert_int_eq(parse_body(&f, ROUTE_COMPLETIONS, body), n == 42 ? OK : ERR_LIMIT);
        close_parsed(&f);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/api_completions");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");

    tcase_add_test(reference, prompts_come_in_four_shapes);
    tcase_add_loop_test(edges, refuses_empty_and_mixed_prompts, 0,
                        (int)(sizeof(bad_prompts) / sizeof(bad_prompts[0])));
    tcase_add_test(edges, answers_are_counted_over_prompts);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    return s;
}
