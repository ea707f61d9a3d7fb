// The audit: published credits to the token, and drawn pairs of requests against oracles that count the
// slow way.
#include "level1-user/audit.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/support/audit_oracle.h"
#include "tests/support/audit_rig.h"
#include "tests/support/suite.h"

// ---- worked example -----------------------------------------------------------------------------

// One token for each byte, and none besides.
static const struct grain a_byte = {1, 0};

static const struct chat_message at_two[] = {
    {"system", "10:02 Be kind."},
    {"user",   "Where?"        }
};
static const struct chat_message at_five[] = {
    {"system", "10:05 Be kind."},
    {"user",   "When?"         }
};

START_TEST(worked_example) {
    const struct audit_request first = {at_two, 2, NULL, 0}, second = {at_five, 2, NULL, 0};
    const struct token_meter meter = grain_meter(&a_byte);
    check_prefix(&first, &second, &meter, &(struct audit_prefix){0, 4, 4, 9});
}
END_TEST

START_TEST(worked_credit) {
    const struct audit_request first = {at_two, 2, NULL, 0}, second = {at_five, 2, NULL, 0};
    const struct token_meter meter = grain_meter(&a_byte);
    const struct audit_prefix parted = {0, 4, 4, 9};
    const struct audit_rule blocks = {0, 4, false, 0, 1000, 100};
    struct audit_credit got = {7, 7, 7, 7, 7};
    audit_apply(&got, &blocks, &parted, &first, &second, &meter);
    assert_credit("audit_apply(blocks of 4, the pair of the page)", &got,
                  &(struct audit_credit){19, 4, 12, 8, 15400});
}
END_TEST

// ---- prefix: by hand ----------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    struct chat_message first[3], second[3];
    int n_first, n_second;
    struct audit_prefix want; // a token a byte
} pairs[] = {
    {"equal", {{"user", "abc"}}, {{"user", "abc"}}, 1, 1, {1, 0, 3, 0}},
    {"nothing in either", {{0}}, {{0}}, 0, 0, {0, 0, 0, 0}},
    {"nothing in the first", {{0}}, {{"user", "abc"}}, 0, 1, {0, 0, 0, 0}},
    {"nothing in the second", {{"user", "abc"}}, {{0}}, 1, 0, {0, 0, 0, 0}},
    {"the second goes on", {{"user", "abc"}}, {{"user", "abc"}, {"assistant", "d"}}, 1, 2, {1, 0, 3, 0}},
    {"the first went on", {{"user", "abc"}, {"assistant", "d"}}, {{"user", "abc"}}, 2, 1, {1, 0, 3, 0}},
    {"a text goes on", {{"user", "ab"}}, {{"user", "abab"}}, 1, 1, {0, 2, 2, 0}},
    {"a text went on", {{"user", "abab"}}, {{"user", "ab"}}, 1, 1, {0, 2, 2, 0}},
    {"an empty text", {{"user", ""}}, {{"user", "ab"}}, 1, 1, {0, 0, 0, 0}},
    {"only the role", {{"system", "abc"}}, {{"user", "abc"}}, 1, 1, {0, 0, 0, 0}},
    {"only the first byte", {{"user", "1bc"}}, {{"user", "2bc"}}, 1, 1, {0, 0, 0, 2}},
    {"only the last byte", {{"user", "ab1"}}, {{"user", "ab2"}}, 1, 1, {0, 2, 2, 0}},
    {"a byte above 127", {{"user", "a\xc3\xa4z"}}, {{"user", "a\xc3\xb6z"}}, 1, 1, {0, 2, 2, 1}},
    {"a message behind is the same", {{"system", "1"}, {"user", "abc"}},
     {{"system", "2"}, {"user", "abc"}}, 2, 2, {0, 0, 0, 3}},
    {"a role behind differs", {{"system", "1"}, {"user", "abc"}},
     {{"system", "2"}, {"assistant", "abc"}}, 2, 2, {0, 0, 0, 0}},
    {"one behind a second change", {{"system", "1"}, {"user", "ab"}, {"assistant", "cde"}},
     {{"system", "2"}, {"user", "bb"}, {"assistant", "cde"}}, 3, 3, {0, 0, 0, 3}},
    {"behind a changed role", {{"system", "ab"}, {"user", "cde"}},
     {{"user", "ab"}, {"user", "cde"}}, 2, 2, {0, 0, 0, 3}},
    {"one came in between: all others moved", {{"system", "r"}, {"user", "ab"}, {"assistant", "cd"}},
     {{"system", "r"}, {"system", "new"}, {"user", "ab"}}, 3, 3, {1, 0, 1, 0}},
};
// clang-format on

START_TEST(finds_the_place_by_hand) {
    const struct audit_request first = {pairs[_i].first, pairs[_i].n_first, NULL, 0};
    const struct audit_request second = {pairs[_i].second, pairs[_i].n_second, NULL, 0};
    const struct token_meter meter = grain_meter(&a_byte);
    check_prefix(&first, &second, &meter, &pairs[_i].want);
}
END_TEST

START_TEST(finds_the_place_in_drawn_pairs) {
    struct draw d = draw_start("audit pairs");
    for (int round = 0; round < 120; round++) {
        const struct grain grain = {draw_int(&d, 0, 5), draw_int(&d, 0, 4)};
        const struct token_meter meter = grain_meter(&grain);
        struct drawn_request a, b;
        draw_request(&a, &d);
        draw_change(&b, &a, &d);
        const struct audit_request first = request_from(&a), second = request_from(&b);
        struct audit_prefix want = parted_slowly(&first, &second, &grain);
        check_prefix(&first, &second, &meter, &want);
        want = parted_slowly(&second, &first, &grain);
        check_prefix(&second, &first, &meter, &want);
        release_request(&a);
        release_request(&b);
    }
}
END_TEST

// ---- credit: published --------------------------------------------------------------------------

// As published. tests/level1/test_cache_rules.c holds data/cache-rules.json against them.
static const struct audit_rule deepseek = {64, 64, false, 0, 1000, AUDIT_UNKNOWN};
static const struct audit_rule openai = {1024, 128, false, 0, 1000, AUDIT_UNKNOWN};
static const struct audit_rule vllm = {16, 16, false, 0, AUDIT_UNKNOWN, AUDIT_UNKNOWN};
static const struct audit_rule anthropic = {1024, 1, true, 20, 1250, 100};
static const struct audit_rule for_an_hour = {1024, 1, true, 20, 2000, 100};

// Two requests of two messages: the first message has 3,000 tokens or so, the second is a question.
// clang-format off
static const struct {
    const char *name;
    const struct audit_rule *rule;
    int64_t before[3]; // tokens in front of message 0, 1 and the end
    struct audit_prefix parted;
    int marks_first[2], n_first, marks_second[2], n_second;
    struct audit_credit want;
} published[] = {
    // Published rules, on published sizes.
    {"OpenAI, 2,006 tokens again", &openai, {0, 1500, 2006}, {2, 0, 2006, 0}, {0}, 0, {0}, 0,
     {2006, 1920, 0, 0, AUDIT_UNKNOWN}},
    {"OpenAI, 1,023 tokens again", &openai, {0, 1000, 1023}, {2, 0, 1023, 0}, {0}, 0, {0}, 0,
     {1023, 0, 0, 0, 1023000}},
    {"OpenAI, 1,024 tokens again", &openai, {0, 1000, 1024}, {2, 0, 1024, 0}, {0}, 0, {0}, 0,
     {1024, 1024, 0, 0, AUDIT_UNKNOWN}},
    {"DeepSeek, 1,000 of 1,200 known", &deepseek, {0, 1000, 1200}, {1, 0, 1000, 0}, {0}, 0, {0}, 0,
     {1200, 960, 192, 0, AUDIT_UNKNOWN}},
    {"DeepSeek, 63 known", &deepseek, {0, 63, 65}, {1, 0, 63, 0}, {0}, 0, {0}, 0,
     {65, 0, 64, 0, 65000}},
    {"vLLM, 3,000 of 3,200 known", &vllm, {0, 3000, 3200}, {1, 0, 3000, 0}, {0}, 0, {0}, 0,
     {3200, 2992, 208, 0, AUDIT_UNKNOWN}},
    // The support bot with a clock in front.
    {"DeepSeek, a clock in front", &deepseek, {0, 3000, 3200}, {0, 4, 1, 2996}, {0}, 0, {0}, 0,
     {3200, 0, 3200, 2944, 3200000}},
    // Anthropic: nothing without marks; written once at 1.25, then read at 0.1.
    {"Anthropic, no mark at all", &anthropic, {0, 3000, 3200}, {1, 0, 3000, 0}, {0}, 0, {0}, 0,
     {3200, 0, 0, 3000, 3200000}},
    {"Anthropic, marked and read", &anthropic, {0, 3000, 3200}, {1, 0, 3000, 0}, {1}, 1, {1}, 1,
     {3200, 3000, 0, 0, 500000}},
    {"Anthropic, marked and spoiled", &anthropic, {0, 3000, 3200}, {0, 4, 1, 2996}, {1}, 1, {1}, 1,
     {3200, 0, 3000, 2997, 3950000}},
    {"Anthropic, an hour, spoiled", &for_an_hour, {0, 3000, 3200}, {0, 4, 1, 2996}, {1}, 1, {1}, 1,
     {3200, 0, 3000, 2997, 6200000}},
    {"Anthropic, the first had no mark", &anthropic, {0, 3000, 3200}, {1, 0, 3000, 0}, {0}, 0, {1}, 1,
     {3200, 0, 3000, 3000, 3950000}},
    {"Anthropic, the second has no mark", &anthropic, {0, 3000, 3200}, {1, 0, 3000, 0}, {1}, 1, {0}, 0,
     {3200, 0, 0, 3000, 3200000}},
    {"Anthropic, the mark is behind the change", &anthropic, {0, 3000, 3200}, {1, 0, 3000, 0}, {2}, 1,
     {2}, 1, {3200, 0, 3200, 3000, 4000000}},
    {"Anthropic, 1,023 tokens marked", &anthropic, {0, 1023, 1300}, {1, 0, 1023, 0}, {1}, 1, {1}, 1,
     {1300, 0, 0, 0, 1300000}},
    {"Anthropic, the mark moved on", &anthropic, {0, 3000, 3200}, {1, 0, 3000, 0}, {1}, 1, {2}, 1,
     {3200, 3000, 200, 0, 550000}},
};
// clang-format on

static const struct chat_message two_messages[] = {
    {"system", "rules"   },
    {"user",   "question"}
};

START_TEST(credits_as_published) {
    const struct token_meter meter = {table_count, published[_i].before};
    const struct audit_request first = {two_messages, 2, published[_i].marks_first,
                                        published[_i].n_first};
    const struct audit_request second = {two_messages, 2, published[_i].marks_second,
                                         published[_i].n_second};
    char what[WHAT_BYTES];
    struct audit_credit got = {7, 7, 7, 7, 7};
    name_rule(what, published[_i].rule);
    put_text(what, published[_i].name);
    put_text(what, ")");
    audit_apply(&got, published[_i].rule, &published[_i].parted, &first, &second, &meter);
    assert_credit(what, &got, &published[_i].want);
}
END_TEST

START_TEST(nothing_against_nothing) {
    const int64_t before[] = {0};
    const struct token_meter meter = {table_count, before};
    const struct audit_request none = {NULL, 0, NULL, 0};
    struct audit_credit got = {7, 7, 7, 7, 7};
    audit_apply(&got, _i ? &anthropic : &vllm, &(struct audit_prefix){0}, &none, &none,
                &meter);
    assert_credit(_i ? "audit_apply(marks, no messages)" : "audit_apply(no messages)", &got,
                  &(struct audit_credit){0});
}
END_TEST

START_TEST(a_trillion_tokens_at_the_largest_factors_fit) {
    const int64_t before[] = {0, 400000000000, 1000000000000};
    const struct token_meter meter = {table_count, before};
    const struct chat_message messages[2] = {
        {"user", ""},
        {"user", ""}
    };
    const struct audit_request request = {messages, 2, NULL, 0};
    const struct audit_rule rule = {.step_tokens = 1, .write_per_mille = 100000};
    struct audit_prefix half = {.message = 1, .tokens = before[1]};
    struct audit_credit got;
    audit_apply(&got, &rule, &half, &request, &request, &meter);
    assert_credit("audit_apply(10^12 tokens, 4 * 10^11 of them known)", &got,
                  &(struct audit_credit){before[2], before[1], before[2] - before[1], 0,
                                         60000000000000000});
}
END_TEST

// The steps begin at 0: what is written, too, may be less than the shortest that counts.
START_TEST(steps_are_taken_of_all_tokens) {
    const int64_t before[] = {0, 120};
    const struct token_meter meter = {table_count, before};
    const struct chat_message message = {"user", ""};
    const struct audit_request request = {&message, 1, NULL, 0};
    const struct audit_rule rule = {.min_tokens = 100,
                                    .step_tokens = 64,
                                    .write_per_mille = 1000,
                                    .read_per_mille = 100};
    struct audit_credit got;
    audit_apply(&got, &rule, &(struct audit_prefix){0}, &request, &request, &meter);
    assert_credit("audit_apply(120 tokens, min 100, step 64)", &got,
                  &(struct audit_credit){120, 0, 64, 0, 120000});
}
END_TEST

// A break-even that was published: one read pays for a write at 1.25.
START_TEST(one_read_pays_for_the_write) {
    const int64_t before[] = {0, 10000, 10000};
    const struct token_meter meter = {table_count, before};
    const int mark[] = {1};
    const struct audit_request none = {NULL, 0, NULL, 0},
                               marked = {two_messages, 2, mark, 1};
    struct audit_credit written = {0}, read = {0};
    audit_apply(&written, &anthropic, &(struct audit_prefix){0}, &none, &marked, &meter);
    audit_apply(&read, &anthropic, &(struct audit_prefix){2, 0, 10000, 0}, &marked, &marked,
                &meter);
    assert_tokens("audit_apply(the first request with a mark)", "cost", written.cost,
                  12500000);
    assert_tokens("audit_apply(the same again)", "cost", read.cost, 1000000);
    ck_assert_msg(written.cost + read.cost < 2 * 10000 * 1000,
                  "two requests cost %" PRId64 ", without marks 20000000",
                  written.cost + read.cost);
}
END_TEST

// ---- credit: drawn ------------------------------------------------------------------------------

enum { DRAWN_MARKS = 4 };

static int draw_marks(int marks[DRAWN_MARKS], int n_messages, struct draw *d) {
    int n = n_messages ? draw_int(d, 0, DRAWN_MARKS) : 0;
    for (int i = 0; i < n; i++) marks[i] = draw_int(d, 1, n_messages);
    return n;
}

static struct audit_rule draw_rule(struct draw *d) {
    struct audit_rule rule = {
        .min_tokens = draw_int(d, 0, 300),
        .step_tokens = draw_int(d, 0, 1) ? 1 : draw_int(d, 1, 70),
        .needs_marks = draw_int(d, 0, 2) > 0,
        .look_back = draw_int(d, 0, 5),
        .write_per_mille = draw_int(d, 0, 9) ? draw_int(d, 1000, 2000) : AUDIT_UNKNOWN,
        .read_per_mille = draw_int(d, 0, 9) ? draw_int(d, 0, 1000) : AUDIT_UNKNOWN,
    };
    return rule;
}

START_TEST(credits_in_drawn_pairs) {
    struct draw d = draw_start("audit credits");
    static const struct chat_message messages[DRAWN_MESSAGES] = {
        {"user", ""}
    };
    for (int round = 0; round < 400; round++) {
        const struct audit_rule rule = draw_rule(&d);
        int marks_first[DRAWN_MARKS], marks_second[DRAWN_MARKS];
        int n = draw_int(&d, 1, DRAWN_MESSAGES), n_first = draw_int(&d, 1, DRAWN_MESSAGES);
        int n_marks_first = draw_marks(marks_first, n_first, &d);
        int n_marks_second = draw_marks(marks_second, n, &d);
        int64_t before[DRAWN_MESSAGES + 1] = {0};
        for (int i = 1; i <= n; i++) before[i] = before[i - 1] + draw_int(&d, 1, 150);

        struct audit_prefix p = {.message = draw_int(&d, 0, n < n_first ? n : n_first)};
        p.tokens = before[p.message];
        if (p.message < n)
            p.tokens += draw_int(&d, 0, (int)(before[p.message + 1] - p.tokens));
        p.tokens_behind = draw_int(&d, 0, (int)(before[n] - p.tokens));

        const struct audit_request first = {messages, n_first, marks_first, n_marks_first};
        const struct audit_request second = {messages, n, marks_second, n_marks_second};
        const struct token_meter meter = {table_count, before};
        const struct audit_credit want =
            credited_slowly(&rule, &p, &first, &second, before);
        struct audit_credit got = {7, 7, 7, 7, 7};
        char what[WHAT_BYTES], numbers[128];
        name_rule(what, &rule);
        snprintf(numbers, sizeof(numbers),
                 "%d messages, %d the same; %" PRId64 " tokens known, %" PRId64 " behind; ",
                 n, p.message, p.tokens, p.tokens_behind);
        put_text(what, numbers);
        put_numbers(what, "marks", marks_first, n_marks_first);
        put_numbers(what, ", then", marks_second, n_marks_second);
        put_text(what, ")");
        audit_apply(&got, &rule, &p, &first, &second, &meter);
        assert_credit(what, &got, &want);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/audit");
    tcase_add_test(tcase_in(s, "prefix worked example"), worked_example);
    tcase_add_test(tcase_in(s, "credit worked example"), worked_credit);

    TCase *tc = tcase_in(s, "prefix reference");
    tcase_add_loop_test(tc, finds_the_place_by_hand, 0, ROWS(pairs));
    tcase_add_test(tcase_in(s, "prefix property"), finds_the_place_in_drawn_pairs);

    tc = tcase_in(s, "credit reference");
    tcase_add_loop_test(tc, credits_as_published, 0, ROWS(published));
    tcase_add_test(tc, one_read_pays_for_the_write);
    tc = tcase_in(s, "credit edges");
    tcase_add_loop_test(tc, nothing_against_nothing, 0, 2);
    tcase_add_test(tc, a_trillion_tokens_at_the_largest_factors_fit);
    tcase_add_test(tc, steps_are_taken_of_all_tokens);
    tcase_add_test(tcase_in(s, "credit property"), credits_in_drawn_pairs);
    return s;
}
