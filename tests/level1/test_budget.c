// Budgets: single cuts by hand, all of them against an oracle that tries every cut, and conversations
// of two hundred turns, which must stay within their limits and rarely move their beginning.
#include "level1-user/budget.h"

#include <string.h>

#include "tests/support/budget_oracle.h"
#include "tests/support/budget_rig.h"
#include "tests/support/budget_talk.h"
#include "tests/support/suite.h"

// ---- worked example -----------------------------------------------------------------------------

static const char full[] = "10p 15 20 15 12 13"; // of which 60 tokens are in the cache

// A token costs 5, from the cache 1, as output 20.
static struct budget_limits small(void) {
    return (struct budget_limits){
        .n_context = 100,
        .n_answer = 20,
        .max_price = 1000,
        .price = {5, 1, PRICE_UNKNOWN, 20},
        .low_percent = 50,
        .n_summary = 5
    };
}

START_TEST(worked_example) {
    const struct budget_limits l = small();
    measures(full, 60, &l, 0, 0, (struct budget_request){85, 60, 585});
    measures(full, 60, &l, 2, 5, (struct budget_request){75, 10, 735});
    measures(full, 60, &l, 3, 5, (struct budget_request){55, 10, 635});
    measures(full, 60, &l, 4, 5, (struct budget_request){40, 10, 560});
}
END_TEST

START_TEST(the_worked_example_is_decided) {
    const struct budget_limits l = small();
    decides(full, 60, &l, plan_of(1, 4, 5, 40, 10, 560));
}
END_TEST

// The summary took 5, the question got its answer of 20, the next one has 10.
START_TEST(one_turn_later_nothing_goes) {
    const struct budget_limits l = small();
    decides("10p 5 12 33 10", 40, &l, plan_of(0, 0, 0, 70, 40, 590));
}
END_TEST

// ---- measure ------------------------------------------------------------------------------------

START_TEST(without_a_turn_that_goes_there_is_no_summary) {
    const struct budget_limits l = small();
    for (int keep_from = 0; keep_from < 3; keep_from++)
        measures("10p 7p 9", 11, &l, keep_from, 5, (struct budget_request){26, 11, 486});
}
END_TEST

START_TEST(pinned_turns_behind_a_cut_stay_and_are_not_found_again) {
    const char turns[] = "10p 4 7p 6 3";
    const struct budget_limits l = small();
    measures(turns, 27, &l, 2, 0, (struct budget_request){26, 10, 490});
    measures(turns, 27, &l, 3, 0, (struct budget_request){26, 10, 490});
    measures(turns, 27, &l, 4, 5, (struct budget_request){25, 10, 485});
}
END_TEST

START_TEST(the_cache_finds_at_most_what_is_there) {
    const struct budget_limits l = small();
    measures(full, 1000, &l, 0, 0, (struct budget_request){85, 85, 485});
    measures(full, 1000, &l, 5, 0, (struct budget_request){23, 10, 475});
    measures(full, 4, &l, 5, 0, (struct budget_request){23, 4, 499});
    measures(full, 0, &l, 5, 5, (struct budget_request){28, 0, 540});
}
END_TEST

START_TEST(with_nothing_pinned_a_cut_leaves_nothing_in_the_cache) {
    const struct budget_limits l = small();
    measures("8 9 3", 17, &l, 1, 2, (struct budget_request){14, 0, 470});
    measures("8 9 3", 17, &l, 0, 0, (struct budget_request){20, 17, 432});
}
END_TEST

START_TEST(a_question_alone_can_be_measured) {
    const struct budget_limits l = small();
    measures("1", 0, &l, 0, 5, (struct budget_request){1, 0, 405});
}
END_TEST

// Half of what can be counted, twice, at 5 each.
START_TEST(what_is_too_dear_to_count_costs_the_largest_amount) {
    const char turns[] = "4611686018427387903 4611686018427387903";
    const struct budget_limits l = small();
    measures(turns, 0, &l, 0, 0, (struct budget_request){INT64_MAX - 1, 0, INT64_MAX});
    measures(turns, 0, &l, 1, 1, (struct budget_request){INT64_MAX / 2 + 1, 0, INT64_MAX});
}
END_TEST

// ---- reference ----------------------------------------------------------------------------------

START_TEST(measuring_agrees_with_writing_both_prompts_down) {
    struct draw d = draw_start("budget measure");
    struct drawn_budget x;
    for (int round = 0; round < 150; round++) {
        int n_turns = 1 + round % DRAWN_BUDGET_TURNS;
        drawn_budget(&x, &d, n_turns);
        int keep_from = draw_int(&d, 0, n_turns - 1);
        int64_t n_summary = draw_int(&d, 0, (int)x.l.n_summary);
        check_measure(&x.c, &x.l, keep_from, n_summary,
                      measured_slowly(&x.c, &x.l, keep_from, n_summary));
    }
}
END_TEST

START_TEST(deciding_agrees_with_trying_every_cut) {
    struct draw d = draw_start("budget decide");
    struct drawn_budget x;
    for (int round = 0; round < 400; round++) {
        struct budget_plan want;
        drawn_budget(&x, &d, 1 + round % DRAWN_BUDGET_TURNS);
        enum status st = decided_slowly(&want, &x.c, &x.l);
        if (st == OK)
            check_decide(&x.c, &x.l, want);
        else
            check_refused(&x.c, &x.l, st, st == ERR_LIMIT ? "max_price" : NULL);
    }
}
END_TEST

// ---- decide: edges ------------------------------------------------------------------------------

// The worked example with other turns, or other limits. An answer costs 400.
// clang-format off
static const struct {
    const char *turns;
    int n_cached, n_context, max_price, low_percent, n_summary;
    int first_gone, keep_from, summary, n_tokens, cached, price; // of the plan
} edges[] = {
    // at a limit nothing goes, and one above it turns go
    {full, 60,   105, 1000, 50, 5,   0, 0, 0, 85, 60, 585},
    {full, 60,   104, 1000, 50, 5,   1, 4, 5, 40, 10, 560},
    {full, 60,  1000,  585, 50, 5,   0, 0, 0, 85, 60, 585},
    {full, 60,  1000,  584, 50, 5,   1, 4, 5, 40, 10, 560},
    // the low mark of 80 tokens: 40; 39.2; 54.4, rounded down; 55.2
    {full, 60,   100, 1000, 50, 5,   1, 4, 5, 40, 10, 560},
    {full, 60,   100, 1000, 49, 5,   1, 5, 5, 28, 10, 500},
    {full, 60,   100, 1000, 68, 5,   1, 4, 5, 40, 10, 560},
    {full, 60,   100, 1000, 69, 5,   1, 3, 5, 55, 10, 635},
    // that of the price leaves the answer aside: 400 + 234.9, rounded down; 400 + 235.8
    {full, 60,   100,  661, 90, 5,   1, 4, 5, 40, 10, 560},
    {full, 60,   100,  662, 90, 5,   1, 3, 5, 55, 10, 635},
    // a low mark out of reach, below what is pinned, keeps what the limits allow
    {full, 60,   100, 1000, 10, 5,   1, 2, 5, 75, 10, 735},
    // a question too long for the low mark does not cost all that was said
    {"10p 15 15 45", 40, 100, 1000, 50, 5,   1, 2, 5, 75, 10, 735},
    // a summary without room is left out; nobody wants one
    {"10p 15 66", 25, 100, 1000, 50, 5,   1, 2, 0, 76, 10, 740},
    {full, 60,   100, 1000, 50, 0,   1, 4, 0, 35, 10, 535},
    // turns go around pinned ones; a turn that is last in its row goes with those before it
    {"10p 15 8p 20 20 12", 73, 100, 1000, 50, 5,   1, 5, 5, 35, 10, 535},
    {"15 8p 20 9p 40 12", 92, 100, 1000, 60, 0,   0, 5, 0, 29, 0, 545},
    // behind a cut all is paid in full: 55 tokens are few enough, and cost more than 85 did
    {full, 60,   100,  600, 100, 5,   1, 4, 5, 40, 10, 560},
    // what a warm cache pays for, a cold one does not
    {full, 72,   200,  700, 80, 0,   0, 0, 0, 85, 72, 537},
    {full, 0,    200,  700, 80, 0,   1, 4, 0, 35, 0, 575},
    // a price that only the last question fits
    {full, 60,   100,  475, 50, 5,   1, 5, 0, 23, 10, 475},
};
// clang-format on

START_TEST(every_edge_is_decided_as_the_contract_says) {
    struct budget_limits l = small();
    l.n_context = edges[_i].n_context;
    l.max_price = edges[_i].max_price;
    l.low_percent = edges[_i].low_percent;
    l.n_summary = edges[_i].n_summary;
    decides(edges[_i].turns, edges[_i].n_cached, &l,
            plan_of(edges[_i].first_gone, edges[_i].keep_from, edges[_i].summary,
                    edges[_i].n_tokens, edges[_i].cached, edges[_i].price));
}
END_TEST

START_TEST(numbers_as_large_as_they_can_be_do_not_overflow) {
    const char turns[] = "1p 4611686018427387903 7";
    struct budget_limits l = {
        .n_context = INT64_MAX / 3 * 2,
        .n_answer = INT64_MAX / 3,
        .max_price = INT64_MAX,
        .price = {1, 1, PRICE_UNKNOWN, 1},
        .low_percent = 99,
        .n_summary = INT64_MAX / 100
    };
    const int64_t n = 8 + l.n_summary;
    decides(turns, 1, &l, plan_of(1, 2, l.n_summary, n, 1, n + l.n_answer));
    l.price = (struct price){0, 0, PRICE_UNKNOWN, 0};
    decides(turns, 1, &l, plan_of(1, 2, l.n_summary, n, 1, 0));

    // 99 % of 10^18 + 99, rounded down, end in 98. A double knows such numbers to a hundred or so.
    l.n_context = 1000000000000000099;
    l.n_answer = l.n_summary = 0;
    decides("1p 100000000000000000 990000000000000091 7", 1, &l, plan_of(1, 3, 0, 8, 1, 0));
    decides("1p 100000000000000000 990000000000000090 7", 1, &l,
            plan_of(1, 2, 0, 990000000000000098, 1, 0));
}
END_TEST

START_TEST(no_price_limit_is_none_whatever_it_costs) {
    const char turns[] = "2305843009213693951 7";
    struct budget_limits l = small();
    l.n_context = INT64_MAX;
    l.n_answer = INT64_MAX / 2;
    l.max_price = INT64_MAX;
    decides(turns, 0, &l, plan_of(0, 0, 0, INT64_MAX / 4 + 7, 0, INT64_MAX));
    l.max_price--;
    refuses(turns, &l, ERR_LIMIT, "max_price");
}
END_TEST

// ---- decide: refused ----------------------------------------------------------------------------

START_TEST(what_has_to_stay_and_is_too_long_is_refused) {
    struct budget_limits l = small();
    refuses("81", &l, ERR_CONTEXT, NULL);
    refuses("40p 9 41", &l, ERR_CONTEXT, NULL);
    refuses("40p 9p 32", &l, ERR_CONTEXT, NULL);
    l.max_price = 1; // both are too small: the context counts
    refuses("81", &l, ERR_CONTEXT, NULL);
}
END_TEST

START_TEST(what_has_to_stay_and_is_too_dear_is_refused) {
    struct budget_limits l = small();
    l.max_price = 474;
    refuses(full, &l, ERR_LIMIT, "max_price");
}
END_TEST

START_TEST(an_answer_that_is_too_dear_alone_is_refused) {
    struct budget_limits l = small();
    l.price.input = l.price.cached_input = 0; // the prompt is free
    l.max_price = 399;
    refuses(full, &l, ERR_LIMIT, "max_price");
    l.max_price = 400;
    decides(full, 60, &l, plan_of(1, 4, 5, 40, 10, 400));
}
END_TEST

// Each case is the worked example with one value that cannot be.
// clang-format off
static const struct {
    const char *turns, *param;
    enum status want;
} wrong[] = {
    {"10p -1 13", "turns", ERR_INPUT},
    {"", "turns", ERR_INPUT},
    {"9223372036854775807 1", "turns", ERR_LIMIT},
    {"9223372036854775805", "turns", ERR_LIMIT}, // with the summary
    {"10p 13", "low_percent", ERR_INPUT},
    {"10p 13", "n_answer", ERR_INPUT},
    {"10p 13", "input", ERR_UNSUPPORTED},
};
// clang-format on

START_TEST(what_cannot_be_is_refused) {
    struct budget_limits l = small();
    const char *param = wrong[_i].param;
    if (strcmp(param, "low_percent") == 0) l.low_percent = 0;
    if (strcmp(param, "n_answer") == 0) l.n_answer = l.n_context + 1;
    if (strcmp(param, "input") == 0) l.price.input = PRICE_UNKNOWN;
    refuses(wrong[_i].turns, &l, wrong[_i].want, param);
}
END_TEST

// ---- two hundred turns --------------------------------------------------------------------------

static const struct price deepseek_r1 = {550000, 140000, PRICE_UNKNOWN, 2190000};

// The support bot's block of 3,000 tokens, questions of 200, answers of 300. The page shows these.
static const struct {
    int low_percent, n_cuts;
    int64_t input, cached;
} two_hundred[] = {
    {100, 174, 2977500, 752000 },
    {75,  20,  2625000, 2358300},
    {50,  11,  2268500, 2119600},
};

START_TEST(two_hundred_equal_turns) {
    struct budget_talk x = {.turns = {{3000, true}}, .n_turns = 1};
    const struct budget_limits l = {
        .n_context = 16384,
        .n_answer = 300,
        .max_price = INT64_MAX,
        .price = deepseek_r1,
        .low_percent = two_hundred[_i].low_percent,
        .n_summary = 500,
    };
    for (int number = 1; number <= 200; number++) {
        talk_ask(&x, &l, 200, 500);
        talk_answer(&x, 300);
    }
    assert_number("200 turns of the support bot: cuts", x.n_cuts, two_hundred[_i].n_cuts);
    assert_number("200 turns of the support bot: input tokens", x.input,
                  two_hundred[_i].input);
    assert_number("200 turns of the support bot: cached tokens", x.cached,
                  two_hundred[_i].cached);
}
END_TEST

// Lengths drawn, a price limit that a warm cache rarely feels, one turn in 25 pinned, and now and
// then a cache that has gone cold.
static int n_cuts_of(int low_percent) {
    struct draw d = draw_start("budget conversation");
    struct budget_talk x = {.turns = {{1500, true}}, .n_turns = 1};
    const struct budget_limits l = {
        .n_context = 8192,
        .n_answer = 300,
        .max_price = 300 * deepseek_r1.output + 7000 * deepseek_r1.input,
        .price = deepseek_r1,
        .low_percent = low_percent,
        .n_summary = 200,
    };
    for (int number = 1; number <= 200; number++) {
        if (draw_int(&d, 0, 19) == 0) x.n_cached = 0;
        talk_ask(&x, &l, draw_int(&d, 20, 300), draw_int(&d, 1, 200));
        talk_answer(&x, draw_int(&d, 1, 300));
        if (number % 70 == 0) x.turns[x.n_turns - 1].is_pinned = true;
    }
    return x.n_cuts;
}

START_TEST(two_hundred_drawn_turns_stay_within_limits_and_rarely_move) {
    int n_shallow = n_cuts_of(100), n_deep = n_cuts_of(50);
    assert_number("200 drawn turns, low mark at 50 %: any cut", n_deep > 0, 1);
    assert_number("200 drawn turns, low mark at 50 %: a quarter of the cuts made at 100 %, "
                  "or more",
                  4 * n_deep >= n_shallow, 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/budget");
    TCase *tc = tcase_in(s, "measure worked example");
    tcase_add_test(tc, worked_example);

    tc = tcase_in(s, "measure edges");
    tcase_add_test(tc, without_a_turn_that_goes_there_is_no_summary);
    tcase_add_test(tc, pinned_turns_behind_a_cut_stay_and_are_not_found_again);
    tcase_add_test(tc, the_cache_finds_at_most_what_is_there);
    tcase_add_test(tc, with_nothing_pinned_a_cut_leaves_nothing_in_the_cache);
    tcase_add_test(tc, a_question_alone_can_be_measured);
    tcase_add_test(tc, what_is_too_dear_to_count_costs_the_largest_amount);
    tcase_add_test(tcase_in(s, "measure reference"),
                   measuring_agrees_with_writing_both_prompts_down);

    tc = tcase_in(s, "decide worked example");
    tcase_add_test(tc, the_worked_example_is_decided);
    tcase_add_test(tc, one_turn_later_nothing_goes);

    tc = tcase_in(s, "decide edges");
    tcase_add_loop_test(tc, every_edge_is_decided_as_the_contract_says, 0, ROWS(edges));
    tcase_add_test(tc, numbers_as_large_as_they_can_be_do_not_overflow);
    tcase_add_test(tc, no_price_limit_is_none_whatever_it_costs);
    tcase_add_test(tcase_in(s, "decide reference"), deciding_agrees_with_trying_every_cut);

    tc = tcase_in(s, "decide refused");
    tcase_add_test(tc, what_has_to_stay_and_is_too_long_is_refused);
    tcase_add_test(tc, what_has_to_stay_and_is_too_dear_is_refused);
    tcase_add_test(tc, an_answer_that_is_too_dear_alone_is_refused);
    tcase_add_loop_test(tc, what_cannot_be_is_refused, 0, ROWS(wrong));

    tc = tcase_in(s, "decide conversation");
    tcase_add_loop_test(tc, two_hundred_equal_turns, 0, ROWS(two_hundred));
    tcase_add_test(tc, two_hundred_drawn_turns_stay_within_limits_and_rarely_move);
    return s;
}
