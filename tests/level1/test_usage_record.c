// Four dialects of usage, and lines that are none.
#include "level1-user/usage_record.h"

#include <string.h>

#include "level1-user/usage_file.h"
#include "level1-user/workload.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

// clang-format off
static const struct {
    const char *name, *text;
    struct invoice_usage want;
} dialects[] = {
    {"chat",
     "{\"prompt_tokens\": 9, \"completion_tokens\": 2, "
     "\"prompt_tokens_details\": {\"cached_tokens\": 4}}",                                {9, 4, 0, 2}},
    {"chat, nothing cached",
     "{\"prompt_tokens\": 9, \"completion_tokens\": 2, \"prompt_tokens_details\": null}", {9, 0, 0, 2}},
    {"hit and miss",
     "{\"prompt_tokens\": 9, \"completion_tokens\": 2, \"prompt_cache_hit_tokens\": 4, "
     "\"prompt_cache_miss_tokens\": 5}",                                                  {9, 4, 0, 2}},
    {"responses",
     "{\"input_tokens\": 9, \"output_tokens\": 2, "
     "\"input_tokens_details\": {\"cached_tokens\": 4}}",                                 {9, 4, 0, 2}},
    {"parts",
     "{\"input_tokens\": 2, \"output_tokens\": 2, \"cache_read_input_tokens\": 4, "
     "\"cache_creation_input_tokens\": 3}",                                               {9, 4, 3, 2}},
    {"parts, almost all from the cache",
     "{\"input_tokens\": 50, \"output_tokens\": 2, \"cache_read_input_tokens\": 100000, "
     "\"cache_creation_input_tokens\": 0}", {100050, 100000, 0, 2}},
    {"inside an answer",
     "{\"usage\": {\"prompt_tokens\": 9, \"completion_tokens\": 2}}",                     {9, 0, 0, 2}},
};
// clang-format on

START_TEST(each_dialect_is_understood) {
    struct invoice_usage used;
    const char *text = dialects[_i].text, *name = dialects[_i].name;
    assert_status(name, usage_record_parse(&used, text, strlen(text), NULL), OK);
    assert_number("input", used.input, dialects[_i].want.input);
    assert_number("cached", used.cached, dialects[_i].want.cached);
    assert_number("cache_write", used.cache_write, dialects[_i].want.cache_write);
    assert_number("output", used.output, dialects[_i].want.output);
}
END_TEST

static enum status take(void *ctx, const struct invoice_usage *used, struct error *err) {
    return workload_add(ctx, used, err);
}

static enum status read_text(struct workload *work, const char *text, struct error *err) {
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    *work = (struct workload){.is_sum = true};
    enum status st = usage_file_read(in, "file", take, work, err);
    fclose(in);
    return st;
}

START_TEST(lines_are_added_up) {
    struct workload work;
    const char text[] = "{\"input_tokens\": 7, \"output_tokens\": 1}\r\n"
                        " \n"
                        "{\"input_tokens\": 5, \"output_tokens\": 2}";
    assert_status("usage_file_read", read_text(&work, text, NULL), OK);
    assert_number("requests", work.n_requests, 2);
    assert_number("input", work.used.input, 12);
    assert_number("output", work.used.output, 3);
}
END_TEST

START_TEST(an_error_says_which_line) {
    struct workload work;
    struct error err = {0};
    const char text[] =
        "{\"input_tokens\": 7, \"output_tokens\": 1}\n\n{\"usage\": null}\n";
    assert_status("usage_file_read", read_text(&work, text, &err), ERR_FORMAT);
    assert_text("usage_file_read", err.text,
                "file:3: no usage in it: what it cost is not known");
    assert_number("the status in it", err.code, ERR_FORMAT);
}
END_TEST

// Each would be billed as if the cache had given nothing, or something else.
static const struct {
    const char *text, *error;
} mixtures[] = {
    {"{\"prompt_tokens\": 9, \"completion_tokens\": 2, \"cache_read_input_tokens\": 4}",
     "has the words of two APIs: cache_read_input_tokens is not one of them here"                                                                                  },
    {"{\"prompt_tokens\": 9, \"completion_tokens\": 2, "
     "\"input_tokens_details\": {\"cached_tokens\": 4}}",                            "has the words of two APIs: input_tokens_details is not one of them here"},
    {"{\"input_tokens\": 9, \"output_tokens\": 2, \"prompt_cache_hit_tokens\": 4}",
     "has the words of two APIs: prompt_cache_hit_tokens is not one of them here"                                                                                  },
    {"{\"input_tokens\": 9, \"output_tokens\": 2, \"cache_read_input_tokens\": 4, "
     "\"input_tokens_details\": {\"cached_tokens\": 4}}",                            "has the words of two APIs: input_tokens_details is not one of them here"},
    {"{\"prompt_tokens\": 9, \"completion_tokens\": 2, \"prompt_cache_miss_tokens\": 5}",
     "cache hit and miss are not prompt_tokens"                                                                                                                    },
    {"{\"prompt_tokens\": 9, \"completion_tokens\": 2, \"prompt_tokens_details\": 4}",
     "prompt_tokens_details must be an object"                                                                                                                     },
    {"{\"input_tokens\": 9, \"output_tokens\": 2, \"input_tokens_details\": \"4\"}",
     "input_tokens_details must be an object"                                                                                                                      },
};

START_TEST(what_the_cache_did_is_never_passed_over) {
    struct invoice_usage used;
    struct error err = {0};
    const char *text = mixtures[_i].text;
    assert_status(text, usage_record_parse(&used, text, strlen(text), &err), ERR_FORMAT);
    assert_text(text, err.text, mixtures[_i].error);
}
END_TEST

START_TEST(words_of_another_API_that_say_nothing_do_no_harm) {
    struct invoice_usage used;
    const char text[] = "{\"prompt_tokens\": 9, \"completion_tokens\": 2, "
                        "\"cache_read_input_tokens\": 0, \"input_tokens_details\": {}}";
    assert_status(text, usage_record_parse(&used, text, strlen(text), NULL), OK);
    assert_number("input", used.input, 9);
}
END_TEST

// At each byte: an error, and never a count.
START_TEST(a_cut_record_is_refused) {
    struct invoice_usage used;
    const char *text = dialects[0].text;
    for (size_t n = 0; n < strlen(text); n++)
        assert_status("cut", usage_record_parse(&used, text, n, NULL), ERR_FORMAT);
}
END_TEST

// Where jansson cannot grow a buffer it may blame the text: refused all the same.
START_TEST(every_failed_allocation_gives_no_count) {
    struct invoice_usage used;
    const char *text = dialects[0].text;
    enum status st = ERR_MEMORY;
    int n = 0;
    for (; st != OK; n++) {
        memory_fail_after(n);
        st = usage_record_parse(&used, text, strlen(text), NULL);
        memory_fail_after(-1);
        ck_assert(st == OK || st == ERR_MEMORY || st == ERR_FORMAT);
    }
    ck_assert_int_ge(n, 5);
    assert_number("input, at last", used.input, 9);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/usage_record");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, each_dialect_is_understood, 0, ROWS(dialects));
    tcase_add_test(reference, words_of_another_API_that_say_nothing_do_no_harm);
    tcase_add_test(reference, lines_are_added_up);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, an_error_says_which_line);
    tcase_add_loop_test(failures, what_the_cache_did_is_never_passed_over, 0,
                        ROWS(mixtures));
    tcase_add_test(failures, a_cut_record_is_refused);
    tcase_add_test(failures, every_failed_allocation_gives_no_count);
    suite_add_tcase(s, failures);
    return s;
}
