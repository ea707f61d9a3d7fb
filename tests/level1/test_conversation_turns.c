// Messages to turns, bytes to tokens.
#include "level1-user/conversation_turns.h"

#include <stdio.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct conversation said;
static struct conversation_turns turns;
static struct turn_scale scale;

static void setup(void) {
    said = (struct conversation){0};
    turns = (struct conversation_turns){0};
    scale = (struct turn_scale){
        .estimate = {4, 5}
    };
}

static void teardown(void) {
    conversation_turns_free(&turns);
    conversation_turns_free(&turns);
    conversation_free(&said);
}

static void assert_turns(const char *what, const int64_t *want, int n) {
    assert_number(what, turns.n_turns, n);
    for (int i = 0; i < n; i++) {
        assert_number(what, turns.turns[i].n_tokens, want[i]);
        assert_number(what, turns.turns[i].is_pinned, i == 0);
    }
}

START_TEST(a_question_and_its_answer_are_a_turn) {
    conversation_add(&said, "user", "12345678", NULL);      // 2 + 5
    conversation_add(&said, "assistant", "1234", NULL);     // 1 + 5
    conversation_add(&said, "user", "123", NULL);           // 0 + 5
    conversation_add(&said, "assistant", "12345678", NULL); // 2 + 5
    assert_status("conversation_turns_init",
                  conversation_turns_init(&turns, "123456789", &said, "1234", &scale, NULL),
                  OK);
    assert_turns("turns", (const int64_t[]){7, 13, 12, 6}, 4);
    assert_number("n_tokens", turns.n_tokens, 38);
    assert_number("n_estimated", turns.n_estimated, 38);
    static const int begins[] = {0, 0, 2, 4};
    for (int turn = 1; turn < 4; turn++)
        assert_number("conversation_turn_begin", conversation_turn_begin(&said, turn),
                      begins[turn]);
}
END_TEST

START_TEST(summaries_and_answers_without_questions_are_turns_too) {
    conversation_add(&said, "assistant", "Welcome.", NULL);
    conversation_add(&said, "user", "In short: ...", NULL);
    conversation_add(&said, "user", "Hi", NULL);
    conversation_add(&said, "assistant", "Hello", NULL);
    conversation_turns_init(&turns, "", &said, "And now?", &scale, NULL);
    assert_turns("turns", (const int64_t[]){0, 7, 8, 11, 7}, 5);
    assert_number("before turn 1", conversation_turn_begin(&said, 1), 0);
    assert_number("before turn 2", conversation_turn_begin(&said, 2), 1);
    assert_number("before turn 3", conversation_turn_begin(&said, 3), 2);
    assert_number("before the question", conversation_turn_begin(&said, 4), 4);
}
END_TEST

static const struct {
    const char *name;
    int64_t n_estimated, n_told, want; // of 10 tokens
} scales[] = {
    {"nothing told",         0,   0,         10 },
    {"the same",             70,  70,        10 },
    {"a tenth more, up",     100, 101,       11 },
    {"half",                 100, 50,        5  },
    {"a mistake, far above", 1,   INT64_MAX, 160},
    {"a mistake, far below", 999, 1,         1  },
};

START_TEST(the_estimate_is_set_right_by_what_was_told) {
    scale.n_estimated = scales[_i].n_estimated;
    scale.n_told = scales[_i].n_told;
    conversation_turns_init(&turns, "", &said, "12345678901234567890", &scale, NULL);
    assert_turns(scales[_i].name, (const int64_t[]){0, scales[_i].want}, 2);
    assert_number(scales[_i].name, turns.n_estimated, 10);
}
END_TEST

START_TEST(without_memory_there_are_no_turns) {
    memory_fail_after(0);
    enum status st = conversation_turns_init(&turns, "", &said, "Hi", &scale, NULL);
    memory_fail_after(-1);
    assert_status("conversation_turns_init", st, ERR_MEMORY);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/conversation_turns");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_question_and_its_answer_are_a_turn);
    tcase_add_test(reference, summaries_and_answers_without_questions_are_turns_too);
    tcase_add_loop_test(reference, the_estimate_is_set_right_by_what_was_told, 0,
                        sizeof(scales) / sizeof(scales[0]));
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, without_memory_there_are_no_turns);
    suite_add_tcase(s, failures);
    return s;
}
