// Figures of an answer, for people and for programs.
#include "level1-user/summary.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct reply_choice choice;

// An answer that began at 1 s. Times in ms after that; 0: none.
static struct reply reply_with(int64_t first_ms, int64_t last_ms, struct reply_usage usage,
                               const char *reason) {
    choice = (struct reply_choice){0};
    strcpy(choice.finish_reason, reason);
    struct reply r = {.choices = &choice, .n_choices = 1, .usage = usage};
    if (first_ms > 0) r.first_token_ns = 1000000000 + first_ms * 1000000;
    if (last_ms > 0) r.last_token_ns = 1000000000 + last_ms * 1000000;
    return r;
}

// clang-format off
static const struct {
    const char *name;
    int64_t first_ms, last_ms;
    int64_t prompt, cached, completion; // tokens
    const char *reason;
    double ttft_ms, tokens_per_s;
    const char *line;
} answers[] = {
    // 48 tokens after the first one in 500 ms: 96 a second.
    {"all is known", 85, 585, 35, 20, 49, "stop", 85, 96,
     "TTFT 85 ms, 96.0 tokens/s, 35 prompt (20 cached) + 49 completion tokens"},
    {"cut by length", 85, 585, 35, 0, 49, "length", 85, 96,
     "TTFT 85 ms, 96.0 tokens/s, 35 prompt (0 cached) + 49 completion tokens, ended by length"},
    {"no usage", 85, 585, -1, -1, -1, "stop", 85, -1, "TTFT 85 ms"},
    {"one token has no rate", 85, 85, 35, -1, 1, "stop", 85, -1,
     "TTFT 85 ms, 35 prompt + 1 completion tokens"},
    {"all at once has no rate", 85, 85, 35, -1, 10, "stop", 85, -1,
     "TTFT 85 ms, 35 prompt + 10 completion tokens"},
    {"no text", 0, 0, -1, -1, -1, "", -1, -1, ""},
    {"no text, and usage", 0, 0, 35, -1, 0, "length", -1, -1,
     "35 prompt + 0 completion tokens, ended by length"},
    {"no text, and a reason", 0, 0, -1, -1, -1, "length", -1, -1, "ended by length"},
    {"a reason with control bytes is not shown", 85, 85, -1, -1, -1, "a\x1b[2J", 85, -1,
     "TTFT 85 ms"},
};
// clang-format on

START_TEST(figures_match_numbers_worked_by_hand) {
    char line[256];
    struct reply_usage usage = {answers[_i].prompt, answers[_i].cached,
                                answers[_i].completion};
    struct reply r =
        reply_with(answers[_i].first_ms, answers[_i].last_ms, usage, answers[_i].reason);
    struct summary s = summary_of(&r, 1000000000);
    ck_assert_double_eq_tol(s.ttft_ms, answers[_i].ttft_ms, 1e-9);
    ck_assert_double_eq_tol(s.tokens_per_s, answers[_i].tokens_per_s, 1e-9);
    summary_line(line, sizeof(line), &s, &r);
    ck_assert_msg(strcmp(line, answers[_i].line) == 0, "%s: \"%s\"", answers[_i].name,
                  line);
}
END_TEST

START_TEST(a_line_is_cut_to_its_room) {
    char line[9];
    struct reply r = reply_with(85, 585, (struct reply_usage){35, 20, 49}, "stop");
    struct summary s = summary_of(&r, 1000000000);
    summary_line(line, sizeof(line), &s, &r);
    ck_assert_str_eq(line, "TTFT 85 ");
}
END_TEST

START_TEST(what_is_not_known_is_null_in_the_document) {
    struct reply r = reply_with(0, 0, (struct reply_usage){-1, 0, -1}, "");
    struct summary s = summary_of(&r, 1000000000);
    char *document = summary_json(&s, &r, _i ? "it broke" : NULL);
    json_t *root = json_loads(document, JSON_REJECT_DUPLICATES, NULL);
    json_t *want =
        json_pack("{s:s, s:n, s:n, s:n, s:{s:n, s:i, s:n}, s:n}", "answer", "",
                  "finish_reason", "ttft_ms", "tokens_per_s", "usage", "prompt_tokens",
                  "cached_tokens", 0, "completion_tokens", "model");
    if (_i) json_object_set_new(want, "error", json_string("it broke"));
    ck_assert_msg(json_equal(root, want), "%s", document);
    json_decref(root);
    json_decref(want);
    free(document);
}
END_TEST

START_TEST(every_failed_allocation_gives_no_document) {
    struct reply r = reply_with(85, 585, (struct reply_usage){35, 20, 49}, "stop");
    struct summary s = summary_of(&r, 1000000000);
    char *document = NULL;
    int n = 0;
    for (;; n++) {
        memory_fail_after(n);
        document = summary_json(&s, &r, "it broke");
        memory_fail_after(-1);
        if (document) break;
    }
    ck_assert_int_ge(n, 10);
    free(document);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/summary");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, figures_match_numbers_worked_by_hand, 0,
                        sizeof(answers) / sizeof(answers[0]));
    tcase_add_loop_test(reference, what_is_not_known_is_null_in_the_document, 0, 2);
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, a_line_is_cut_to_its_room);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, every_failed_allocation_gives_no_document);
    suite_add_tcase(s, failures);
    return s;
}
