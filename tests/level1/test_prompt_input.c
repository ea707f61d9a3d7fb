// What may not be a prompt: limits to the byte, and requests that cannot be compared. The exercise's own
// suite has the rest.
#include "level1-user/prompt_input.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/suite.h"

START_TEST(texts_together_may_fill_a_body_and_not_more) {
    char *text = malloc(LIMIT_BODY_BYTES + 1);
    struct error err = {0};
    ck_assert_ptr_nonnull(text);
    memset(text, 'x', LIMIT_BODY_BYTES);
    text[LIMIT_BODY_BYTES] = '\0';

    const struct prompt_part part = {"rules", "system", PROMPT_NEVER, text + 3};
    const struct chat_message turn = {"user", "ab"};
    struct prompt_input in = {&part, 1, &turn, 1, "c"};
    ck_assert_int_eq(prompt_input_check(&in, &err), OK);
    in.question = "cd";
    ck_assert_int_eq(prompt_input_check(&in, &err), ERR_LIMIT);
    ck_assert_str_eq(err.text, "the prompt has 8388609 bytes, above 8388608");
    free(text);
}
END_TEST

START_TEST(room_is_counted_for_every_text) {
    const struct prompt_part parts[] = {
        {"rules", "system", PROMPT_NEVER,    "abc"},
        {"clock", "user",   PROMPT_PER_TURN, ""   },
    };
    const struct chat_message turn = {"user", "de"};
    struct prompt_input in = {parts, 2, &turn, 1, "f"};
    ck_assert_uint_eq(prompt_input_texts(&in), 4);
    ck_assert_uint_eq(prompt_input_bytes(&in), 3 + 0 + 2 + 1 + 4 * 3);
}
END_TEST

START_TEST(a_refusal_says_what_is_wrong_and_where) {
    struct prompt_part part = {"rules", "root", PROMPT_NEVER, "a"};
    struct prompt_input in = {&part, 1, NULL, 0, "q"}, other = {.question = "q"};
    struct error err = {0};
    ck_assert_int_eq(prompt_input_check(&in, &err), ERR_INPUT);
    ck_assert_str_eq(err.text, "rules: the role root is not system, user or assistant");

    part.role = "user";
    ck_assert_int_eq(prompt_input_check_pair(&in, &other, PROMPT_NEVER, &err), ERR_INPUT);
    ck_assert_str_eq(err.text, "1 parts before, and now 0");

    const struct prompt_part renamed = {"tools", "user", PROMPT_NEVER, "a"};
    other = (struct prompt_input){&renamed, 1, NULL, 0, "q"};
    ck_assert_int_eq(prompt_input_check_pair(&in, &other, PROMPT_NEVER, &err), ERR_INPUT);
    ck_assert_str_eq(err.text, "part 0 is tools now and was rules, or its role or its "
                               "change is another");
    ck_assert_int_eq(prompt_input_check_pair(&in, &in, PROMPT_PER_CONVERSATION, NULL), OK);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/prompt_input");
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, texts_together_may_fill_a_body_and_not_more);
    tcase_add_test(edges, room_is_counted_for_every_text);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_refusal_says_what_is_wrong_and_where);
    suite_add_tcase(s, failures);
    return s;
}
