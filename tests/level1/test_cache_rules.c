// The rules of caches: the list that we ship, and files that are not what they should be.
#include "level1-user/cache_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/json_sweeps.h"
#include "tests/support/suite.h"

static const char sample[] =
    "{\"about\": \"a test\", \"rules\": ["
    "{\"provider\": \"A\", \"valid_from\": \"2025\", \"min_tokens\": 64, \"step_tokens\": "
    "16, \"look_back\": null, \"write_factor\": null, \"read_factor\": \"0.025\"},"
    "{\"provider\": \"B\", \"min_tokens\": 0, \"step_tokens\": 1, \"look_back\": 0,"
    " \"write_factor\": \"2\", \"tag\": \"S\", \"source\": \"s\", \"notes\": \"n\"}]}";

static enum status parse(struct cache_rules *list, const char *text, struct error *err) {
    return cache_rules_parse(list, text, strlen(text), "list", err);
}

static void assert_rule(const char *who, const struct audit_rule *got,
                        const struct audit_rule *want) {
    char what[96];
    const struct {
        const char *field;
        int64_t got, want;
    } fields[] = {
        {"min_tokens",      got->min_tokens,      want->min_tokens     },
        {"step_tokens",     got->step_tokens,     want->step_tokens    },
        {"needs_marks",     got->needs_marks,     want->needs_marks    },
        {"look_back",       got->look_back,       want->look_back      },
        {"write_per_mille", got->write_per_mille, want->write_per_mille},
        {"read_per_mille",  got->read_per_mille,  want->read_per_mille },
    };
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        snprintf(what, sizeof(what), "%s: %s", who, fields[i].field);
        assert_number(what, fields[i].got, fields[i].want);
    }
}

START_TEST(an_entry_keeps_all_that_the_list_says) {
    struct cache_rules list;
    struct error err = {0};
    ck_assert_msg(parse(&list, sample, &err) == OK, "%s", err.text);
    assert_number("entries", list.n_entries, 2);
    assert_text("valid_from", list.entries[0].valid_from, "2025");
    assert_text("valid_to", list.entries[0].valid_to, "");
    assert_rule("A", &list.entries[0].rule,
                &(struct audit_rule){64, 16, false, 0, AUDIT_UNKNOWN, 25});
    assert_text("provider", list.entries[1].provider, "B");
    assert_text("tag", list.entries[1].tag, "S");
    assert_text("source", list.entries[1].source, "s");
    assert_text("notes", list.entries[1].notes, "n");
    assert_rule("B", &list.entries[1].rule,
                &(struct audit_rule){0, 1, true, 0, 2000, AUDIT_UNKNOWN});
    cache_rules_close(&list);
}
END_TEST

static const struct {
    const char *provider;
    struct audit_rule rule;
} shipped[] = {
    {"DeepSeek",  {64, 64, false, 0, 1000, AUDIT_UNKNOWN}         },
    {"OpenAI",    {1024, 128, false, 0, 1000, AUDIT_UNKNOWN}      },
    {"Anthropic", {1024, 1, true, 20, 1250, 100}                  },
    {"vLLM",      {16, 16, false, 0, AUDIT_UNKNOWN, AUDIT_UNKNOWN}},
};
enum { N_SHIPPED = sizeof(shipped) / sizeof(shipped[0]) };

START_TEST(the_list_that_we_ship_has_the_rules_of_the_course) {
    struct cache_rules list;
    struct error err = {0};
    ck_assert_msg(cache_rules_open(&list, "data/cache-rules.json", &err) == OK, "%s",
                  err.text);
    ck_assert_int_ge(list.n_entries, N_SHIPPED);
    for (int i = 0; i < list.n_entries; i++) {
        const struct cache_rule *e = &list.entries[i];
        ck_assert_msg(*e->source && *e->tag, "rules[%d]: whence?", i);
        if (i >= N_SHIPPED) continue;
        assert_text("provider", e->provider, shipped[i].provider);
        assert_rule(e->provider, &e->rule, &shipped[i].rule);
    }
    cache_rules_close(&list);
}
END_TEST

// ---- files that are not what they should be -----------------------------------------------------

#define ENTRY(fields) "{\"rules\": [{\"provider\": \"p\"" fields "}]}"
#define WHOLE(fields) ENTRY(", \"min_tokens\": 1, \"step_tokens\": 1" fields)

// clang-format off
static const struct {
    const char *json, *why;
} wrong_lists[] = {
    {"", "list:1: not JSON: "},
    {"hello", "list:1: not JSON: "},
    {"{\"rules\": [],\n \"rules\": []}", "list:2: not JSON: "},
    {"[]", "list: has no list \"rules\""},
    {"{\"rules\": {}}", "list: has no list \"rules\""},
    {"{\"rules\": []}", "list: has no list \"rules\""},
    {"{\"rules\": [7]}", "list: rules[0] is not an object"},
    {"{\"rules\": [{\"min_tokens\": 1, \"step_tokens\": 1}]}", "list: rules[0].provider is missing"},
    {ENTRY(", \"step_tokens\": 1"), "list: rules[0].min_tokens is missing"},
    {ENTRY(", \"min_tokens\": 1"), "list: rules[0].step_tokens is missing"},
    {ENTRY(", \"min_tokens\": \"1\", \"step_tokens\": 1"),
     "list: rules[0].min_tokens must be a whole number from 0 to 16777216, or null"},
    {ENTRY(", \"min_tokens\": -1, \"step_tokens\": 1"), "list: rules[0].min_tokens must be"},
    {ENTRY(", \"min_tokens\": 1.0, \"step_tokens\": 1"), "list: rules[0].min_tokens must be"},
    {ENTRY(", \"min_tokens\": 16777217, \"step_tokens\": 1"), "list: rules[0].min_tokens must be"},
    {ENTRY(", \"min_tokens\": 1, \"step_tokens\": 0"),
     "list: rules[0].step_tokens must be a whole number from 1"},
    {ENTRY(", \"min_tokens\": 1, \"step_tokens\": 9223372036854775807"), "list: rules[0].step_tokens must be"},
    {ENTRY(", \"min_tokens\": 1, \"step_tokens\": 9223372036854775808"), "list:1: not JSON: "},
    {WHOLE(", \"look_back\": -1"), "list: rules[0].look_back must be a whole number from 0"},
    {WHOLE(", \"look_back\": 5000000000"), "list: rules[0].look_back must be"},
    {WHOLE(", \"look_back\": true"), "list: rules[0].look_back must be"},
    {WHOLE(", \"write_factor\": 1.25"), "list: rules[0].write_factor must be a string or null"},
    {WHOLE(", \"write_factor\": \"-1\""), "list: rules[0].write_factor must be a decimal"},
    {WHOLE(", \"read_factor\": \"0.0001\""), "list: rules[0].read_factor must be a decimal"},
    {WHOLE(", \"read_factor\": \"100.001\""), "list: rules[0].read_factor must be a decimal"},
    {WHOLE(", \"read_factor\": \"a tenth\""), "list: rules[0].read_factor must be a decimal"},
    {WHOLE(", \"valid_from\": \"May 2025\""), "list: rules[0].valid_from must be a date"},
    {WHOLE(", \"valid_to\": \"2025-13\""), "list: rules[0].valid_to must be a date"},
    {WHOLE(", \"source\": \"\\u001b[2J\""), "list: rules[0].source holds control characters"},
    {WHOLE(", \"lifetime\": \"5 minutes\""), "list: rules[0].lifetime is not a field of a rule"},
};
// clang-format on

START_TEST(a_wrong_list_is_refused_with_the_place) {
    struct cache_rules list;
    struct error err = {0};
    assert_status(wrong_lists[_i].json, parse(&list, wrong_lists[_i].json, &err),
                  ERR_FORMAT);
    ck_assert_msg(strncmp(err.text, wrong_lists[_i].why, strlen(wrong_lists[_i].why)) == 0,
                  "\"%s\", want \"%s\"", err.text, wrong_lists[_i].why);
    ck_assert_ptr_null(list.entries);
    cache_rules_close(&list);
}
END_TEST

static enum status read_whole(const char *bytes, size_t n_bytes, struct error *err) {
    struct cache_rules x;
    enum status st = cache_rules_parse(&x, bytes, n_bytes, "list", err);
    MUST(st == OK || !x.entries); // a failure leaves it closed
    cache_rules_close(&x);
    cache_rules_close(&x); // twice: as good as once
    return st;
}

START_TEST(a_list_cut_at_any_byte_is_refused) {
    assert_cuts_are_refused(read_whole, sample);
}
END_TEST

START_TEST(a_list_with_a_wrong_byte_never_crashes) {
    assert_wrong_bytes_do_no_harm(read_whole, sample);
}
END_TEST

START_TEST(lists_above_the_limits_are_refused) {
    struct cache_rules list;
    size_t n_bytes = LIMIT_RULE_BYTES + 1;
    char *text = malloc(n_bytes);
    memset(text, ' ', n_bytes);
    assert_status("too many bytes", cache_rules_parse(&list, text, n_bytes, "list", NULL),
                  ERR_LIMIT);
    assert_status("as many as may be",
                  cache_rules_parse(&list, text, n_bytes - 1, "list", NULL), ERR_FORMAT);
    size_t n = (size_t)sprintf(text, "{\"rules\": [0");
    for (int i = 0; i < LIMIT_CACHE_RULES; i++) n += (size_t)sprintf(text + n, ",0");
    n += (size_t)sprintf(text + n, "]}");
    assert_status("one rule too many", cache_rules_parse(&list, text, n, "list", NULL),
                  ERR_LIMIT);
    free(text);
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    assert_failed_allocations_are_told(read_whole, sample);
}
END_TEST

START_TEST(a_file_that_cannot_be_read_is_named) {
    struct cache_rules list;
    struct error err = {0};
    assert_status("no file", cache_rules_open(&list, "no/such/list.json", &err), ERR_IO);
    assert_text("err.text", err.text, "no/such/list.json: No such file or directory");
    char path[] = "/tmp/empty-rules-XXXXXX";
    close(mkstemp(path));
    assert_status("an empty file", cache_rules_open(&list, path, &err), ERR_FORMAT);
    unlink(path);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/cache_rules");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, an_entry_keeps_all_that_the_list_says);
    tcase_add_test(reference, the_list_that_we_ship_has_the_rules_of_the_course);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_wrong_list_is_refused_with_the_place, 0,
                        sizeof(wrong_lists) / sizeof(wrong_lists[0]));
    tcase_add_test(failures, a_list_cut_at_any_byte_is_refused);
    tcase_add_test(failures, a_list_with_a_wrong_byte_never_crashes);
    tcase_add_test(failures, lists_above_the_limits_are_refused);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    tcase_add_test(failures, a_file_that_cannot_be_read_is_named);
    suite_add_tcase(s, failures);
    return s;
}
