// Answers from a request's bytes to the bytes of the reply, and what the engine is asked for on the way.
#include "level2-operator/api/answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/text_house.h"

// ---- stream and whole ---------------------------------------------------------------------------

static const struct {
    const char *name, *drawn, *fields, *want, *finish;
    int n_completion;
} answers[] = {
    {"plain text",                  "Hello you",                 "",                            "Hello you",          "stop",   9 },
    {"a character in four tokens",  "a\xF0\x9F\x98\x80z",        "",                            "a\xF0\x9F\x98\x80z", "stop",
     6                                                                                                                            },
    {"half a character at the end", "ab\xF0\x9F\x98\x80",        ",\"max_tokens\":5",
     "ab\xEF\xBF\xBD",                                                                                                "length", 5 },
    {"a stop string over tokens",   "The quick brown fox jumps", ",\"stop\":\"own fox\"",
     "The quick br",                                                                                                  "stop",   19},
    {"a held tail at the end",      "to the E",                  ",\"stop\":[\"END\",\"xyz\"]", "to the E",
     "stop",                                                                                                                    8 },
    {"a held tail that goes on",    "ENEND",                     ",\"stop\":\"END\"",           "EN",                 "stop",   5 },
    {"a stop string that is shown", "one two",
     ",\"stop\":\" t\",\"include_stop_str_in_output\":true",                                    "one t",              "stop",   5 },
    {"one token",                   "Hello",                     ",\"max_tokens\":1",           "H",                  "length", 1 },
    {"no token",                    "",                          "",                            "",                   "stop",   0 },
};

static void assert_answer(const struct reading *r, int row) {
    ck_assert_int_eq(r->n_choices, 1);
    ck_assert_msg(strcmp(r->text[0], answers[row].want) == 0, "%s: \"%s\"",
                  answers[row].name, r->text[0]);
    ck_assert_str_eq(r->finish[0], answers[row].finish);
    ck_assert(r->has_usage && r->n_cached == 2);
    ck_assert_int_eq((int)r->n_completion, answers[row].n_completion);
    ck_assert(r->n_prompt > 2 && r->n_total == r->n_prompt + r->n_completion);
}

START_TEST(streamed_or_whole_is_the_same_answer) {
    struct text_house h;
    static const int batches[] = {1, 3, 64};
    char body[512];

    for (int k = 0; k < 6; k++) {
        enum route route = k < 3 ? ROUTE_CHAT : ROUTE_COMPLETIONS;
        const char *head =
            k < 3 ? CHAT_HEAD
                  : "{\"model\":\"default\",\"max_tokens\":40,\"prompt\":\"Once upon\"";
        text_house_open(&h);
        text_house_script(&h, answers[_i].drawn);
        h.engine.tokens_per_poll = batches[k % 3];
        // max_tokens of the row is the newer name, so that it wins over the head's
        char fields[128];
        snprintf(fields, sizeof(fields), "%s", answers[_i].fields);
        char *old = strstr(fields, "\"max_tokens\"");
        snprintf(body, sizeof(body), "%s%.*s%s%s}", head, old ? (int)(old - fields) : 128,
                 fields, old ? "\"max_completion_tokens\"" : "", old ? old + 12 : "");
        exchange_id whole = text_house_send(&h, route, body);
        size_t n = strlen(body) - 1;
        snprintf(body + n, sizeof(body) - n,
                 ",\"stream\":true,\"stream_options\":{\"include_usage\":true}}");
        exchange_id stream = text_house_send(&h, route, body);
        text_house_run(&h);

        struct reading a = outcome_read_body(&h.outcomes[whole]),
                       b = outcome_read_stream(&h.outcomes[stream]);
        ck_assert_int_eq(h.outcomes[whole].http_status, 200);
        assert_answer(&a, _i);
        assert_answer(&b, _i);
        ck_assert(a.n_prompt == b.n_prompt);
        ck_assert_int_eq(b.n_roles, route == ROUTE_CHAT);
        for (exchange_id e = whole; e <= stream; e++) { // for the access log
            ck_assert(h.outcomes[e].n_prompt == a.n_prompt && h.outcomes[e].n_cached == 2);
            ck_assert_int_eq(h.outcomes[e].n_completion, answers[_i].n_completion);
        }
        text_house_close(&h);
    }
}
END_TEST

// Whatever bytes the model draws, the reply is JSON that says the same streamed and whole.
START_TEST(a_zero_byte_is_part_of_the_answer) {
    struct text_house h;
    text_house_open(&h);
    struct fake_script *script = text_house_script(&h, "a?b");
    h.ids[0][1] = text_house_id(&h, "", 1);
    ck_assert_int_eq(script->n_ids, 3);
    exchange_id whole = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    exchange_id stream = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
    text_house_run(&h);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[whole]).text[0], "a\x01"
                                                                    "b");
    ck_assert_str_eq(outcome_read_stream(&h.outcomes[stream]).text[0], "a\x01"
                                                                       "b");
    text_house_close(&h);
}
END_TEST

START_TEST(a_stream_without_the_wish_has_no_usage) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "Hello");
    exchange_id e = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
    text_house_run(&h);
    struct reading r = outcome_read_stream(&h.outcomes[e]);
    ck_assert(!r.has_usage);
    ck_assert_ptr_null(strstr(h.outcomes[e].bytes, "usage"));
    ck_assert_ptr_null(strstr(h.outcomes[e].bytes, "\"choices\":[]"));
    ck_assert_str_eq(r.text[0], "Hello");
    text_house_close(&h);
}
END_TEST

START_TEST(answers_are_numbered_prompt_by_prompt) {
    for (int stream = 0; stream < 2; stream++) {
        struct text_house h;
        static const char *const texts[] = {"zero", "one", "two", "three"};
        char body[256];
        text_house_open(&h);
        for (int i = 0; i < 4; i++) text_house_script(&h, texts[i]);
        snprintf(body, sizeof(body),
                 "{\"model\":\"tiny\",\"prompt\":[[7,8],[9]],\"n\":2,\"stream\":%s,"
                 "\"stream_options\":{\"include_usage\":true}}",
                 stream ? "true" : "false");
        exchange_id e = text_house_send(&h, ROUTE_COMPLETIONS, body);
        text_house_run(&h);
        struct reading r = stream ? outcome_read_stream(&h.outcomes[e])
                                  : outcome_read_body(&h.outcomes[e]);
        ck_assert_int_eq(r.n_choices, 4);
        for (int i = 0; i < 4; i++) {
            ck_assert_str_eq(r.text[i], texts[i]);
            ck_assert_int_eq(h.engine.requests[i].first_id, i < 2 ? 7 : 9);
            ck_assert_uint_eq(h.engine.requests[i].params.choice, (unsigned)i % 2);
        }
        ck_assert_int_eq((int)r.n_prompt, 3); // once per prompt
        ck_assert_int_eq((int)r.n_completion, 15);
        text_house_close(&h);
    }
}
END_TEST

START_TEST(log_probabilities_are_filled) {
    struct text_house h;
    token_id best;
    text_house_open(&h);
    best = text_house_id(&h, "J", 1);
    text_house_script(&h, "H")->best = &best; // the second-best token is drawn
    exchange_id legacy = text_house_send(
        &h, ROUTE_COMPLETIONS,
        "{\"model\":\"tiny\",\"prompt\":\"a\",\"logprobs\":2,\"max_tokens\":1}");
    exchange_id chat = text_house_send(
        &h, ROUTE_CHAT, CHAT_HEAD ",\"logprobs\":true,\"top_logprobs\":2,\"stream\":true}");
    text_house_run(&h);
    const char *bytes = h.outcomes[legacy].bytes;
    ck_assert_ptr_nonnull(strstr(bytes, "\"logprobs\":{\"tokens\":[\"H\"]"));
    ck_assert_ptr_nonnull(strstr(bytes, "\"token_logprobs\":[-1.38629436]"));
    ck_assert_ptr_nonnull(strstr(bytes, "\"J\":-0.69314718"));
    bytes = h.outcomes[chat].bytes;
    ck_assert_ptr_nonnull(strstr(bytes,
                                 "{\"token\":\"H\",\"logprob\":-1.38629436,\"bytes\":[72],"
                                 "\"top_logprobs\":[{\"token\":\"J\","));
    outcome_read_stream(&h.outcomes[chat]);
    text_house_close(&h);
}
END_TEST

// ---- what reaches the engine --------------------------------------------------------------------

START_TEST(the_rest_of_the_context_is_the_default_length) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "x");
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_send(&h, ROUTE_COMPLETIONS, "{\"model\":\"tiny\",\"prompt\":[5,6]}");
    text_house_send(&h, ROUTE_COMPLETIONS,
                    "{\"model\":\"tiny\",\"prompt\":[5,6],\"max_tokens\":9000}");
    text_house_run(&h);
    const struct fake_request *r = h.engine.requests;
    ck_assert_int_eq(r[0].params.max_tokens, TEXT_CONTEXT - r[0].params.n_prompt);
    ck_assert_int_eq(r[1].params.max_tokens, 16);
    ck_assert_int_eq(r[2].params.max_tokens, TEXT_CONTEXT - 2);
    text_house_close(&h);
}
END_TEST

START_TEST(chat_markup_is_special_and_user_text_is_not) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "x");
    token_id start = text_house_id(&h, "<|im_start|>", 12);
    text_house_send(
        &h, ROUTE_CHAT,
        "{\"model\":\"tiny\",\"messages\":[{\"role\":\"user\",\"content\":\"<|im_start|>"
        "\"}]}");
    text_house_send(&h, ROUTE_COMPLETIONS,
                    "{\"model\":\"tiny\",\"prompt\":\"<|im_start|>\"}");
    text_house_run(&h);
    ck_assert_int_eq(h.engine.requests[0].first_id, start);
    ck_assert_int_gt(h.engine.requests[0].params.n_prompt, 12);
    ck_assert_int_eq(h.engine.requests[1].first_id, start);
    ck_assert_int_eq(h.engine.requests[1].params.n_prompt, 1);
    text_house_close(&h);
}
END_TEST

START_TEST(seeds_and_scopes_belong_to_the_request) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "x");
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"seed\":-7}");
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"seed\":-7}");
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"a\"}", 1);
    text_house_send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"a\"}", 1);
    text_house_send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"b\"}", 1);
    text_house_send_scoped(&h, ROUTE_CHAT, CHAT_HEAD ",\"cache_salt\":\"a\"}", 2);
    text_house_run(&h);
    const struct fake_request *r = h.engine.requests;
    ck_assert(r[0].params.sampling.seed == (uint64_t)-7);
    ck_assert(r[1].params.sampling.seed == (uint64_t)-7);
    ck_assert(r[2].params.sampling.seed != r[3].params.sampling.seed);
    ck_assert_uint_eq(r[0].params.cache_scope, 1);
    ck_assert_uint_eq(r[4].params.cache_scope, r[5].params.cache_scope);
    ck_assert_uint_ne(r[4].params.cache_scope, r[0].params.cache_scope);
    ck_assert_uint_ne(r[4].params.cache_scope, r[6].params.cache_scope);
    ck_assert_uint_ne(r[4].params.cache_scope, r[7].params.cache_scope);
    text_house_close(&h);
}
END_TEST

START_TEST(a_stop_string_frees_the_engine) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "abcdefgh");
    exchange_id e = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stop\":\"cd\"}");
    text_house_run(&h);
    ck_assert_str_eq(outcome_read_body(&h.outcomes[e]).text[0], "ab");
    ck_assert_int_eq(h.engine.n_cancels, 1);
    ck_assert_int_lt(h.engine.requests[0].n_drawn, 8);
    text_house_close(&h);
}
END_TEST

START_TEST(too_long_names_both_counts_and_truncates_nothing) {
    struct text_house h;
    char body[200000], longer[2 * TEXT_CONTEXT];
    text_house_open(&h);
    text_house_script(&h, "Hello");

    memset(longer, '7', sizeof(longer)); // a digit is a token
    snprintf(body, sizeof(body), "{\"model\":\"tiny\",\"prompt\":\"%.*s\"}",
             TEXT_CONTEXT + 3, longer);
    exchange_id above = text_house_send(&h, ROUTE_COMPLETIONS, body);
    snprintf(body, sizeof(body), "{\"model\":\"tiny\",\"prompt\":\"%.*s\"}", TEXT_CONTEXT,
             longer);
    exchange_id full = text_house_send(&h, ROUTE_COMPLETIONS, body);
    snprintf(body, sizeof(body),
             "{\"model\":\"tiny\",\"prompt\":\"%.*s\",\"max_tokens\":50}", TEXT_CONTEXT - 1,
             longer);
    exchange_id just = text_house_send(&h, ROUTE_COMPLETIONS, body);
    memset(body, 'a', sizeof(body));
    memcpy(body, "{\"model\":\"tiny\",\"prompt\":\"", 26);
    strcpy(body + sizeof(body) - 3, "\"}");
    exchange_id huge = text_house_send(&h, ROUTE_COMPLETIONS, body);
    text_house_run(&h);

    outcome_assert_refused(&h.outcomes[above], 400, "prompt", "context_length_exceeded");
    ck_assert_ptr_nonnull(strstr(h.outcomes[above].bytes, "203 tokens"));
    ck_assert_ptr_nonnull(strstr(h.outcomes[above].bytes, "200"));
    outcome_assert_refused(&h.outcomes[full], 400, "prompt", "context_length_exceeded");
    outcome_assert_refused(&h.outcomes[huge], 400, "prompt", "context_length_exceeded");
    ck_assert_ptr_nonnull(strstr(h.outcomes[huge].bytes, "at least ")); // not encoded
    struct reading r = outcome_read_body(&h.outcomes[just]);
    ck_assert_str_eq(r.text[0], "H"); // one place was left
    ck_assert_str_eq(r.finish[0], "length");
    text_house_close(&h);
}
END_TEST

// ---- more choices than fit into the engine at once ----------------------------------------------

static int most_inside; // of all that submissions and polls have seen

static void look_inside(void *house) {
    struct text_house *h = house;
    int n = fake_engine_running(&h->engine);
    if (n > most_inside) most_inside = n;
}

// An engine of another thread may begin before submit has come back.
static void begin_at_once(void *house) {
    struct text_house *h = house;
    int64_t now_ns = clock_now(&h->clock);
    h->engine.requests[h->engine.n_requests - 1].started_ns = now_ns + 3;
    h->clock.virtual_ns = now_ns + 5;
}

START_TEST(the_wait_begins_before_the_engine_has_the_request) {
    struct text_house h;
    text_house_open(&h);
    clock_init_virtual(&h.clock, 1000);
    text_house_script(&h, "Hello");
    h.engine.on_submit = begin_at_once;
    exchange_id e = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD "}");
    text_house_run(&h);
    ck_assert_int_eq(h.outcomes[e].queue_ns, 3);
    text_house_close(&h);
}
END_TEST

static int count_of(const char *part, const char *text) {
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++) n++;
    return n;
}

START_TEST(every_choice_is_answered_and_few_are_inside_at_a_time) { // SRV-10
    for (int stream = 0; stream < 2; stream++) {
        struct text_house h;
        char body[160];
        text_house_open(&h);
        text_house_script(&h, "Hello");
        h.engine.on_submit = look_inside;
        most_inside = 0;
        snprintf(body, sizeof(body), "%s,\"n\":%d,\"seed\":7,\"max_tokens\":2%s}",
                 CHAT_HEAD, LIMIT_CHOICES, stream ? ",\"stream\":true" : "");
        exchange_id e = text_house_send(&h, ROUTE_CHAT, body);
        text_house_run(&h);
        ck_assert_int_eq(h.engine.n_requests, LIMIT_CHOICES);
        for (int i = 0; i < LIMIT_CHOICES; i++) {
            const struct engine_params *p = &h.engine.requests[i].params;
            ck_assert_uint_eq(p->choice, (unsigned)i);
            ck_assert(p->max_tokens == 2 && p->sampling.seed == 7);
        }
        ck_assert_int_eq(most_inside, LIMIT_CHOICES_INSIDE);
        ck_assert_int_eq(count_of("\"finish_reason\":\"length\"", h.outcomes[e].bytes),
                         LIMIT_CHOICES);
        ck_assert_int_eq(h.outcomes[e].n_completion, 2 * LIMIT_CHOICES);
        text_house_close(&h);
    }
}
END_TEST

START_TEST(choices_that_find_the_queue_full_wait_for_room) {
    struct text_house h;
    static const char *const texts[] = {"zero", "one", "two", "three"};
    text_house_open(&h);
    for (int i = 0; i < 4; i++) text_house_script(&h, texts[i]);
    h.engine.max_running = 2;
    exchange_id e = text_house_send(
        &h, ROUTE_COMPLETIONS,
        "{\"model\":\"tiny\",\"prompt\":[[7,8],[9,3]],\"n\":2,\"stop_token_ids\":[5],"
        "\"logit_bias\":{\"4\":1}}");
    text_house_run(&h);
    struct reading r = outcome_read_body(&h.outcomes[e]);
    ck_assert_int_eq(r.n_choices, 4);
    for (int i = 0; i < 4; i++) {
        ck_assert_str_eq(r.text[i], texts[i]);
        ck_assert_int_eq(h.engine.requests[i].first_id, i < 2 ? 7 : 9);
    }
    ck_assert_int_eq((int)r.n_prompt, 4);
    text_house_close(&h);
}
END_TEST

START_TEST(a_request_without_any_room_is_refused_and_leaves_nothing) {
    struct text_house h;
    text_house_open(&h);
    text_house_script(&h, "Hello");
    h.engine.max_running = 2;
    exchange_id first = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"n\":2}");
    exchange_id second = text_house_send(&h, ROUTE_CHAT, CHAT_HEAD ",\"stream\":true}");
    h.engine.tokens_per_poll = 1; // the first still runs when the second comes
    text_house_run(&h);
    ck_assert_int_eq(outcome_read_body(&h.outcomes[first]).n_choices, 2);
    outcome_assert_refused(&h.outcomes[second], 429, NULL, "queue_full");
    ck_assert_int_gt(h.outcomes[second].retry_after_s, 0);
    ck_assert_int_eq(h.engine.n_requests, 2);
    text_house_close(&h);
}
END_TEST

START_TEST(a_choice_that_cannot_follow_ends_the_answer) {
    for (int stream = 0; stream < 2; stream++) {
        struct text_house h;
        text_house_open(&h);
        text_house_script(&h, "Hello");
        h.engine.max_requests = 20;
        exchange_id e = text_house_send(&h, ROUTE_CHAT,
                                        stream ? CHAT_HEAD ",\"n\":24,\"stream\":true}"
                                               : CHAT_HEAD ",\"n\":24}");
        text_house_run(&h); // asserts that nothing still runs
        const struct outcome *o = &h.outcomes[e];
        ck_assert_int_eq(o->n_replies + o->n_ends, 1);
        if (!stream) outcome_assert_refused(o, 500, NULL, "internal_error");
        if (stream) ck_assert_ptr_nonnull(strstr(o->bytes, "data: {\"error\":{"));
        ck_assert_int_eq(h.engine.n_requests, 20);
        text_house_close(&h);
    }
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

Suite *suite(void) {
    Suite *s = suite_create("level2/answer");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, a_stream_without_the_wish_has_no_usage);
    tcase_add_test(reference, a_zero_byte_is_part_of_the_answer);
    tcase_add_test(reference, answers_are_numbered_prompt_by_prompt);
    tcase_add_test(reference, log_probabilities_are_filled);
    tcase_add_test(reference, the_rest_of_the_context_is_the_default_length);
    tcase_add_test(reference, chat_markup_is_special_and_user_text_is_not);
    tcase_add_test(reference, seeds_and_scopes_belong_to_the_request);
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, a_stop_string_frees_the_engine);
    tcase_add_test(edges, every_choice_is_answered_and_few_are_inside_at_a_time);
    tcase_add_test(edges, the_wait_begins_before_the_engine_has_the_request);
    tcase_add_test(edges, choices_that_find_the_queue_full_wait_for_room);
    tcase_add_test(edges, too_long_names_both_counts_and_truncates_nothing);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_request_without_any_room_is_refused_and_leaves_nothing);
    tcase_add_test(failures, a_choice_that_cannot_follow_ends_the_answer);
    suite_add_tcase(s, failures);
    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, streamed_or_whole_is_the_same_answer, 0, ROWS(answers));
    suite_add_tcase(s, property);
    return s;
}
