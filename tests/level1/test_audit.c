// The audit: published credits to the token, and drawn pairs of requests against oracles that count the
// slow way.
#include "level1-user/audit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

enum { WHAT_BYTES = 1024, MAX_MESSAGES = 12, MAX_MARKS = 8, TEXT_BYTES = 24 };

// ---- meters ------------------------------------------------------------------------------------

// Each message by itself: a token for each `bytes` of its text, the last one short, and `extra` for what
// stands around it. Unlike the estimate it starts anew with each message. With 0 bytes a run of one
// letter is a token: what stands behind a place then says which token ends there, as in real ones.
struct grain {
    int bytes, extra;
};

static int64_t text_count(const struct grain *grain, const char *text, size_t n_bytes) {
    int64_t n = 0;
    if (grain->bytes > 0) return (int64_t)n_bytes / grain->bytes;
    for (size_t i = 0; i < n_bytes; i++) n += text[i] != text[i + 1];
    return n;
}

static int64_t grain_count(const void *ctx, const struct chat_message *messages,
                           int n_messages, size_t n_bytes) {
    const struct grain *grain = ctx;
    int64_t n = 0;
    for (int i = 0; i < n_messages; i++) {
        size_t length = strlen(messages[i].text);
        size_t padding = grain->bytes > 1 ? (size_t)grain->bytes - 1 : 0;
        n += text_count(grain, messages[i].text, length + (length ? padding : 0));
        n += grain->extra;
    }
    return n + (n_bytes ? text_count(grain, messages[n_messages].text, n_bytes) : 0);
}

static struct token_meter grain_meter(const struct grain *grain) {
    return (struct token_meter){grain_count, grain};
}

// For rules, which see the beginnings of messages only: tokens in front of each.
static int64_t table_count(const void *ctx, const struct chat_message *messages,
                           int n_messages, size_t n_bytes) {
    const int64_t *before = ctx;
    (void)messages;
    (void)n_bytes;
    return before[n_messages];
}

// ---- what a failing test says ------------------------------------------------------------------

static void put(char what[WHAT_BYTES], const char *text) {
    size_t n = strlen(what);
    snprintf(what + n, WHAT_BYTES - n, "%s", text);
}

static void put_request(char what[WHAT_BYTES], const struct audit_request *r) {
    char one[TEXT_BYTES + 32];
    for (int i = 0; i < r->n_messages; i++) {
        snprintf(one, sizeof(one), "%s%s \"%s\"", i ? ", " : "", r->messages[i].role,
                 r->messages[i].text);
        put(what, one);
    }
}

static void name_pair(char what[WHAT_BYTES], const struct audit_request *first,
                      const struct audit_request *second) {
    what[0] = '\0';
    put(what, "audit_compare([");
    put_request(what, first);
    put(what, "], [");
    put_request(what, second);
    put(what, "])");
}

static void assert_field(const char *call, const char *field, int64_t got, int64_t want) {
    char what[WHAT_BYTES + 32];
    snprintf(what, sizeof(what), "%s: %s", call, field);
    assert_number(what, got, want);
}

static void assert_prefix(const char *call, const struct audit_prefix *got,
                          const struct audit_prefix *want) {
    assert_field(call, "message", got->message, want->message);
    assert_field(call, "byte", (int64_t)got->byte, (int64_t)want->byte);
    assert_field(call, "tokens", got->tokens, want->tokens);
    assert_field(call, "tokens_behind", got->tokens_behind, want->tokens_behind);
}

static void assert_credit(const char *call, const struct audit_credit *got,
                          const struct audit_credit *want) {
    assert_field(call, "input", got->input, want->input);
    assert_field(call, "cached", got->cached, want->cached);
    assert_field(call, "written", got->written, want->written);
    assert_field(call, "lost", got->lost, want->lost);
    assert_field(call, "cost", got->cost, want->cost);
}

static void check_prefix(const struct audit_request *first,
                         const struct audit_request *second,
                         const struct token_meter *meter, const struct audit_prefix *want) {
    char what[WHAT_BYTES];
    struct audit_prefix got = {7, 7, 7, 7}; // what was there before does not count
    name_pair(what, first, second);
    audit_compare(&got, first, second, meter);
    assert_prefix(what, &got, want);
}

// ---- worked example ----------------------------------------------------------------------------

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

// ---- prefix: by hand ---------------------------------------------------------------------------

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
enum { N_PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

START_TEST(finds_the_place_by_hand) {
    const struct audit_request first = {pairs[_i].first, pairs[_i].n_first, NULL, 0};
    const struct audit_request second = {pairs[_i].second, pairs[_i].n_second, NULL, 0};
    const struct token_meter meter = grain_meter(&a_byte);
    check_prefix(&first, &second, &meter, &pairs[_i].want);
}
END_TEST

// ---- prefix: drawn -----------------------------------------------------------------------------

// A request with texts of its own, so that the sanitizer sees a step past an end.
struct drawn {
    struct chat_message messages[MAX_MESSAGES];
    int n_messages;
    int marks[MAX_MARKS];
    int n_marks;
};

static const char *const roles[] = {"system", "user", "assistant"};

static char *draw_text(struct draw *d) {
    int n = draw_int(d, 0, TEXT_BYTES - 1);
    char *text = malloc((size_t)n + 1);
    MUST(text);
    for (int i = 0; i < n; i++) text[i] = (char)draw_int(d, 'a', 'c');
    text[n] = '\0';
    return text;
}

static void draw_request(struct drawn *r, struct draw *d) {
    r->n_messages = draw_int(d, 0, MAX_MESSAGES - 1);
    r->n_marks = 0;
    for (int i = 0; i < r->n_messages; i++)
        r->messages[i] = (struct chat_message){roles[draw_int(d, 0, 2)], draw_text(d)};
}

// The same again in memory of its own; here and there a byte, a role or the number of messages differs.
static void draw_change(struct drawn *to, const struct drawn *from, struct draw *d) {
    to->n_messages = from->n_messages;
    to->n_marks = 0;
    for (int i = 0; i < from->n_messages; i++) {
        char *text = strdup(from->messages[i].text);
        MUST(text);
        int kind = draw_int(d, 0, 9);
        size_t n = strlen(text);
        if (kind == 0 && n > 0) text[draw_int(d, 0, (int)n - 1)] = 'z';
        if (kind == 1 && n > 0) text[n - 1] = '\0';
        to->messages[i] = (struct chat_message){from->messages[i].role, text};
        if (kind == 2) to->messages[i].role = roles[draw_int(d, 0, 2)];
    }
    if (draw_int(d, 0, 3) == 0)
        to->messages[to->n_messages++] = (struct chat_message){"user", draw_text(d)};
}

static void release(struct drawn *r) {
    for (int i = 0; i < r->n_messages; i++) free((char *)r->messages[i].text);
}

static struct audit_request request_of(const struct drawn *r) {
    return (struct audit_request){r->messages, r->n_messages, r->marks, r->n_marks};
}

static bool is_equal(const struct audit_request *a, const struct audit_request *b, int i) {
    return !strcmp(a->messages[i].role, b->messages[i].role) &&
           !strcmp(a->messages[i].text, b->messages[i].text);
}

// Whether the ends of n bytes are the same and stand behind byte `from` of both.
static bool has_end(const char *a, const char *b, size_t n, size_t from) {
    size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a < from + n || n_b < from + n) return false;
    return strcmp(a + n_a - n, b + n_b - n) == 0;
}

// The slow way: tries every place, the last one first.
static struct audit_prefix oracle(const struct audit_request *a,
                                  const struct audit_request *b, const struct grain *g) {
    struct audit_prefix want = {0};
    int n = a->n_messages < b->n_messages ? a->n_messages : b->n_messages;
    for (int i = n - 1; i >= 0; i--) {
        if (!is_equal(a, b, i)) want.message = i;
    }
    bool is_parted = n > 0 && !is_equal(a, b, want.message);
    if (!is_parted) want.message = n;

    const char *role_a = is_parted ? a->messages[want.message].role : "";
    if (is_parted && strcmp(role_a, b->messages[want.message].role) == 0) {
        const char *x = a->messages[want.message].text, *y = b->messages[want.message].text;
        size_t end = TEXT_BYTES;
        want.byte = TEXT_BYTES;
        while (strncmp(x, y, want.byte) != 0 || want.byte > strlen(x) ||
               want.byte > strlen(y))
            want.byte--;
        while (!has_end(x, y, end, want.byte)) end--;
        want.tokens_behind = grain_count(g, b->messages, want.message, strlen(y)) -
                             grain_count(g, b->messages, want.message, strlen(y) - end);
    }
    want.tokens = grain_count(g, b->messages, want.message, want.byte);
    for (int i = n - 1; i > want.message; i--) {
        if (is_equal(a, b, i)) want.tokens_behind += grain_count(g, b->messages + i, 1, 0);
    }
    return want;
}

START_TEST(finds_the_place_in_drawn_pairs) {
    struct draw d = draw_start("audit pairs");
    for (int round = 0; round < 120; round++) {
        const struct grain grain = {draw_int(&d, 0, 5), draw_int(&d, 0, 4)};
        const struct token_meter meter = grain_meter(&grain);
        struct drawn a, b;
        draw_request(&a, &d);
        draw_change(&b, &a, &d);
        const struct audit_request first = request_of(&a), second = request_of(&b);
        struct audit_prefix want = oracle(&first, &second, &grain);
        check_prefix(&first, &second, &meter, &want);
        want = oracle(&second, &first, &grain);
        check_prefix(&second, &first, &meter, &want);
        release(&a);
        release(&b);
    }
}
END_TEST

// ---- credit: published -------------------------------------------------------------------------

// Rules without marks. tests/level1/test_cache_rules.c holds data/cache-rules.json against them.
static const struct audit_rule deepseek = {64, 64, false, 0, 1000, AUDIT_UNKNOWN};
static const struct audit_rule openai = {1024, 128, false, 0, 1000, AUDIT_UNKNOWN};
static const struct audit_rule vllm = {16, 16, false, 0, AUDIT_UNKNOWN, AUDIT_UNKNOWN};
static const struct audit_rule anthropic = {1024, 1, true, 20, 1250, 100};
static const struct audit_rule for_an_hour = {1024, 1, true, 20, 2000, 100};

static void name_rule(char what[WHAT_BYTES], const struct audit_rule *rule) {
    snprintf(what, WHAT_BYTES,
             "audit_apply(min %" PRId64 ", step %" PRId64 ", marks %s, look back %d, "
             "write %" PRId64 ", read %" PRId64 "; ",
             rule->min_tokens, rule->step_tokens, rule->needs_marks ? "yes" : "no",
             rule->look_back, rule->write_per_mille, rule->read_per_mille);
}

static void put_numbers(char what[WHAT_BYTES], const char *name, const int *x, int n) {
    char one[32];
    put(what, name);
    for (int i = 0; i < n; i++) {
        snprintf(one, sizeof(one), " %d", x[i]);
        put(what, one);
    }
}

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
enum { N_PUBLISHED = sizeof(published) / sizeof(published[0]) };

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
    put(what, published[_i].name);
    put(what, ")");
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
    assert_field("audit_apply(the first request with a mark)", "cost", written.cost,
                 12500000);
    assert_field("audit_apply(the same again)", "cost", read.cost, 1000000);
    ck_assert_msg(written.cost + read.cost < 2 * 10000 * 1000,
                  "two requests cost %" PRId64 ", without marks 20000000",
                  written.cost + read.cost);
}
END_TEST

// ---- credit: drawn -----------------------------------------------------------------------------

// Step by step.
static int64_t steps_in(const struct audit_rule *rule, int64_t n_tokens) {
    int64_t n = 0;
    if (n_tokens < rule->min_tokens) return 0;
    while (n + rule->step_tokens <= n_tokens) n += rule->step_tokens;
    return n;
}

static bool has_mark(const struct audit_request *r, int from, int to) {
    for (int i = 0; i < r->n_marks; i++) {
        if (from <= r->marks[i] && r->marks[i] <= to) return true;
    }
    return false;
}

// Tries every number of messages, and keeps the best.
static struct audit_credit credit_oracle(const struct audit_rule *rule,
                                         const struct audit_prefix *p,
                                         const struct audit_request *first,
                                         const struct audit_request *second,
                                         const int64_t *before) {
    struct audit_credit want = {.input = before[second->n_messages]};
    int64_t read = p->tokens, kept = want.input;
    if (rule->needs_marks) {
        read = kept = 0;
        for (int m = 1; m <= second->n_messages; m++) {
            if (has_mark(second, m, m)) kept = before[m];
            if (m > p->message || !has_mark(first, m, m)) continue;
            if (has_mark(second, m, m + rule->look_back)) read = before[m];
        }
    }
    want.cached = steps_in(rule, read);
    want.written = steps_in(rule, kept) - want.cached;
    want.lost = steps_in(rule, p->tokens + p->tokens_behind) - want.cached;
    want.cost = 1000 * (want.input - want.cached - want.written);
    want.cost += want.cached * rule->read_per_mille + want.written * rule->write_per_mille;
    if ((want.cached && rule->read_per_mille < 0) ||
        (want.written && rule->write_per_mille < 0))
        want.cost = AUDIT_UNKNOWN;
    return want;
}

static int draw_marks(int marks[MAX_MARKS], int n_messages, struct draw *d) {
    int n = n_messages ? draw_int(d, 0, 4) : 0;
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
    static const struct chat_message messages[MAX_MESSAGES] = {
        {"user", ""}
    };
    for (int round = 0; round < 400; round++) {
        const struct audit_rule rule = draw_rule(&d);
        int marks_first[MAX_MARKS], marks_second[MAX_MARKS];
        int n = draw_int(&d, 1, MAX_MESSAGES), n_first = draw_int(&d, 1, MAX_MESSAGES);
        int n_marks_first = draw_marks(marks_first, n_first, &d);
        int n_marks_second = draw_marks(marks_second, n, &d);
        int64_t before[MAX_MESSAGES + 1] = {0};
        for (int i = 1; i <= n; i++) before[i] = before[i - 1] + draw_int(&d, 1, 150);

        struct audit_prefix p = {.message = draw_int(&d, 0, n < n_first ? n : n_first)};
        p.tokens = before[p.message];
        if (p.message < n)
            p.tokens += draw_int(&d, 0, (int)(before[p.message + 1] - p.tokens));
        p.tokens_behind = draw_int(&d, 0, (int)(before[n] - p.tokens));

        const struct audit_request first = {messages, n_first, marks_first, n_marks_first};
        const struct audit_request second = {messages, n, marks_second, n_marks_second};
        const struct token_meter meter = {table_count, before};
        const struct audit_credit want = credit_oracle(&rule, &p, &first, &second, before);
        struct audit_credit got = {7, 7, 7, 7, 7};
        char what[WHAT_BYTES], numbers[128];
        name_rule(what, &rule);
        snprintf(numbers, sizeof(numbers),
                 "%d messages, %d the same; %" PRId64 " tokens known, %" PRId64 " behind; ",
                 n, p.message, p.tokens, p.tokens_behind);
        put(what, numbers);
        put_numbers(what, "marks", marks_first, n_marks_first);
        put_numbers(what, ", then", marks_second, n_marks_second);
        put(what, ")");
        audit_apply(&got, &rule, &p, &first, &second, &meter);
        assert_credit(what, &got, &want);
    }
}
END_TEST

static TCase *tcase(Suite *s, const char *tcase_name) {
    TCase *tc = tcase_create(tcase_name);
    suite_add_tcase(s, tc);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("level1/audit");
    tcase_add_test(tcase(s, "prefix worked example"), worked_example);
    tcase_add_test(tcase(s, "credit worked example"), worked_credit);

    TCase *tc = tcase(s, "prefix reference");
    tcase_add_loop_test(tc, finds_the_place_by_hand, 0, N_PAIRS);
    tcase_add_test(tcase(s, "prefix property"), finds_the_place_in_drawn_pairs);

    tc = tcase(s, "credit reference");
    tcase_add_loop_test(tc, credits_as_published, 0, N_PUBLISHED);
    tcase_add_test(tc, one_read_pays_for_the_write);
    tcase_add_loop_test(tcase(s, "credit edges"), nothing_against_nothing, 0, 2);
    tcase_add_test(tcase(s, "credit property"), credits_in_drawn_pairs);
    return s;
}
