// The body of a chat request: what it says, and what it leaves out.
#include "level1-user/request.h"

#include <stdlib.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct error err;

START_TEST(a_request_says_only_what_was_asked_for) {
    static const struct chat_message messages[] = {
        {"system", "Be \"brief\""},
        {"user",   "Hi\n"        }
    };
    struct chat_request r = {.model = "m", .messages = messages, .n_messages = 2};
    char *body = NULL;

    ck_assert_int_eq(chat_request_body(&body, &r, &err), OK);
    ck_assert_str_eq(body,
                     "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":"
                     "\"Be \\\"brief\\\"\"},{\"role\":\"user\",\"content\":\"Hi\\n\"}],"
                     "\"stream\":false}");
    free(body);

    r = (struct chat_request){.model = "m",
                              .messages = messages,
                              .n_messages = 0,
                              .max_tokens = 5,
                              .has_temperature = true,
                              .temperature = 0.5,
                              .has_seed = true,
                              .seed = 7,
                              .stream = true};
    ck_assert_int_eq(chat_request_body(&body, &r, &err), OK);
    ck_assert_str_eq(body,
                     "{\"model\":\"m\",\"messages\":[],\"stream\":true,\"stream_options\":"
                     "{\"include_usage\":true},\"max_tokens\":5,\"temperature\":0.5,"
                     "\"seed\":7}");
    free(body);
}
END_TEST

START_TEST(a_bound_goes_by_one_name_only) {
    struct chat_request r = {.model = "m", .max_tokens = 5, .is_completion_bound = true};
    char *body = NULL;

    assert_status("chat_request_body", chat_request_body(&body, &r, &err), OK);
    assert_text("the body", body,
                "{\"model\":\"m\",\"messages\":[],\"stream\":false,"
                "\"max_completion_tokens\":5}");
    free(body);
}
END_TEST

START_TEST(a_text_that_is_not_utf8_is_refused) {
    static const struct chat_message messages[] = {
        {"user", "\xff"}
    };
    struct chat_request r = {.model = "m", .messages = messages, .n_messages = 1};
    char *body = NULL;
    ck_assert_int_eq(chat_request_body(&body, &r, &err), ERR_INPUT);
    ck_assert_ptr_null(body);
    ck_assert_str_eq(err.text, "the text of the user is not UTF-8");
}
END_TEST

START_TEST(every_failed_allocation_of_a_request_is_an_error) {
    static const struct chat_message messages[] = {
        {"system", "a"},
        {"user",   "b"}
    };
    struct chat_request r = {.model = "m",
                             .messages = messages,
                             .n_messages = 2,
                             .max_tokens = 1,
                             .has_seed = true,
                             .stream = true};
    char *body = NULL;
    int n = 0;
    for (;; n++) {
        err = (struct error){0};
        memory_fail_after(n);
        enum status st = chat_request_body(&body, &r, &err);
        memory_fail_after(-1);
        if (st == OK) break;
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_ptr_null(body);
    }
    ck_assert_int_ge(n, 10);
    free(body);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/request");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, a_request_says_only_what_was_asked_for);
    tcase_add_test(reference, a_bound_goes_by_one_name_only);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_text_that_is_not_utf8_is_refused);
    tcase_add_test(failures, every_failed_allocation_of_a_request_is_an_error);
    suite_add_tcase(s, failures);
    return s;
}
