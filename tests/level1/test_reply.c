// The reply: what chunks add up to, and what a server may send instead of them.
#include "level1-user/reply.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static struct reply reply;
static struct error err;

static void setup(void) {
    reply_init(&reply);
    memset(&err, 0, sizeof(err));
}

static void teardown(void) {
    reply_free(&reply);
}

static enum status push_at(const char *data, int64_t now_ns) {
    return reply_push(&reply, data, strlen(data), now_ns, &err);
}

static void push(const char *data) {
    ck_assert_msg(push_at(data, 1) == OK, "%s: %s", data, err.text);
}

// ---- reference ---------------------------------------------------------------------------------

START_TEST(a_usual_stream_adds_up) {
    push("{\"id\":\"chatcmpl-1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":"
         "{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}],\"usage\":"
         "null}");
    ck_assert_int_eq(reply.first_token_ns, 0); // an empty piece is no text
    ck_assert_int_eq(
        push_at("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}", 70), OK);
    ck_assert_int_eq(
        push_at("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}", 90), OK);
    push("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}");
    push("{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,"
         "\"total_tokens\":11,\"prompt_tokens_details\":{\"cached_tokens\":4}}}");
    ck_assert(!reply.is_done);
    push("[DONE]");

    ck_assert(reply.is_done && !reply.has_error);
    ck_assert_str_eq(reply_text(&reply), "Hello");
    ck_assert_str_eq(reply.choices[0].finish_reason, "stop");
    ck_assert_str_eq(reply.id, "chatcmpl-1");
    ck_assert_str_eq(reply.model, "m");
    ck_assert_int_eq(reply.usage.prompt_tokens, 9);
    ck_assert_int_eq(reply.usage.cached_tokens, 4);
    ck_assert_int_eq(reply.usage.completion_tokens, 2);
    ck_assert_int_eq(reply.first_token_ns, 70);
    ck_assert_int_eq(reply.last_token_ns, 90);
    ck_assert_uint_eq(reply.n_bytes, 5);
}
END_TEST

START_TEST(choices_may_come_in_any_order) {
    push("{\"choices\":[{\"index\":2,\"delta\":{\"content\":\"c\"}}]}");
    push("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}},"
         "{\"index\":2,\"delta\":{\"content\":\"C\"},\"finish_reason\":\"length\"}]}");
    ck_assert_int_eq(reply.n_choices, 3);
    ck_assert_str_eq(text_string(&reply.choices[0].text), "a");
    ck_assert_str_eq(text_string(&reply.choices[1].text), "");
    ck_assert_str_eq(text_string(&reply.choices[2].text), "cC");
    ck_assert_str_eq(reply.choices[0].finish_reason, "");
    ck_assert_str_eq(reply.choices[2].finish_reason, "length");
}
END_TEST

START_TEST(a_whole_answer_is_done_at_once) {
    static const char body[] =
        "{\"id\":\"x\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\","
        "\"content\":\"Hi\",\"refusal\":null},\"finish_reason\":\"stop\"}],"
        "\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}";
    ck_assert_int_eq(reply_whole(&reply, body, strlen(body), 5, &err), OK);
    ck_assert(reply.is_done);
    ck_assert_str_eq(reply_text(&reply), "Hi");
    ck_assert_str_eq(reply.choices[0].finish_reason, "stop");
    ck_assert_int_eq(reply.usage.prompt_tokens, 3);
    ck_assert_int_eq(reply.usage.cached_tokens, -1);
}
END_TEST

// ---- edges -------------------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *name, *chunk;
    const char *text;
    int n_choices;
} harmless[] = {
    {"CLI-07 no choices but usage", "{\"choices\":[],\"usage\":{\"prompt_tokens\":1}}", "",
     0},
    {"null content", "{\"choices\":[{\"index\":0,\"delta\":{\"content\":null}}]}", "", 1},
    {"null delta", "{\"choices\":[{\"index\":0,\"delta\":null}]}", "", 1},
    {"no delta", "{\"choices\":[{\"index\":0,\"finish_reason\":\"stop\"}]}", "", 1},
    {"no index", "{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}", "a", 1},
    {"null error",
     "{\"error\":null,\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}", "a", 1},
    {"unknown fields",
     "{\"x\":{\"y\":[1]},\"choices\":[{\"index\":0,\"z\":1,\"delta\":"
     "{\"content\":\"a\",\"reasoning_content\":\"b\"}}]}",
     "a", 1},
    {"usage without numbers",
     "{\"choices\":[],\"usage\":{\"prompt_tokens\":\"9\","
     "\"completion_tokens\":-2,\"prompt_tokens_details\":null}}",
     "", 0},
    {"the last choice there may be", "{\"choices\":[{\"index\":127,\"delta\":{}}]}", "",
     128},
};
// clang-format on
enum { N_HARMLESS = sizeof(harmless) / sizeof(harmless[0]) };

START_TEST(absent_and_null_fields_are_harmless) {
    push(harmless[_i].chunk);
    ck_assert_msg(strcmp(reply_text(&reply), harmless[_i].text) == 0, "%s: text is \"%s\"",
                  harmless[_i].name, reply_text(&reply));
    ck_assert_msg(reply.n_choices == harmless[_i].n_choices, "%s: %d choices",
                  harmless[_i].name, reply.n_choices);
    ck_assert(!reply.has_error);
    ck_assert_int_eq(reply.usage.completion_tokens, -1);
}
END_TEST

START_TEST(usage_told_once_is_not_forgotten) {
    push("{\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":0}}");
    push("{\"choices\":[],\"usage\":null}");
    ck_assert_int_eq(reply.usage.prompt_tokens, 9);
    ck_assert_int_eq(reply.usage.completion_tokens, 0);
}
END_TEST

START_TEST(a_refusal_is_kept_apart_from_the_text) {
    push("{\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"I can\"}}]}");
    push("{\"choices\":[{\"index\":0,\"delta\":{\"refusal\":\"not\",\"content\":null}}]}");
    ck_assert_str_eq(text_string(&reply.choices[0].refusal), "I cannot");
    ck_assert_str_eq(reply_text(&reply), "");
}
END_TEST

START_TEST(a_nul_in_the_text_is_a_byte_like_any_other) {
    push("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\u0000b\"}}]}");
    ck_assert_uint_eq(reply.choices[0].text.n, 3);
    ck_assert_mem_eq(reply.choices[0].text.bytes, "a\0b", 4);
}
END_TEST

// clang-format off
static const struct {
    const char *name, *data, *message;
} errors[] = {
    {"OpenAI",
     "{\"error\":{\"message\":\"too hot\",\"type\":\"server_error\",\"param\":null,"
     "\"code\":\"x\"}}",
     "too hot"},
    {"a string", "{\"error\":\"too hot\"}", "too hot"},
    {"no message", "{\"error\":{\"code\":7}}", "no reason given"},
    {"beside choices", "{\"choices\":[],\"error\":{\"message\":\"too hot\"}}", "too hot"},
};
// clang-format on
enum { N_ERRORS = sizeof(errors) / sizeof(errors[0]) };

START_TEST(an_error_object_is_recognised_and_the_text_stays) {
    push("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so far\"}}]}");
    push(errors[_i].data);
    ck_assert_msg(reply.has_error, "%s", errors[_i].name);
    ck_assert_str_eq(reply.error_message, errors[_i].message);
    ck_assert_str_eq(reply_text(&reply), "so far");
    ck_assert(!reply.is_done);
}
END_TEST

START_TEST(an_error_in_place_of_a_whole_answer_is_not_done) {
    ck_assert_int_eq(reply_whole(&reply, errors[_i].data, strlen(errors[_i].data), 1, &err),
                     OK);
    ck_assert(reply.has_error && !reply.is_done);
}
END_TEST

// ---- failures ----------------------------------------------------------------------------------

static const struct {
    const char *data;
    enum status want;
} wrong[] = {
    {"",                                                                  ERR_FORMAT},
    {"hello",                                                             ERR_FORMAT},
    {"[]",                                                                ERR_FORMAT},
    {"{}",                                                                ERR_FORMAT},
    {"[DONE",                                                             ERR_FORMAT},
    {"{\"choices\":{}}",                                                  ERR_FORMAT},
    {"{\"choices\":[7]}",                                                 ERR_FORMAT},
    {"{\"choices\":[{\"index\":0,\"delta\":7}]}",                         ERR_FORMAT},
    {"{\"choices\":[{\"index\":\"0\"}]}",                                 ERR_FORMAT},
    {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":7}}]}",           ERR_FORMAT},
    {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":[]}}]}",          ERR_FORMAT},
    {"{\"choices\":[{\"index\":0,\"finish_reason\":3}]}",                 ERR_FORMAT},
    {"{\"id\":1,\"choices\":[]}",                                         ERR_FORMAT},
    {"{\"choices\":[],\"choices\":[]}",                                   ERR_FORMAT}, // a key twice
    {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ud83d\"}}]}", ERR_FORMAT},
    {"{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}",    ERR_FORMAT},
    {"{\"choices\":[{\"index\":128}]}",                                   ERR_LIMIT },
    {"{\"choices\":[{\"index\":-1}]}",                                    ERR_LIMIT },
    {"{\"choices\":[{\"index\":9223372036854775807}]}",                   ERR_LIMIT },
};
enum { N_WRONG = sizeof(wrong) / sizeof(wrong[0]) };

START_TEST(what_is_not_a_chunk_is_refused_and_the_text_stays) {
    push("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so far\"}}]}");
    enum status st = push_at(wrong[_i].data, 2);
    ck_assert_msg(st == wrong[_i].want, "%s: %s", wrong[_i].data, status_name(st));
    ck_assert_int_eq(err.code, wrong[_i].want);
    ck_assert_str_ne(err.text, "");
    ck_assert_str_eq(reply_text(&reply), "so far");
}
END_TEST

START_TEST(a_whole_answer_without_a_choice_is_refused) {
    ck_assert_int_eq(reply_whole(&reply, "{\"choices\":[]}", 14, 1, &err), ERR_FORMAT);
    ck_assert(!reply.is_done);
}
END_TEST

START_TEST(every_cut_of_a_chunk_is_refused) {
    static const char chunk[] =
        "{\"id\":\"x\",\"choices\":[{\"index\":1,\"delta\":{\"content\":"
        "\"\\u00e9\"},\"finish_reason\":null}],\"usage\":null}";
    for (size_t n = 0; n < sizeof(chunk) - 1; n++) {
        ck_assert_int_eq(reply_push(&reply, chunk, n, 1, &err), ERR_FORMAT);
        ck_assert_int_eq(reply.n_choices, 0);
    }
    ck_assert_int_eq(reply_push(&reply, chunk, sizeof(chunk) - 1, 1, &err), OK);
}
END_TEST

START_TEST(an_answer_above_the_limit_is_refused) {
    reply.n_bytes = LIMIT_REPLY_BYTES - 3; // as if so much had come before
    push("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\",\"refusal\":\"c\"}}]}");
    ck_assert_uint_eq(reply.n_bytes, LIMIT_REPLY_BYTES);
    ck_assert_int_eq(
        push_at("{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"y\"}}]}", 1),
        ERR_LIMIT);
    ck_assert_uint_eq(reply.n_bytes, LIMIT_REPLY_BYTES);
    ck_assert_str_eq(reply_text(&reply), "ab");
}
END_TEST

START_TEST(every_failed_allocation_is_an_error_and_adds_no_text) {
    static const char chunk[] = "{\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{"
                                "\"content\":\"abc\"}}],\"usage\":"
                                "{\"prompt_tokens\":9}}";
    enum status last = OK;
    int n = 0;
    for (;; n++) {
        reply_free(&reply);
        err = (struct error){0};
        memory_fail_after(n);
        enum status st = reply_push(&reply, chunk, strlen(chunk), 1, &err);
        memory_fail_after(-1);
        if (st == OK) break;
        // Jansson blames the text now and then, and then it gives a reason.
        const char *reason = strstr(err.text, "is no JSON: ");
        bool is_blamed = st == ERR_FORMAT && reason && reason[strlen("is no JSON: ")];
        ck_assert_msg(st == ERR_MEMORY || is_blamed, "%d: %s", n, err.text);
        ck_assert_uint_eq(reply.n_bytes, 0);
        last = st;
    }
    ck_assert_int_ge(n, 10);
    ck_assert_int_eq(last, ERR_MEMORY); // our own allocations come last
    ck_assert_str_eq(reply_text(&reply), "abc");
}
END_TEST

// ---- property ----------------------------------------------------------------------------------

START_TEST(texts_dealt_out_to_choices_in_any_order_come_together) {
    struct draw d = draw_start("texts_dealt_out_to_choices");
    for (int round = 0; round < 100; round++) {
        char want[5][400] = {{0}};
        size_t n_want[5] = {0};
        for (int i = draw_int(&d, 0, 60); i > 0; i--) {
            char chunk[200];
            int c = draw_int(&d, 0, 4), letter = draw_int(&d, 'a', 'z');
            snprintf(chunk, sizeof(chunk),
                     "{\"choices\":[{\"index\":%d,\"delta\":{\"content\":\"%c\"}}]}", c,
                     letter);
            push(chunk);
            want[c][n_want[c]++] = (char)letter;
        }
        for (int c = 0; c < reply.n_choices; c++) {
            ck_assert_str_eq(text_string(&reply.choices[c].text), want[c]);
        }
        for (int c = reply.n_choices; c < 5; c++) ck_assert_str_eq(want[c], "");
        reply_free(&reply);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/reply");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, a_usual_stream_adds_up);
    tcase_add_test(reference, choices_may_come_in_any_order);
    tcase_add_test(reference, a_whole_answer_is_done_at_once);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_loop_test(edges, absent_and_null_fields_are_harmless, 0, N_HARMLESS);
    tcase_add_test(edges, usage_told_once_is_not_forgotten);
    tcase_add_test(edges, a_refusal_is_kept_apart_from_the_text);
    tcase_add_test(edges, a_nul_in_the_text_is_a_byte_like_any_other);
    tcase_add_loop_test(edges, an_error_object_is_recognised_and_the_text_stays, 0,
                        N_ERRORS);
    tcase_add_loop_test(edges, an_error_in_place_of_a_whole_answer_is_not_done, 0,
                        N_ERRORS);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_loop_test(failures, what_is_not_a_chunk_is_refused_and_the_text_stays, 0,
                        N_WRONG);
    tcase_add_test(failures, a_whole_answer_without_a_choice_is_refused);
    tcase_add_test(failures, every_cut_of_a_chunk_is_refused);
    tcase_add_test(failures, an_answer_above_the_limit_is_refused);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_adds_no_text);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_test(property, texts_dealt_out_to_choices_in_any_order_come_together);
    suite_add_tcase(s, property);
    return s;
}
