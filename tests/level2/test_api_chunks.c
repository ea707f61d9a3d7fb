// Streams as clients read them: the order of chunks, the framing of events, usage, an error.
#include "level2-operator/api/api_reply.h"

#include <string.h>

#include "tests/support/reply_json.h"
#include "tests/support/suite.h"

static void write_stream(struct reply *f) {
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
    struct reply f;
    open_reply(&f, ROUTE_CHAT);
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
    struct reply f;
    open_reply(&f, ROUTE_CHAT);
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
    struct reply f;
    open_reply(&f, ROUTE_COMPLETIONS);
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
    struct reply f;
    struct api_piece nothing = piece_of("", NULL);
    open_reply(&f, ROUTE_CHAT);
    ck_assert_int_eq(api_reply_text(&f.out, &f.r, &nothing, NULL), OK);
    ck_assert_uint_eq(f.out.n_bytes, 0);
    nothing.has_logprobs = true;
    ck_assert_int_eq(api_reply_text(&f.out, &f.r, &nothing, NULL), OK);
    ck_assert_uint_eq(f.out.n_bytes, 0);
    buffer_free(&f.out);
}
END_TEST

START_TEST(an_error_in_a_stream_is_one_event) {
    struct reply f;
    struct error why;
    open_reply(&f, ROUTE_CHAT);
    error_set(&why, ERR_NUMERIC, "a logit is no number");
    ck_assert_int_eq(api_reply_error(&f.out, &why, NULL), OK);
    json_t *event = event_at(&f.out, 0);
    ck_assert_str_eq(string_at(at(event, "error"), "code"), "internal_error");
    json_decref(event);
    ck_assert_ptr_null(event_at(&f.out, 1));
    buffer_free(&f.out);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/api_chunks");
    TCase *reference = tcase_create("reference");
    TCase *edges = tcase_create("edges");

    tcase_add_test(reference, a_chat_stream_begins_speaks_and_ends);
    tcase_add_test(reference, usage_comes_once_and_only_if_wanted);
    tcase_add_test(reference, a_completion_stream_has_texts);
    tcase_add_test(edges, a_piece_without_news_is_silent);
    tcase_add_test(edges, an_error_in_a_stream_is_one_event);
    suite_add_tcase(s, reference);
    suite_add_tcase(s, edges);
    return s;
}
