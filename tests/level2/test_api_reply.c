// Whole bodies as clients read them: shapes, counts, log probabilities; and what happens when memory
// is short.
#include "level2-operator/api/api_reply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/pieces.h"
#include "tests/support/reply_json.h"
#include "tests/support/suite.h"

static json_t *parse(const struct buffer *out) {
    json_t *body =
        json_loadb(out->bytes, out->n_bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    ck_assert_msg(body != NULL, "%.*s", (int)out->n_bytes, out->bytes);
    return body;
}

// ---- whole --------------------------------------------------------------------------------------

START_TEST(a_chat_answer_has_every_key) {
    struct reply f;
    struct api_piece pieces[2] = {piece_of("Hello", "stop"), piece_of("", "length")};
    pieces[1].index = 1;
    open_reply(&f, ROUTE_CHAT);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, pieces, 2, &usage, NULL), OK);

    json_t *body = parse(&f.out), *choice = first_choice(body),
           *message = at(choice, "message");
    ck_assert(strncmp(string_at(body, "id"), "chatcmpl-", 9) == 0);
    ck_assert_str_eq(string_at(body, "object"), "chat.completion");
    ck_assert_str_eq(string_at(body, "model"), "tiny");
    ck_assert_int_eq(json_integer_value(at(body, "created")), 1700000000);
    ck_assert_str_eq(string_at(message, "role"), "assistant");
    ck_assert_str_eq(string_at(message, "content"), "Hello");
    ck_assert(json_is_null(at(message, "refusal")) && json_is_null(at(choice, "logprobs")));
    ck_assert_str_eq(string_at(choice, "finish_reason"), "stop");
    assert_usage(at(body, "usage"));

    choice = json_array_get(at(body, "choices"), 1);
    ck_assert_int_eq(json_integer_value(at(choice, "index")), 1);
    ck_assert_str_eq(string_at(at(choice, "message"), "content"), "");
    ck_assert_str_eq(string_at(choice, "finish_reason"), "length");
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

START_TEST(a_completion_has_every_key) {
    struct reply f;
    struct api_piece piece = piece_of("Hi", "length");
    open_reply(&f, ROUTE_COMPLETIONS);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);

    json_t *body = parse(&f.out), *choice = first_choice(body);
    ck_assert(strncmp(string_at(body, "id"), "cmpl-", 5) == 0);
    ck_assert_str_eq(string_at(body, "object"), "text_completion");
    ck_assert_str_eq(string_at(choice, "text"), "Hi");
    ck_assert_str_eq(string_at(choice, "finish_reason"), "length");
    ck_assert(json_is_null(at(choice, "logprobs")));
    assert_usage(at(body, "usage"));
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

START_TEST(zero_bytes_and_quotes_survive) {
    struct reply f;
    struct api_piece piece = {
        .text = "a\0\"\\\n\x7f", .n_text = 6, .finish_reason = "stop"};
    open_reply(&f, ROUTE_COMPLETIONS);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);
    json_t *body = parse(&f.out), *text = at(first_choice(body), "text");
    ck_assert_uint_eq(json_string_length(text), 6);
    ck_assert_mem_eq(json_string_value(text), piece.text, 6);
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

// ---- log probabilities: the second-best token was drawn -----------------------------------------

static const struct token_logprob rows[] = {
    {PIECE_GRIN_3, -1.25f},
    {PIECE_N,      -0.5f },
    {PIECE_GRIN_3, -1.25f},
    {PIECE_GRIN_1, 0     },
    {PIECE_GRIN_1, 0     },
    {-1,           0     },
};
static const int offsets[] = {5, 6};

// Each of its three bytes is shown as U+FFFD.
static const char grin_3_repaired[] = "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD";

static struct api_piece piece_with_logprobs(void) {
    struct api_piece piece = piece_of("x", "stop");
    piece.has_logprobs = true;
    piece.n_tokens = 2;
    piece.n_top = 2;
    piece.logprobs = rows;
    piece.offsets = offsets;
    return piece;
}

START_TEST(chat_log_probabilities_are_of_the_drawn_token) {
    struct reply f;
    struct api_piece piece = piece_with_logprobs();
    open_reply(&f, ROUTE_CHAT);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);
    json_t *body = parse(&f.out), *logprobs = at(first_choice(body), "logprobs");
    json_t *content = at(logprobs, "content");
    ck_assert_uint_eq(json_array_size(content), 2);

    json_t *token = json_array_get(content, 0), *top = at(token, "top_logprobs");
    ck_assert_str_eq(string_at(token, "token"), grin_3_repaired);
    ck_assert(json_real_value(at(token, "logprob")) == -1.25);
    ck_assert_uint_eq(json_array_size(at(token, "bytes")), 3);
    ck_assert_int_eq(json_integer_value(json_array_get(at(token, "bytes"), 2)), 0x98);
    ck_assert_uint_eq(json_array_size(top), 2);
    ck_assert_str_eq(string_at(json_array_get(top, 0), "token"), "N");
    ck_assert(json_real_value(at(json_array_get(top, 0), "logprob")) == -0.5);
    ck_assert(json_real_value(at(json_array_get(top, 1), "logprob")) == -1.25);
    ck_assert_uint_eq(json_array_size(at(json_array_get(content, 1), "top_logprobs")), 1);
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

START_TEST(legacy_log_probabilities_are_columns) {
    struct reply f;
    struct api_piece piece = piece_with_logprobs();
    open_reply(&f, ROUTE_COMPLETIONS);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);
    json_t *body = parse(&f.out), *logprobs = at(first_choice(body), "logprobs");
    ck_assert_uint_eq(json_array_size(at(logprobs, "tokens")), 2);
    ck_assert(json_real_value(json_array_get(at(logprobs, "token_logprobs"), 0)) == -1.25);
    ck_assert_int_eq(json_integer_value(json_array_get(at(logprobs, "text_offset"), 1)), 6);
    json_t *top = json_array_get(at(logprobs, "top_logprobs"), 0);
    ck_assert_uint_eq(json_object_size(top), 2);
    ck_assert(json_real_value(at(top, "N")) == -0.5);
    ck_assert(json_real_value(at(top, grin_3_repaired)) == -1.25);
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

START_TEST(an_infinite_log_probability_is_a_number) {
    struct reply f;
    const struct token_logprob row = {PIECE_E, -INFINITY};
    struct api_piece piece = piece_with_logprobs();
    piece.logprobs = &row;
    piece.n_tokens = 1;
    piece.n_top = 0;
    open_reply(&f, ROUTE_CHAT);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);
    json_t *body = parse(&f.out);
    json_t *token = json_array_get(at(at(first_choice(body), "logprobs"), "content"), 0);
    ck_assert(json_real_value(at(token, "logprob")) == -9999);
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

// ---- memory -------------------------------------------------------------------------------------

static long allocs_left;

static void *failing_malloc(size_t n_bytes) {
    return allocs_left-- > 0 ? malloc(n_bytes) : NULL;
}

// Everything that this module writes; false when something failed.
static bool write_everything(struct reply *f) {
    struct api_piece piece = piece_with_logprobs();
    struct error err = {0}, why = {.code = ERR_NUMERIC, .text = "text", .param = "p"};
    enum status st = api_reply_body(&f->out, &f->r, &piece, 1, &usage, &err);
    if (!st) st = api_reply_begin(&f->out, &f->r, 0, &err);
    if (!st) st = api_reply_text(&f->out, &f->r, &piece, &err);
    if (!st) st = api_reply_finish(&f->out, &f->r, &piece, &err);
    if (!st) st = api_reply_end(&f->out, &f->r, &usage, &err);
    if (!st) st = api_reply_error(&f->out, &why, &err);
    ck_assert(st == OK || (st == ERR_MEMORY && err.code == st && err.text[0]));
    return st == OK;
}

START_TEST(every_failed_allocation_is_an_error_and_leaks_nothing) {
    for (int k = 0; k < 2; k++) {
        bool succeeded = false;
        for (long n = 0; n < 10000 && !succeeded; n++) {
            struct reply f;
            open_reply(&f, k ? ROUTE_COMPLETIONS : ROUTE_CHAT);
            f.r.include_usage = true;
            json_set_alloc_funcs(failing_malloc, free);
            allocs_left = n;
            succeeded = write_everything(&f);
            json_set_alloc_funcs(malloc, free);
            buffer_free(&f.out);
        }
        ck_assert(succeeded);
    }
}
END_TEST

START_TEST(a_reply_above_the_limit_is_an_error) {
    for (size_t max = 0; max < 600; max += 37) {
        struct reply f;
        struct api_piece piece = piece_with_logprobs();
        open_reply(&f, ROUTE_CHAT);
        buffer_init(&f.out, max);
        ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), ERR_MEMORY);
        ck_assert_uint_le(f.out.n_bytes, max);
        buffer_free(&f.out);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/api_reply");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");
    TCase *failures = tcase_create("failures");

    tcase_add_test(reference, a_chat_answer_has_every_key);
    tcase_add_test(reference, a_completion_has_every_key);
    tcase_add_test(reference, chat_log_probabilities_are_of_the_drawn_token);
    tcase_add_test(reference, legacy_log_probabilities_are_columns);
    tcase_add_test(edges, zero_bytes_and_quotes_survive);
    tcase_add_test(edges, an_infinite_log_probability_is_a_number);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_leaks_nothing);
    tcase_add_test(failures, a_reply_above_the_limit_is_an_error);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    return s;
}
