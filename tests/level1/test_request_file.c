// Bodies of chat requests: both shapes, marks, what cannot be compared, and hostile files.
#include "level1-user/request_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/json_sweeps.h"
#include "tests/support/suite.h"

static const char sample[] =
    "{\"model\": \"m\", \"system\": [{\"type\": \"text\", \"text\": \"rules\","
    " \"cache_control\": {\"type\": \"ephemeral\"}}], \"messages\": ["
    "{\"role\": \"user\", \"content\": \"a\"},"
    "{\"role\": \"assistant\", \"content\": [{\"type\": \"text\", \"text\": \"\"},"
    "{\"type\": \"text\", \"text\": \"c\\n\", \"cache_control\": {}},"
    "{\"type\": \"text\", \"text\": \"d\", \"cache_control\": null}]}]}";

static enum status parse(struct request_file *f, const char *text, struct error *err) {
    return request_file_parse(f, text, strlen(text), "file", err);
}

START_TEST(each_text_is_a_message_and_has_a_name) {
    static const char *const want[][3] = {
        {"system",    "rules", "system[0]"             },
        {"user",      "a",     "messages[0].content"   },
        {"assistant", "",      "messages[1].content[0]"},
        {"assistant", "c\n",   "messages[1].content[1]"},
        {"assistant", "d",     "messages[1].content[2]"},
    };
    struct request_file f;
    struct error err = {0};
    ck_assert_msg(parse(&f, sample, &err) == OK, "%s", err.text);
    assert_number("texts", f.request.n_messages, 5);
    for (int i = 0; i < 5; i++) {
        assert_text(want[i][2], f.request.messages[i].role, want[i][0]);
        assert_text(want[i][2], f.request.messages[i].text, want[i][1]);
        assert_text(want[i][2], f.places[i].name, want[i][2]);
    }
    assert_text("behind the last", f.places[5].name, "the end");
    assert_number("marks", f.request.n_marks, 2);
    assert_number("first mark", f.request.marks[0], 1);
    assert_number("second mark", f.request.marks[1], 4);
    request_file_close(&f);
}
END_TEST

START_TEST(a_request_may_be_empty) {
    struct request_file f;
    assert_status("no messages", parse(&f, "{\"messages\": []}", NULL), OK);
    assert_number("texts", f.request.n_messages, 0);
    assert_text("the end", f.places[0].name, "the end");
    request_file_close(&f);
}
END_TEST

#define BODY(messages) "{\"messages\": [" messages "]}"

// clang-format off
static const struct {
    const char *json;
    enum status want;
    const char *why;
} wrong_bodies[] = {
    {"", ERR_FORMAT, "file:1: not JSON: "},
    {"[]", ERR_FORMAT, "file: has no list \"messages\""},
    {"{\"messages\": {}}", ERR_FORMAT, "file: has no list \"messages\""},
    {"{\"messages\": [],\n\"messages\": []}", ERR_FORMAT, "file:2: not JSON: "},
    {BODY("7"), ERR_FORMAT, "file: messages[0] is not an object"},
    {BODY("{}"), ERR_FORMAT, "file: messages[0] has no role"},
    {BODY("{\"role\": 1}"), ERR_FORMAT, "file: messages[0] has no role"},
    {BODY("{\"role\": \"user\"}"), ERR_UNSUPPORTED, "file: messages[0].content is not text"},
    {BODY("{\"role\": \"user\", \"content\": null}"), ERR_UNSUPPORTED, "file: messages[0].content is not text"},
    {BODY("{\"role\": \"user\", \"content\": [\"a\"]}"), ERR_UNSUPPORTED, "file: messages[0].content is not text"},
    {BODY("{\"role\": \"user\", \"content\": [{\"type\": \"text\"}]}"), ERR_UNSUPPORTED,
     "file: messages[0].content is not text"},
    {BODY("{\"role\": \"user\", \"content\": [{\"type\": \"image_url\", \"text\": \"a\"}]}"), ERR_UNSUPPORTED,
     "file: messages[0].content is not text"},
    {BODY("{\"role\": \"user\", \"content\": \"\\u0000\"}"), ERR_FORMAT, "file:1: not JSON: "},
    {BODY("{\"role\": \"assistant\", \"content\": \"\", \"tool_calls\": [{}]}"), ERR_UNSUPPORTED,
     "file: messages[0] has tool calls"},
    {"{\"system\": 1, \"messages\": []}", ERR_UNSUPPORTED, "file: system is not text"},
    {"{\"tools\": [{}], \"messages\": []}", ERR_UNSUPPORTED, "file: has tools"},
};
// clang-format on

START_TEST(a_body_that_cannot_be_audited_is_refused_with_the_place) {
    struct request_file f;
    struct error err = {0};
    assert_status(wrong_bodies[_i].json, parse(&f, wrong_bodies[_i].json, &err),
                  wrong_bodies[_i].want);
    ck_assert_msg(strncmp(err.text, wrong_bodies[_i].why, strlen(wrong_bodies[_i].why)) ==
                      0,
                  "\"%s\", want \"%s\"", err.text, wrong_bodies[_i].why);
    ck_assert_ptr_null(f.messages);
    request_file_close(&f);
}
END_TEST

static enum status read_whole(const char *bytes, size_t n_bytes, struct error *err) {
    struct request_file x;
    enum status st = request_file_parse(&x, bytes, n_bytes, "list", err);
    MUST(st == OK || !x.messages); // a failure leaves it closed
    request_file_close(&x);
    request_file_close(&x); // twice: as good as once
    return st;
}

START_TEST(a_body_cut_or_changed_at_any_byte_never_crashes) {
    assert_cuts_are_refused(read_whole, sample);
    assert_wrong_bytes_do_no_harm(read_whole, sample);
}
END_TEST

START_TEST(more_texts_than_may_be_are_refused) {
    static const char part[] = "{\"type\":\"text\",\"text\":\"\",\"cache_control\":{}}";
    char *text = malloc((LIMIT_AUDIT_BLOCKS + 2) * sizeof(part) + 100);
    for (int extra = 0; extra <= 1; extra++) {
        struct request_file f;
        size_t n = (size_t)sprintf(
            text, "{\"messages\": [{\"role\": \"user\", \"content\": [%s", part);
        for (int i = 1; i < LIMIT_AUDIT_BLOCKS + extra; i++)
            n += (size_t)sprintf(text + n, ",%s", part);
        sprintf(text + n, "]}]}");
        assert_status(extra ? "one too many" : "as many as may be", parse(&f, text, NULL),
                      extra ? ERR_LIMIT : OK);
        assert_number("texts", f.request.n_messages, extra ? 0 : LIMIT_AUDIT_BLOCKS);
        assert_number("marks", f.request.n_marks, extra ? 0 : LIMIT_AUDIT_BLOCKS);
        request_file_close(&f);
    }
    free(text);
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    assert_failed_allocations_are_told(read_whole, sample);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_named) {
    struct request_file f;
    struct error err = {0};
    assert_status("no file", request_file_open(&f, "no/such/file.json", &err), ERR_IO);
    assert_text("err.text", err.text, "no/such/file.json: No such file or directory");
    char path[] = "/tmp/empty-request-XXXXXX";
    close(mkstemp(path));
    assert_status("an empty file", request_file_open(&f, path, &err), ERR_FORMAT);
    unlink(path);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/request_file");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, each_text_is_a_message_and_has_a_name);
    tcase_add_test(reference, a_request_may_be_empty);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_body_that_cannot_be_audited_is_refused_with_the_place,
                        0, sizeof(wrong_bodies) / sizeof(wrong_bodies[0]));
    tcase_add_test(failures, a_body_cut_or_changed_at_any_byte_never_crashes);
    tcase_add_test(failures, more_texts_than_may_be_are_refused);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    tcase_add_test(failures, a_file_that_cannot_be_read_is_named);
    suite_add_tcase(s, failures);
    return s;
}
