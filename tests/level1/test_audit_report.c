// What ask --audit prints, to the letter.
#include "level1-user/audit_report.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

#define CHAT(system, user)                                                                 \
    "{\"messages\": [{\"role\": \"system\", \"content\": \"" system                        \
    "\"}, {\"role\": \"user\", \"content\": \"" user "\"}]}"

static const char rules[] =
    "{\"rules\": [{\"provider\": \"Quarters\", \"valid_from\": \"2025\", \"valid_to\": "
    "\"2026\", \"min_tokens\": 4, \"step_tokens\": 4, \"write_factor\": \"1\", "
    "\"read_factor\": \"0.5\"}]}";

// clang-format off
static const struct {
    const char *name, *first, *second, *want;
} reports[] = {
    {"a clock", CHAT("10:02 Be kind.", "Where?"), CHAT("10:05 Be kind.", "When?"),
     "the two requests part at messages[0].content, byte 4\n"
     "  first   10:02 Be kind.\n"
     "  second  10:05 Be kind.\n"
     "tokens of the second (estimated, 1 bytes each): 4 the same in front\n"
     "  of that place, 9 the same behind it\n\n"
     "                                      cached   written      lost   input costs\n"
     "Quarters, from 2025 to 2026                4        12         8        89.5 %\n"},
    {"the same", CHAT("abcd", "efg"), CHAT("abcd", "efg"), "the two requests say the same\n"},
    {"it goes on", "{\"messages\": []}", CHAT("abcd", "efg"),
     "the second request begins with the first and goes on at messages[0].content\n"},
    {"it went on", CHAT("abcd", "efg"), "{\"messages\": []}",
     "the second request ends where the first goes on at messages[0].content\n"},
    {"a role", "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}",
     "{\"messages\": [{\"role\": \"system\", \"content\": \"a\"}]}",
     "the two requests part at the role of messages[0].content\n"},
    {"a long text", CHAT("aaaaaaaaaaaaaaaaaaaaaaaaa1bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", ""),
     CHAT("aaaaaaaaaaaaaaaaaaaaaaaaa2", ""),
     "the two requests part at messages[0].content, byte 25\n"
     "  first   ...aaaaaaaaaaaaaaaaaaaa1bbbbbbbbbbbbbbbbbbbbbbbbbbbbb...\n"
     "  second  ...aaaaaaaaaaaaaaaaaaaa2\n"},
    {"a hostile text, and a letter cut in two", CHAT("\\u001b[2J\\n\xc3\xa4z", ""), CHAT("\\u001b[2J\\n\xc3\xb6z", ""),
     "the two requests part at messages[0].content, byte 6\n"
     "  first   ?[2J \xc3\xa4z\n"
     "  second  ?[2J \xc3\xb6z\n"},
};
// clang-format on
enum { N_REPORTS = sizeof(reports) / sizeof(reports[0]) };

START_TEST(says_where_they_part) {
    static const struct token_estimate a_byte = {1, 0};
    struct request_file first, second;
    struct cache_rules list;
    char *text = NULL;
    size_t n_bytes = 0;
    assert_status("first",
                  request_file_parse(&first, reports[_i].first, strlen(reports[_i].first),
                                     "first", NULL),
                  OK);
    assert_status("second",
                  request_file_parse(&second, reports[_i].second,
                                     strlen(reports[_i].second), "second", NULL),
                  OK);
    assert_status("rules", cache_rules_parse(&list, rules, strlen(rules), "rules", NULL),
                  OK);
    FILE *out = open_memstream(&text, &n_bytes);
    audit_report_print(out, &first, &second, &list, &a_byte);
    fclose(out);
    // The figures once; of the others, what is said of the place.
    if (_i > 0) *strstr(text, "tokens of the second") = '\0';
    assert_text(reports[_i].name, text, reports[_i].want);
    free(text);
    request_file_close(&first);
    request_file_close(&second);
    cache_rules_close(&list);
}
END_TEST

START_TEST(nothing_is_printed_where_a_file_is_missing) {
    static const struct token_estimate a_byte = {1, 0};
    struct error err = {0};
    char *text = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&text, &n_bytes);
    assert_status("audit_report_files",
                  audit_report_files(out, "no/first.json", "no/second.json",
                                     "data/cache-rules.json", &a_byte, &err),
                  ERR_IO);
    fclose(out);
    assert_text("err.text", err.text, "no/first.json: No such file or directory");
    assert_text("printed", text, "");
    free(text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/audit_report");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, says_where_they_part, 0, N_REPORTS);
    tcase_add_test(reference, nothing_is_printed_where_a_file_is_missing);
    suite_add_tcase(s, reference);
    return s;
}
