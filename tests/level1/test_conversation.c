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
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_conversation_above_the_limit_is_refused);
    tcase_add_test(failures, a_failed_allocation_changes_nothing);
    suite_add_tcase(s, failures);
    return s;
}
