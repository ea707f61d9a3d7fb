// Tokens and money of several answers.
#include "level1-user/account.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

// DeepSeek-R1 in February 2025, data/prices.json.
static const struct price_entry r1 = {
    .price = {550000, 140000, PRICE_UNKNOWN, 2190000},
    .provider = "DeepSeek",
    .listed_as = "R1",
    .valid_from = "2025-02",
};
static struct account account;
static char line[256];

static void add(int64_t prompt, int64_t cached, int64_t completion, double ttft_ms) {
    const struct summary s = {.ttft_ms = ttft_ms, .tokens_per_s = -1};
    const struct reply_usage u = {prompt, cached, completion};
    account_add(&account, &s, &u);
    account_line(line, sizeof(line), &account);
}

static void setup(void) {
    account = (struct account){.price = &r1};
}

// What a printer prints; the buffer is the test's.
static void print_to(char *out, size_t out_bytes,
                     void (*print)(FILE *, const struct account *)) {
    FILE *file = tmpfile();
    print(file, &account);
    rewind(file);
    out[fread(out, 1, out_bytes - 1, file)] = '\0';
    fclose(file);
}

// 200 * 0.55 + 3000 * 0.14 + 300 * 2.19 = 1187 millionths of a dollar.
START_TEST(an_answer_costs_what_its_invoice_says) {
    add(3200, 3000, 300, 10);
    assert_text("account_line", line, "$0.001187 (so far $0.001187)");
    add(3200, 0, 300, 30);
    assert_text("account_line", line, "$0.002417 (so far $0.003604)");
}
END_TEST

START_TEST(cached_tokens_that_are_not_told_are_none) {
    add(3200, -1, 300, -1);
    assert_text("account_line", line, "$0.002417 (so far $0.002417)");
}
END_TEST

// FIT-07: one token above the step takes the whole request there.
START_TEST(an_answer_above_the_step_has_its_prices) {
    struct price_entry entry = r1;
    char text[1024];
    entry.price = (struct price){2000000, 500000, PRICE_UNKNOWN, 10000000};
    entry.step = (struct price_step){
        200000, {4000000, 500000, PRICE_UNKNOWN, 10000000}
    };
    account.price = &entry;
    add(200000, 0, 0, -1);
    assert_text("account_line", line, "$0.4 (so far $0.4)");
    add(200001, 0, 0, -1);
    assert_text("account_line", line, "$0.800004 (so far $1.200004)");
    print_to(text, sizeof(text), account_print_cost);
    ck_assert_msg(strstr(text, "\nabove 200000 input tokens, all of a request, input $4,"),
                  "%s", text);
    ck_assert_msg(strstr(text, " so 1 of 2 answers\n"), "%s", text);
}
END_TEST

START_TEST(nobody_asked_and_nothing_is_said) {
    account.price = NULL;
    add(3200, 3000, 300, 10);
    assert_text("account_line", line, "");
}
END_TEST

static const struct {
    const char *name;
    int64_t prompt, cached, completion;
    struct price price;
    const char *line;
} unknown[] = {
    {"no usage",
     -1,
     -1,
     -1,
     {550000, 140000, -1, 2190000},
     "cost not known: the server told no usage (so far $0.001187 and what is not known)"},
    {"half a usage",
     9,  -1,
     -1,
     {550000, 140000, -1, 2190000},
     "cost not known: the server told no usage (so far $0.001187 and what is not known)"},
    {"no price",
     9,  4,
     3,  {550000, PRICE_UNKNOWN, -1, 2190000},
     "cost not known: no price is known for cached (so far $0.001187 and what is not "
     "known)"                                                                           },
    {"nonsense",
     9,  10,
     3,  {550000, 140000, -1, 2190000},
     "cost not known: cached is 10, but it is a part of input, 9 (so far $0.001187 and "
     "what "
     "is not known)"                                                                    },
};

START_TEST(a_cost_that_is_not_known_says_why) {
    struct price_entry entry = r1;
    add(3200, 3000, 300, 10);
    entry.price = unknown[_i].price;
    account.price = &entry;
    add(unknown[_i].prompt, unknown[_i].cached, unknown[_i].completion, -1);
    assert_text(unknown[_i].name, line, unknown[_i].line);
    assert_number("n_unbilled", account.n_unbilled, 1);
    account.price = &r1;
    add(3200, 0, 300, -1);
    assert_text(unknown[_i].name, line,
                "$0.002417 (so far $0.003604 and what is not known)");
}
END_TEST

START_TEST(figures_of_all_answers_are_printed) {
    char text[512];
    add(3200, 3000, 300, 10);
    add(800, -1, 100, 30);
    add(-1, -1, -1, -1);
    print_to(text, sizeof(text), account_print_stats);
    assert_text("account_print_stats", text,
                "answers 3\n"
                "tokens  4000 prompt (3000 cached, 75.0 %) + 400 completion\n"
                "        the server told no usage for 1 of them\n"
                "TTFT    20 ms on average\n");
    print_to(text, sizeof(text), account_print_cost);
    assert_text(
        "account_print_cost", text,
        "R1 of DeepSeek, from 2025-02, a million tokens, input $0.55, cached $0.14, "
        "output $2.19\n"
        "input   $0.00055\n"
        "cached  $0.00042\n"
        "output  $0.000876\n"
        "total   $0.001846\n"
        "        and 1 of 3 answers whose cost is not known\n");
}
END_TEST

START_TEST(numbers_without_sense_do_not_run_over) {
    for (int i = 0; i < 2; i++) add(INT64_MAX, INT64_MAX, INT64_MAX, 1);
    assert_number("prompt", account.prompt, INT64_MAX);
    assert_number("n_unbilled", account.n_unbilled, 2);
    ck_assert_ptr_nonnull(strstr(line, "above 9.2 million dollars"));
}
END_TEST

START_TEST(nothing_yet_can_be_printed) {
    char text[512];
    account_line(line, sizeof(line), &account);
    assert_text("account_line", line, "");
    print_to(text, sizeof(text), account_print_stats);
    assert_text("account_print_stats", text,
                "answers 0\ntokens  0 prompt (0 cached, 0.0 %) + 0 completion\n");
    account.price = NULL;
    print_to(text, sizeof(text), account_print_cost);
    assert_text("account_print_cost", text,
                "no price: begin with --price MODEL, such as --price deepseek-r1\n");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/account");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, NULL);
    tcase_add_test(reference, an_answer_costs_what_its_invoice_says);
    tcase_add_test(reference, cached_tokens_that_are_not_told_are_none);
    tcase_add_test(reference, an_answer_above_the_step_has_its_prices);
    tcase_add_test(reference, figures_of_all_answers_are_printed);
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, NULL);
    tcase_add_test(edges, nobody_asked_and_nothing_is_said);
    tcase_add_loop_test(edges, a_cost_that_is_not_known_says_why, 0,
                        sizeof(unknown) / sizeof(unknown[0]));
    tcase_add_test(edges, numbers_without_sense_do_not_run_over);
    tcase_add_test(edges, nothing_yet_can_be_printed);
    suite_add_tcase(s, edges);
    return s;
}
