// The reply: what chunks add up to, and what a server may send instead of them. JSON stands here with
// ' for ", so that it can be read.
#include "level1-user/reply.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/reply_deal.h"
#include "tests/support/reply_rig.h"
#include "tests/support/suite.h"

// ---- choices: worked example --------------------------------------------------------------------

// clang-format off
static const struct {
    const char *chunk;
    int64_t now_ns;
    const char *texts[2]; // of choices 0 and 1, NULL: there is none
    int64_t first_ns, last_ns;
} steps[] = {
    {"{'choices':[{'index':0,'delta':{'role':'assistant','content':''}}]}",
     100, {"", NULL}, 0, 0},
    {"{'choices':[{'index':0,'delta':{'content':'Hel'}}]}",
     170, {"Hel", NULL}, 170, 170},
    {"{'choices':[{'index':1,'delta':{'content':'Hi'}},{'index':0,'delta':{'content':'lo'}}]}",
     190, {"Hello", "Hi"}, 170, 190},
    {"{'choices':[{'index':0,'delta':{},'finish_reason':'stop'}]}",
     200, {"Hello", "Hi"}, 170, 190},
};
// clang-format on

static void take_steps(void) {
    for (int i = 0; i < 4; i++) {
        assert_returned(push_at(steps[i].chunk, steps[i].now_ns), OK);
        assert_number(after("n_choices"), reply.n_choices, steps[i].texts[1] ? 2 : 1);
        for (int c = 0; c < reply.n_choices; c++) {
            assert_choice(c, steps[i].texts[c], c == 0 && i == 3 ? "stop" : "");
        }
        assert_times(steps[i].first_ns, steps[i].last_ns);
    }
    assert_number(after("n_bytes"), (int64_t)reply.n_bytes, 7);
}

START_TEST(worked_example) {
    take_steps();
}
END_TEST

// ---- choices: reference -------------------------------------------------------------------------

START_TEST(choices_may_come_in_any_order) {
    push("{'choices':[{'index':2,'delta':{'content':'c'}}]}");
    push("{'choices':[{'index':0,'delta':{'content':'a'}},"
         "{'index':2,'delta':{'content':'C'},'finish_reason':'length'}]}");
    assert_number(after("n_choices"), reply.n_choices, 3);
    assert_choice(0, "a", "");
    assert_choice(1, "", "");
    assert_choice(2, "cC", "length");
}
END_TEST

START_TEST(a_whole_answer_is_done_at_once) {
    assert_returned(whole_at("{'id':'x','choices':[]}", 4), ERR_FORMAT);
    assert_number(after("is_done"), reply.is_done, 0);
    assert_returned(whole_at("{'id':'x','model':'m','choices':[{'index':0,'message':"
                             "{'role':'assistant','content':'Hi','refusal':null},"
                             "'finish_reason':'stop'}]}",
                             5),
                    OK);
    assert_choice(0, "Hi", "stop");
    assert_times(5, 5);
    assert_number(after("is_done"), reply.is_done, 1);
    assert_text(after("id"), reply.id, "x");
    assert_text(after("model"), reply.model, "m");
}
END_TEST

START_TEST(a_refusal_is_kept_apart_from_the_text) {
    assert_returned(push_at("{'choices':[{'index':0,'delta':{'refusal':'I can'}}]}", 7),
                    OK);
    assert_returned(
        push_at("{'choices':[{'index':0,'delta':{'refusal':'not','content':null}}]}", 9),
        OK);
    assert_choice(0, "", "");
    assert_text(after("choices[0].refusal"), text_string(&reply.choices[0].refusal),
                "I cannot");
    assert_times(7, 9);
    assert_number(after("n_bytes"), (int64_t)reply.n_bytes, 8);
}
END_TEST

START_TEST(a_finish_reason_stays_until_another_is_told) {
    push("{'choices':[{'index':0,'delta':{'content':'a'},'finish_reason':'length'}]}");
    push("{'choices':[{'index':0,'delta':{},'finish_reason':null}]}");
    assert_choice(0, "a", "length");
    push("{'choices':[{'index':0}]}");
    assert_choice(0, "a", "length");
    push("{'choices':[{'finish_reason':'0123456789012345678901234567890123456789'}]}");
    assert_choice(0, "a", "0123456789012345678901234567890"); // 31 bytes and the NUL
}
END_TEST

// ---- choices: edges -----------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *chunk;
    const char *text;
    int n_choices;
} harmless[] = {
    {"{'choices':[]}", "", 0},
    {"{'choices':[{'index':0,'delta':{'content':null}}]}", "", 1},
    {"{'choices':[{'index':0,'delta':{'content':''}}]}", "", 1},
    {"{'choices':[{'index':0,'delta':null}]}", "", 1},
    {"{'choices':[{'index':0,'finish_reason':null}]}", "", 1},
    {"{'choices':[{'delta':{'content':'a'}},{'delta':{'content':'b'}}]}", "a", 2},
    {"{'choices':[{'index':null,'delta':{'content':'a'}}]}", "a", 1},
    {"{'error':null,'usage':null,'choices':[{'index':0,'delta':{'content':'a'}}]}", "a", 1},
    {"{'x':{'y':[1]},'choices':[{'index':0,'z':1,'delta':"
     "{'content':'a','reasoning_content':'b'}}]}", "a", 1},
    {"{'choices':[{'index':127,'delta':{}}]}", "", 128},
};
// clang-format on

START_TEST(absent_and_null_fields_are_harmless) {
    push(harmless[_i].chunk);
    assert_text(after("reply_text()"), reply_text(&reply), harmless[_i].text);
    assert_number(after("n_choices"), reply.n_choices, harmless[_i].n_choices);
    assert_number(after("first_token_ns"), reply.first_token_ns, *harmless[_i].text != 0);
    assert_number(after("has_error"), reply.has_error, 0);
    push("{'choices':[{'index':0,'delta':{'content':'b'}}]}");
    assert_number(after("choices[0].text.n"), (int64_t)reply.choices[0].text.n,
                  (int64_t)strlen(harmless[_i].text) + 1);
}
END_TEST

START_TEST(a_nul_in_the_text_is_a_byte_like_any_other) {
    push("{'choices':[{'index':0,'delta':{'content':'a\\u0000b'}}]}");
    assert_number(after("choices[0].text.n"), (int64_t)reply.choices[0].text.n, 3);
    assert_number(after("choices[0].text.bytes[1]"), reply.choices[0].text.bytes[1], 0);
    assert_text(after("choices[0].text.bytes + 2"), reply.choices[0].text.bytes + 2, "b");
}
END_TEST

// ---- choices: failures --------------------------------------------------------------------------

// clang-format off
static const char *const no_chunks[] = {
    "", "hello", "[]", "{}", "[DONE", "{'choices':{}}", "{'choices':null}",
    "{'choices':[],'choices':[]}",                             // a key twice
    "{'choices':[{'index':0,'delta':{'content':'\\ud83d'}}]}", // half a surrogate pair
    "{'choices':[{'index':0,'delta':{'content':'\xff'}}]}",    // no UTF-8
    NULL,
};
static const char *const wrong_types[] = {
    "{'choices':[7]}",
    "{'choices':[null]}",
    "{'choices':[{'index':0,'delta':7}]}",
    "{'choices':[{'index':0,'delta':'a'}]}",
    "{'choices':[{'index':'0','delta':{'content':'a'}}]}",
    "{'choices':[{'index':0.5,'delta':{'content':'a'}}]}",
    "{'choices':[{'index':0,'delta':{'content':7}}]}",
    "{'choices':[{'index':0,'delta':{'content':[]}}]}",
    "{'choices':[{'index':0,'delta':{'refusal':true}}]}",
    "{'choices':[{'index':0,'finish_reason':3}]}",
    "{'id':1,'choices':[]}",
    NULL,
};
static const char *const out_of_range[] = {
    "{'choices':[{'index':128,'delta':{'content':'a'}}]}",
    "{'choices':[{'index':-1,'delta':{'content':'a'}}]}",
    "{'choices':[{'index':4294967296,'delta':{'content':'a'}}]}",
    "{'choices':[{'index':9223372036854775807}]}",
    NULL,
};
// clang-format on

static void assert_refused(const char *const *chunks, enum status want) {
    push("{'choices':[{'index':0,'delta':{'content':'so far'}}]}");
    for (; *chunks; chunks++) {
        err = (struct error){0};
        assert_returned(push_at(*chunks, 2), want);
        assert_text(after("err.code"), status_name(err.code), status_name(want));
        assert_number(after("err.text is a sentence"), err.text[0] != '\0', 1);
        assert_choice(0, "so far", "");
        assert_times(1, 1);
        assert_number(after("n_bytes"), (int64_t)reply.n_bytes, 6);
    }
}

START_TEST(what_is_not_a_chunk_is_refused_and_the_text_stays) {
    assert_refused(no_chunks, ERR_FORMAT);
}
END_TEST

START_TEST(a_field_of_a_wrong_type_is_refused) {
    assert_refused(wrong_types, ERR_FORMAT);
}
END_TEST

START_TEST(an_index_out_of_range_is_refused) {
    assert_refused(out_of_range, ERR_LIMIT);
}
END_TEST

START_TEST(every_cut_of_a_chunk_is_refused) {
    size_t n_whole = quote("{'id':'x','choices':[{'index':1,'delta':{'content':'\\u00e9'},"
                           "'finish_reason':null}]}");
    for (size_t n = 0; n < n_whole; n++) {
        enum status st = reply_push(&reply, json, n, 1, &err);
        char name[64];
        snprintf(name, sizeof(name), "reply_push(the first %zu bytes of a chunk)", n);
        assert_text(name, status_name(st), "format");
        assert_number("n_choices", reply.n_choices, 0);
    }
    assert_returned(reply_push(&reply, json, n_whole, 1, &err), OK);
    assert_choice(1, "\xc3\xa9", "");
}
END_TEST

START_TEST(an_answer_above_the_limit_is_refused) {
    reply.n_bytes = LIMIT_REPLY_BYTES - 3; // as if so much had come before
    push("{'choices':[{'index':0,'delta':{'content':'ab','refusal':'c'}}]}");
    assert_number(after("n_bytes"), (int64_t)reply.n_bytes, LIMIT_REPLY_BYTES);
    assert_returned(push_at("{'choices':[{'index':1,'delta':{'content':'y'}}]}", 1),
                    ERR_LIMIT);
    assert_number(after("n_bytes"), (int64_t)reply.n_bytes, LIMIT_REPLY_BYTES);
    assert_choice(0, "ab", "");
    reply.n_bytes = LIMIT_REPLY_BYTES - 3;
    assert_returned(push_at("{'choices':[{'index':0,'delta':{'content':'wxyz'}}]}", 1),
                    ERR_LIMIT);
    assert_choice(0, "ab", "");
}
END_TEST

START_TEST(every_failed_allocation_is_an_error_and_adds_no_text) {
    enum status st = ERR_MEMORY;
    size_t n_json = quote("{'id':'x','choices':[{'index':0,'delta':{'content':'abc'}}]}");
    int n = 0;
    for (; st != OK && n < 200; n++) {
        reply_free(&reply);
        err = (struct error){0};
        memory_fail_after(n);
        st = reply_push(&reply, json, n_json, 1, &err);
        memory_fail_after(-1);
        if (st == OK) break;
        // Jansson blames the text now and then, and then it gives a reason.
        if (!strstr(err.text, "is no JSON: ")) assert_returned(st, ERR_MEMORY);
        assert_number(after("n_bytes, without memory"), (int64_t)reply.n_bytes, 0);
    }
    assert_number("an allocation failed at all", n > 0, 1);
    assert_choice(0, "abc", "");
}
END_TEST

// ---- choices: property --------------------------------------------------------------------------

START_TEST(texts_dealt_out_to_choices_in_any_order_come_together) {
    struct draw d = draw_start("texts_dealt_out_to_choices");
    for (int round = 0; round < 60; round++) {
        struct dealt want = {0};
        for (int i = draw_int(&d, 1, 3 + round / 2); i > 0; i--) deal_chunk(&want, &d);
        for (int c = 0; c < DEALT_CHOICES; c++) {
            if (c < reply.n_choices) assert_choice(c, want.texts[c], "");
            if (c >= reply.n_choices) assert_text("text of no choice", "", want.texts[c]);
        }
        assert_times(want.first_ns, want.last_ns);
        assert_number(after("n_bytes"), (int64_t)reply.n_bytes, want.n_bytes);
        reply_free(&reply);
    }
}
END_TEST

// ---- usage --------------------------------------------------------------------------------------

START_TEST(a_chunk_without_choices_tells_the_usage) { // CLI-07
    push("{'choices':[],'usage':{'prompt_tokens':9,'completion_tokens':2,"
         "'total_tokens':11,'prompt_tokens_details':{'cached_tokens':4}}}");
    assert_told(9, 4, 2);
    assert_text(after("reply_text()"), reply_text(&reply), "");
    assert_number(after("n_choices"), reply.n_choices, 0);
    assert_times(0, 0);
}
END_TEST

START_TEST(usage_told_once_is_not_forgotten) {
    push("{'choices':[],'usage':{'prompt_tokens':9,'completion_tokens':0}}");
    assert_told(9, -1, 0);
    push("{'choices':[],'usage':null}");
    assert_told(9, -1, 0);
    push("{'choices':null,'usage':{}}");
    assert_told(9, -1, 0);
    push("{'usage':{'completion_tokens':5,'prompt_tokens':null}}");
    assert_told(9, -1, 5);
    push("{'choices':[],'usage':{'completion_tokens':5,'prompt_tokens':12}}");
    assert_told(12, -1, 5);
}
END_TEST

START_TEST(what_is_no_count_leaves_the_count_alone) {
    static const char *const no_counts[] = {"'9'",  "-2",  "1.5", "true",
                                            "null", "[9]", "{}"};
    char chunk[256];
    for (int told = 0; told < 2; told++) { // nothing told before, then something
        for (int i = 0; i < 7; i++) {
            const char *x = no_counts[i];
            snprintf(chunk, sizeof(chunk),
                     "{'choices':[],'usage':{'prompt_tokens':%s,'completion_tokens':%s,"
                     "'prompt_tokens_details':%s}}",
                     x, x, i % 2 ? x : "{'cached_tokens':-1}");
            push(chunk);
            assert_told(told ? 7 : -1, told ? 8 : -1, told ? 6 : -1);
        }
        push("{'choices':[],'usage':{'prompt_tokens':7,'completion_tokens':6,"
             "'prompt_tokens_details':{'cached_tokens':8}}}");
    }
}
END_TEST

START_TEST(the_latest_count_takes_the_place_of_the_one_before) {
    struct draw d = draw_start("the_latest_count");
    int64_t prompt = -1, cached = -1, completion = -1;
    for (int round = 0; round < 50; round++) {
        char chunk[256];
        int64_t n = (int64_t)(draw_u64(&d) >> draw_int(&d, 1, 62));
        int field = draw_int(&d, 0, 2);
        snprintf(chunk, sizeof(chunk),
                 field == 2   ? "{'choices':[],'usage':{'prompt_tokens_details':"
                                "{'audio_tokens':1,'cached_tokens':%lld}}}"
                 : field == 1 ? "{'choices':[],'usage':{'completion_tokens':%lld}}"
                              : "{'choices':[],'usage':{'prompt_tokens':%lld}}",
                 (long long)n);
        *(field == 2 ? &cached : field == 1 ? &completion : &prompt) = n;
        push(chunk);
        assert_told(prompt, cached, completion);
    }
}
END_TEST

// ---- error --------------------------------------------------------------------------------------

// clang-format off
static const struct {
    const char *data, *message;
} errors[] = {
    {"{'error':{'message':'too hot','type':'server_error','param':null,'code':'x'}}", "too hot"},
    {"{'error':'too hot'}", "too hot"},
    {"{'error':{'code':7}}", "no reason given"},
    {"{'error':{'message':null}}", "no reason given"},
    {"{'error':{'message':{'text':'hot'}}}", "no reason given"},
    {"{'error':503}", "no reason given"},
    {"{'choices':[{'index':0}],'error':{'message':'too hot'}}", "too hot"},
};
// clang-format on

START_TEST(an_error_object_is_recognised) {
    for (int whole = 0; whole < 2; whole++) {
        enum status st = whole ? whole_at(errors[_i].data, 1) : push_at(errors[_i].data, 1);
        assert_returned(st, OK);
        assert_error(errors[_i].message);
        assert_number(after("n_choices"), reply.n_choices, 0);
        assert_number(after("err.code is left alone"), err.code, OK);
        reply_free(&reply);
    }
}
END_TEST

START_TEST(an_error_message_of_any_length_is_kept_or_cut) {
    struct draw d = draw_start("an_error_message_of_any_length");
    for (int round = 0; round < 40; round++) {
        char chunk[1200], message[1001] = "";
        int n = round == 0 ? 511 : round == 1 ? 512 : draw_int(&d, 1, 1000);
        for (int i = 0; i < n; i++) message[i] = (char)draw_int(&d, 'a', 'z');
        snprintf(chunk, sizeof(chunk),
                 round % 2 ? "{'error':'%s'}" : "{'error':{'message':'%s'}}", message);
        push(chunk);
        message[511] = '\0'; // error_message has 512 bytes
        assert_error(message);
        reply_free(&reply);
    }
}
END_TEST

// ---- whole: choices, usage and error together ---------------------------------------------------

START_TEST(worked_example_to_its_end) {
    take_steps();
    assert_returned(push_at("{'id':'chatcmpl-1','model':'m','choices':[],'usage':"
                            "{'prompt_tokens':9,'completion_tokens':2}}",
                            210),
                    OK);
    assert_told(9, -1, 2);
    assert_choice(0, "Hello", "stop");
    assert_times(170, 190);
    assert_number(after("is_done"), reply.is_done, 0);
    push("[DONE]");
    assert_number(after("is_done"), reply.is_done, 1);
    assert_number(after("has_error"), reply.has_error, 0);
    assert_text(after("id"), reply.id, "chatcmpl-1");
    assert_text(after("model"), reply.model, "m");
}
END_TEST

START_TEST(an_error_in_the_middle_keeps_what_came_before) {
    push("{'choices':[{'index':0,'delta':{'content':'so far'}}],"
         "'usage':{'prompt_tokens':3}}");
    push("{'error':{'message':'too hot'},'choices':[{'index':0,'delta':{'content':'!'}}],"
         "'usage':{'prompt_tokens':4}}");
    assert_error("too hot");
    assert_choice(0, "so far", "");
    assert_told(3, -1, -1);
}
END_TEST

// ------------------------------------------------------------------------------------------------

static TCase *tcase(Suite *s, const char *tcase_name) {
    TCase *tc = tcase_in(s, tcase_name);
    tcase_add_checked_fixture(tc, reply_rig_open, reply_rig_close);
    return tc;
}

Suite *suite(void) {
    Suite *s = suite_create("level1/reply");
    TCase *tc = tcase(s, "choices worked example");
    tcase_add_test(tc, worked_example);

    tc = tcase(s, "choices reference");
    tcase_add_test(tc, choices_may_come_in_any_order);
    tcase_add_test(tc, a_whole_answer_is_done_at_once);
    tcase_add_test(tc, a_refusal_is_kept_apart_from_the_text);
    tcase_add_test(tc, a_finish_reason_stays_until_another_is_told);

    tc = tcase(s, "choices edges");
    tcase_add_loop_test(tc, absent_and_null_fields_are_harmless, 0, ROWS(harmless));
    tcase_add_test(tc, a_nul_in_the_text_is_a_byte_like_any_other);

    tc = tcase(s, "choices failures");
    tcase_add_test(tc, what_is_not_a_chunk_is_refused_and_the_text_stays);
    tcase_add_test(tc, a_field_of_a_wrong_type_is_refused);
    tcase_add_test(tc, an_index_out_of_range_is_refused);
    tcase_add_test(tc, every_cut_of_a_chunk_is_refused);
    tcase_add_test(tc, an_answer_above_the_limit_is_refused);
    tcase_add_test(tc, every_failed_allocation_is_an_error_and_adds_no_text);

    tc = tcase(s, "choices property");
    tcase_add_test(tc, texts_dealt_out_to_choices_in_any_order_come_together);

    tc = tcase(s, "usage");
    tcase_add_test(tc, a_chunk_without_choices_tells_the_usage);
    tcase_add_test(tc, usage_told_once_is_not_forgotten);
    tcase_add_test(tc, what_is_no_count_leaves_the_count_alone);
    tcase_add_test(tc, the_latest_count_takes_the_place_of_the_one_before);

    tc = tcase(s, "error");
    tcase_add_loop_test(tc, an_error_object_is_recognised, 0, ROWS(errors));
    tcase_add_test(tc, an_error_message_of_any_length_is_kept_or_cut);

    tc = tcase(s, "whole");
    tcase_add_test(tc, worked_example_to_its_end);
    tcase_add_test(tc, an_error_in_the_middle_keeps_what_came_before);
    return s;
}
