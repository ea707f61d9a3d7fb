// What was said so far: order, limit, and memory that fails.
#include "level1-user/conversation.h"

#include <stdio.h>

#include "common/limits.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

START_TEST(a_conversation_keeps_its_messages_in_order) {
    struct conversation c = {0};
    char text[32];
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "line %d", i); // the conversation has copies
        ck_assert_int_eq(conversation_add(&c, i % 2 ? "assistant" : "user", text, NULL),
                         OK);
    }
    ck_assert_int_eq(c.n_messages, 100);
    ck_assert_str_eq(c.messages[33].text, "line 33");
    ck_assert_str_eq(c.messages[33].role, "assistant");
    conversation_cut(&c, 34);
    ck_assert_int_eq(c.n_messages, 34);
    ck_assert_str_eq(c.messages[33].text, "line 33");
    conversation_cut(&c, 50);
    ck_assert_int_eq(c.n_messages, 34);
    conversation_free(&c);
    conversation_free(&c);
}
END_TEST

// Five messages; the first `n` go, and perhaps a text comes.
START_TEST(the_oldest_messages_go_and_a_text_may_take_their_place) {
    for (int n = 1; n <= 5; n++) {
        for (int has_text = 0; has_text <= 1; has_text++) {
            struct conversation c = {0};
            char text[2] = "a";
            for (; *text < 'f'; ++*text) conversation_add(&c, "assistant", text, NULL);
            const char *summary = has_text ? "in short" : NULL;
            assert_status("conversation_shorten",
                          conversation_shorten(&c, n, "user", summary, NULL), OK);
            assert_number("n_messages", c.n_messages, 5 - n + has_text);
            if (has_text) assert_text("messages[0].text", c.messages[0].text, "in short");
            if (has_text) assert_text("messages[0].role", c.messages[0].role, "user");
            for (int i = has_text; i < c.n_messages; i++) {
                text[0] = (char)('a' + n + i - has_text);
                assert_text("messages[i].text", c.messages[i].text, text);
            }
            assert_status("conversation_add", conversation_add(&c, "user", "and on", NULL),
                          OK);
            conversation_free(&c);
        }
    }
}
END_TEST

START_TEST(without_memory_for_the_text_nothing_goes) {
    struct conversation c = {0};
    struct error err = {0};
    conversation_add(&c, "user", "a", NULL);
    memory_fail_after(0);
    enum status st = conversation_shorten(&c, 1, "user", "in short", &err);
    memory_fail_after(-1);
    assert_status("conversation_shorten", st, ERR_MEMORY);
    assert_text("messages[0].text", c.messages[0].text, "a");
    conversation_free(&c);
}
END_TEST

START_TEST(a_conversation_above_the_limit_is_refused) {
    struct conversation c = {0};
    struct error err = {0};
    for (int i = 0; i < LIMIT_MESSAGES; i++) {
        if (conversation_add(&c, "user", "", NULL) != OK) ck_abort_msg("message %d", i);
    }
    ck_assert_int_eq(conversation_add(&c, "user", "", &err), ERR_LIMIT);
    ck_assert_str_ne(err.text, "");
    ck_assert_int_eq(c.n_messages, LIMIT_MESSAGES);
    conversation_free(&c);
}
END_TEST

START_TEST(a_failed_allocation_changes_nothing) {
    struct conversation c = {0};
    int n_failed = 0;
    while (c.n_messages < 20) { // the list grows at 8 and at 16
        int n_before = c.n_messages;
        for (int n = 0; c.n_messages == n_before; n++, n_failed++) {
            struct error err = {0};
            memory_fail_after(n);
            enum status st = conversation_add(&c, "user", "text", &err);
            memory_fail_after(-1);
            ck_assert_int_eq(st, c.n_messages == n_before ? ERR_MEMORY : OK);
            if (st != OK) ck_assert_str_ne(err.text, "");
        }
    }
    ck_assert_int_eq(n_failed - c.n_messages, 20 + 3); // each copy, and each growth
    for (int i = 0; i < c.n_messages; i++) ck_assert_str_eq(c.messages[i].text, "text");
    conversation_free(&c);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/conversation");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, a_conversation_keeps_its_messages_in_order);
    tcase_add_test(reference, the_oldest_messages_go_and_a_text_may_take_their_place);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_conversation_above_the_limit_is_refused);
    tcase_add_test(failures, a_failed_allocation_changes_nothing);
    tcase_add_test(failures, without_memory_for_the_text_nothing_goes);
    suite_add_tcase(s, failures);
    return s;
}
