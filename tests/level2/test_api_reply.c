// Bodies and events as clients read them: shapes, counts, framing, log probabilities, errors.
#include "level2-operator/api_reply.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/api_error.h"
#include "tests/support/pieces.h"
#include "tests/support/suite.h"

static const struct api_usage usage = {10, 4, 3};

struct fixture {
    struct tokenizer tokenizer;
    struct api_reply r;
    struct buffer out;
};

static void open_fixture(struct fixture *f, enum route route) {
    f->tokenizer = pieces_tokenizer();
    api_reply_init(&f->r, route, 7, 1700000000, "tiny", &f->tokenizer);
    buffer_init(&f->out, 1 << 20);
}

static struct api_piece piece_of(const char *text, const char *finish_reason) {
    return (struct api_piece){
        .text = text, .n_text = strlen(text), .finish_reason = finish_reason};
}

static json_t *at(json_t *value, const char *key) {
    json_t *member = json_object_get(value, key);
    ck_assert_msg(member != NULL, "no %s", key);
    return member;
}

static const char *string_at(json_t *value, const char *key) {
    ck_assert_msg(json_is_string(at(value, key)), "%s is no string", key);
    return json_string_value(at(value, key));
}

static json_t *first_choice(json_t *body) {
    json_t *choice = json_array_get(at(body, "choices"), 0);
    ck_assert_ptr_nonnull(choice);
    return choice;
}

static json_t *parse(const struct buffer *out) {
    json_t *body =
        json_loadb(out->bytes, out->n_bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    ck_assert_msg(body != NULL, "%.*s", (int)out->n_bytes, out->bytes);
    return body;
}

// The data of event i of what was written; checks the framing of all of it on the way.
static json_t *event_at(const struct buffer *out, int i) {
    const char *at_byte = out->bytes, *end = out->bytes + out->n_bytes;
    for (; at_byte < end; i--) {
        ck_assert_msg(strncmp(at_byte, "data: {", 7) == 0, "%.20s", at_byte);
        const char *line_end = memchr(at_byte, '\n', (size_t)(end - at_byte));
        ck_assert(line_end && line_end + 1 < end && line_end[1] == '\n');
        if (i == 0) {
            json_t *data = json_loadb(at_byte + 6, (size_t)(line_end - at_byte) - 6,
                                      JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
            ck_assert_ptr_nonnull(data);
            return data;
        }
        at_byte = line_end + 2;
    }
    return NULL;
}

static void assert_usage(json_t *u) {
    ck_assert_int_eq(json_integer_value(at(u, "prompt_tokens")), 10);
    ck_assert_int_eq(json_integer_value(at(u, "completion_tokens")), 3);
    ck_assert_int_eq(json_integer_value(at(u, "total_tokens")), 13);
    json_t *cached = at(at(u, "prompt_tokens_details"), "cached_tokens");
    ck_assert(json_is_integer(cached) && json_integer_value(cached) == 4);
    ck_assert(json_is_integer(at(at(u, "completion_tokens_details"), "reasoning_tokens")));
}

// ---- whole

START_TEST(a_chat_answer_has_every_key) {
    struct fixture f;
    struct api_piece pieces[2] = {piece_of("Hello", "stop"), piece_of("", "length")};
    pieces[1].index = 1;
    open_fixture(&f, ROUTE_CHAT);
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
    struct fixture f;
    struct api_piece piece = piece_of("Hi", "length");
    open_fixture(&f, ROUTE_COMPLETIONS);
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
    struct fixture f;
    struct api_piece piece = {
        .text = "a\0\"\\\n\x7f", .n_text = 6, .finish_reason = "stop"};
    open_fixture(&f, ROUTE_COMPLETIONS);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);
    json_t *body = parse(&f.out), *text = at(first_choice(body), "text");
    ck_assert_uint_eq(json_string_length(text), 6);
    ck_assert_mem_eq(json_string_value(text), piece.text, 6);
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

// ---- stream

static void write_stream(struct fixture *f) {
    struct api_piece text = piece_of("Hel", NULL), rest = piece_of("lo", "stop");
    ck_assert_int_eq(api_reply_begin(&f->out, &f->r, 0, NULL), OK);
    ck_assert_int_eq(api_reply_text(&f->out, &f->r, &text, NULL), OK);
    ck_assert_int_eq(api_reply_text(&f->out, &f->r, &rest, NULL), OK);
    ck_assert_int_eq(api_reply_finish(&f->out, &f->r, &rest, NULL), OK);
    ck_assert_int_eq(api_reply_end(&f->out, &f->r, &usage, NULL), OK);
}

// Takes the last event off and checks it.
static void take_done(struct buffer *out) {
    static const char done[] = "data: [DONE]\n\n";
    size_t n = strlen(done);
    ck_assert(out->n_bytes > n && memcmp(out->bytes + out->n_bytes - n, done, n) == 0);
    out->n_bytes -= n;
}

START_TEST(a_chat_stream_begins_speaks_and_ends) {
    struct fixture f;
    open_fixture(&f, ROUTE_CHAT);
    write_stream(&f);
    take_done(&f.out);

    static const char *const contents[] = {"", "Hel", "lo"};
    char id[64] = "";
    for (int i = 0; i < 4; i++) {
        json_t *chunk = event_at(&f.out, i), *choice = first_choice(chunk);
        json_t *delta = at(choice, "delta");
        if (i == 0) strcpy(id, string_at(chunk, "id"));
        ck_assert_str_eq(string_at(chunk, "id"), id);
        ck_assert_str_eq(string_at(chunk, "object"), "chat.completion.chunk");
        ck_assert_ptr_null(json_object_get(chunk, "usage"));
        ck_assert((json_object_get(delta, "role") != NULL) == (i == 0));
        if (i < 3) ck_assert_str_eq(string_at(delta, "content"), contents[i]);
        if (i < 3) ck_assert(json_is_null(at(choice, "finish_reason")));
        if (i == 3) ck_assert_uint_eq(json_object_size(delta), 0);
        if (i == 3) ck_assert_str_eq(string_at(choice, "finish_reason"), "stop");
        json_decref(chunk);
    }
    ck_assert_ptr_null(event_at(&f.out, 4));
    buffer_free(&f.out);
}
END_TEST

START_TEST(usage_comes_once_and_only_if_wanted) {
    struct fixture f;
    open_fixture(&f, ROUTE_CHAT);
    f.r.include_usage = true;
    write_stream(&f);
    take_done(&f.out);
    for (int i = 0; i < 4; i++) {
        json_t *chunk = event_at(&f.out, i);
        ck_assert(json_is_null(at(chunk, "usage")));
        ck_assert_uint_eq(json_array_size(at(chunk, "choices")), 1);
        json_decref(chunk);
    }
    json_t *last = event_at(&f.out, 4);
    ck_assert_uint_eq(json_array_size(at(last, "choices")), 0);
    assert_usage(at(last, "usage"));
    json_decref(last);
    ck_assert_ptr_null(event_at(&f.out, 5));
    buffer_free(&f.out);
}
END_TEST

START_TEST(a_completion_stream_has_texts) {
    struct fixture f;
    open_fixture(&f, ROUTE_COMPLETIONS);
    write_stream(&f);
    take_done(&f.out);
    static const char *const texts[] = {"Hel", "lo", ""};
    for (int i = 0; i < 3; i++) {
        json_t *chunk = event_at(&f.out, i), *choice = first_choice(chunk);
        ck_assert_str_eq(string_at(chunk, "object"), "text_completion");
        ck_assert_str_eq(string_at(choice, "text"), texts[i]);
        ck_assert(json_is_null(at(choice, "finish_reason")) == (i < 2));
        json_decref(chunk);
    }
    ck_assert_ptr_null(event_at(&f.out, 3));
    buffer_free(&f.out);
}
END_TEST

START_TEST(a_piece_without_news_is_silent) {
    struct fixture f;
    struct api_piece nothing = piece_of("", NULL);
    open_fixture(&f, ROUTE_CHAT);
    ck_assert_int_eq(api_reply_text(&f.out, &f.r, &nothing, NULL), OK);
    ck_assert_uint_eq(f.out.n_bytes, 0);
    nothing.has_logprobs = true;
    ck_assert_int_eq(api_reply_text(&f.out, &f.r, &nothing, NULL), OK);
    ck_assert_uint_eq(f.out.n_bytes, 0);
    buffer_free(&f.out);
}
END_TEST

// ---- log probabilities: the second-best token was drawn

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
    struct fixture f;
    struct api_piece piece = piece_with_logprobs();
    open_fixture(&f, ROUTE_CHAT);
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
    struct fixture f;
    struct api_piece piece = piece_with_logprobs();
    open_fixture(&f, ROUTE_COMPLETIONS);
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
    struct fixture f;
    const struct token_logprob row = {PIECE_E, -INFINITY};
    struct api_piece piece = piece_with_logprobs();
    piece.logprobs = &row;
    piece.n_tokens = 1;
    piece.n_top = 0;
    open_fixture(&f, ROUTE_CHAT);
    ck_assert_int_eq(api_reply_body(&f.out, &f.r, &piece, 1, &usage, NULL), OK);
    json_t *body = parse(&f.out);
    json_t *token = json_array_get(at(at(first_choice(body), "logprobs"), "content"), 0);
    ck_assert(json_real_value(at(token, "logprob")) == -9999);
    json_decref(body);
    buffer_free(&f.out);
}
END_TEST

// ---- errors

static const struct {
    enum status code;
    const char *param;
    int http_status;
    const char *type, *api_code;
} errors[] = {
    {ERR_INPUT,       "n",     400, "invalid_request_error", NULL                     },
    {ERR_FORMAT,      "",      400, "invalid_request_error", NULL                     },
    {ERR_LIMIT,       "n",     400, "invalid_request_error", NULL                     },
    {ERR_UNSUPPORTED, "tools", 400, "invalid_request_error", NULL                     },
    {ERR_UNSUPPORTED, "model", 404, "invalid_request_error", "model_not_found"        },
    {ERR_INPUT,       "model", 400, "invalid_request_error", NULL                     },
    {ERR_CONTEXT,     "",      400, "invalid_request_error", "context_length_exceeded"},
    {ERR_BUSY,        "",      429, "rate_limit_error",      "queue_full"             },
    {ERR_STATE,       "",      503, "server_error",          "unavailable"            },
    {ERR_MEMORY,      "",      500, "server_error",          "internal_error"         },
    {ERR_NUMERIC,     "",      500, "server_error",          "internal_error"         },
    {ERR_IO,          "",      500, "server_error",          "internal_error"         },
};

START_TEST(errors_have_four_keys_and_the_right_status) {
    struct error err;
    error_set_param(&err, errors[_i].code, errors[_i].param, "what, where, what to do");
    struct api_error how = api_error_of(&err);
    ck_assert_int_eq(how.http_status, errors[_i].http_status);
    ck_assert((how.retry_after_s > 0) ==
              (how.http_status == 429 || how.http_status == 503));

    size_t n_bytes;
    char *text = api_error_body(&how, err.text, err.param, &n_bytes);
    json_t *body = json_loadb(text, n_bytes, 0, NULL), *object = at(body, "error");
    ck_assert_uint_eq(json_object_size(object), 4);
    ck_assert_str_eq(string_at(object, "message"), "what, where, what to do");
    ck_assert_str_eq(string_at(object, "type"), errors[_i].type);
    if (errors[_i].api_code) {
        ck_assert_str_eq(string_at(object, "code"), errors[_i].api_code);
    } else {
        ck_assert(json_is_null(at(object, "code")));
    }
    if (errors[_i].param[0]) {
        ck_assert_str_eq(string_at(object, "param"), errors[_i].param);
    } else {
        ck_assert(json_is_null(at(object, "param")));
    }
    json_decref(body);
    free(text);
}
END_TEST

START_TEST(an_error_with_wrong_bytes_is_still_JSON) {
    const struct api_error how = {404, "invalid_request_error", "unknown_url", 0};
    char *text = api_error_body(&how, "no \xff here", NULL, NULL);
    json_t *body = json_loads(text, 0, NULL);
    ck_assert_ptr_nonnull(body);
    ck_assert_str_eq(string_at(at(body, "error"), "message"), "no \xEF\xBF\xBD here");
    json_decref(body);
    free(text);
}
END_TEST

START_TEST(an_error_in_a_stream_is_one_event) {
    struct fixture f;
    struct error why;
    open_fixture(&f, ROUTE_CHAT);
    error_set(&why, ERR_NUMERIC, "a logit is no number");
    ck_assert_int_eq(api_reply_error(&f.out, &why, NULL), OK);
    json_t *event = event_at(&f.out, 0);
    ck_assert_str_eq(string_at(at(event, "error"), "code"), "internal_error");
    json_decref(event);
    ck_assert_ptr_null(event_at(&f.out, 1));
    buffer_free(&f.out);
}
END_TEST

// ---- memory

static long allocs_left;

static void *failing_malloc(size_t n_bytes) {
    return allocs_left-- > 0 ? malloc(n_bytes) : NULL;
}

// Everything that this module writes; false when something failed.
static bool write_everything(struct fixture *f) {
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
            struct fixture f;
            open_fixture(&f, k ? ROUTE_COMPLETIONS : ROUTE_CHAT);
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
        struct fixture f;
        struct api_piece piece = piece_with_logprobs();
        open_fixture(&f, ROUTE_CHAT);
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
    tcase_add_test(reference, a_chat_stream_begins_speaks_and_ends);
    tcase_add_test(reference, usage_comes_once_and_only_if_wanted);
    tcase_add_test(reference, a_completion_stream_has_texts);
    tcase_add_test(reference, chat_log_probabilities_are_of_the_drawn_token);
    tcase_add_test(reference, legacy_log_probabilities_are_columns);
    tcase_add_loop_test(reference, errors_have_four_keys_and_the_right_status, 0,
                        (int)(sizeof(errors) / sizeof(errors[0])));
    tcase_add_test(edges, zero_bytes_and_quotes_survive);
    tcase_add_test(edges, a_piece_without_news_is_silent);
    tcase_add_test(edges, an_infinite_log_probability_is_a_number);
    tcase_add_test(edges, an_error_with_wrong_bytes_is_still_JSON);
    tcase_add_test(edges, an_error_in_a_stream_is_one_event);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_leaks_nothing);
    tcase_add_test(failures, a_reply_above_the_limit_is_an_error);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    suite_add_tcase(s, failures);
    return s;
}
