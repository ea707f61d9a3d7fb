// The price list: finding by name, date and hours; files that are not what they should be; the list
// that we ship.
#include "level1-user/price_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/limits.h"
#include "tests/support/json_sweeps.h"
#include "tests/support/suite.h"

static const char sample[] =
    "{\"about\": \"a test\", \"prices\": ["
    "{\"provider\": \"A\", \"model\": \"old\", \"valid_from\": null, \"valid_to\": "
    "\"2024-07\","
    " \"currency\": \"USD\", \"input\": \"1\", \"output\": \"2\"},"
    "{\"provider\": \"A\", \"model\": \"old\", \"valid_from\": \"2024-06-15\", "
    "\"valid_to\": \"2025\","
    " \"currency\": \"USD\", \"input\": \"3\", \"output\": \"4\"},"
    "{\"provider\": \"A\", \"model\": \"old\", \"valid_from\": \"2025-03\", \"currency\": "
    "\"USD\","
    " \"input\": \"5\", \"cached_input\": \"0.5\", \"cache_write\": \"6.25\", \"output\": "
    "\"7\"},"
    "{\"provider\": \"A\", \"model\": \"old\", \"valid_from\": \"2025-03\", \"window\": "
    "\"night\","
    " \"currency\": \"USD\", \"input\": \"2.5\", \"output\": \"3.5\"},"
    "{\"provider\": \"B\", \"model\": \"shifts-1.5\", \"valid_from\": \"2025\", "
    "\"window\": \"day\","
    " \"currency\": \"USD\", \"input\": \"8\"},"
    "{\"provider\": \"B\", \"model\": \"shifts-1.5\", \"valid_from\": \"2025\", "
    "\"window\": \"night\","
    " \"currency\": \"USD\", \"input\": \"9\"},"
    "{\"provider\": \"B\", \"model\": \"yuan\", \"currency\": \"CNY\", \"input\": "
    "\"10\"}]}";

static enum status parse(struct price_list *list, const char *text, struct error *err) {
    return price_list_parse(list, text, strlen(text), "list", err);
}

// ---- finding ------------------------------------------------------------------------------------

static const struct {
    const char *name;
    struct price_query query;
    double input; // dollars
} finds[] = {
    {"the latest known, without a date",   {"old", NULL, NULL},             5  },
    {"the last day of the first price",    {"old", "2024-06-14", NULL},     1  },
    {"a beginning that is not known",      {"old", "1999", NULL},           1  },
    {"where two hold, the later one",      {"old", "2024-06-15", NULL},     3  },
    {"after the first has ended",          {"old", "2024-07-01", NULL},     3  },
    {"the last day before a shorter date", {"old", "2024-12-31", NULL},     3  },
    {"a month means its first day",        {"old", "2025-03", NULL},        5  },
    {"an end that is not known",           {"old", "2099-12-31", NULL},     5  },
    {"hours of the day, when asked for",   {"old", NULL, "night"},          2.5},
    {"one of two windows",                 {"shifts-1.5", NULL, "day"},     8  },
    {"the other one, with a date",         {"shifts-1.5", "2026", "night"}, 9  },
};

START_TEST(finds_the_price_that_held) {
    struct price_list list;
    const struct price_entry *entry;
    struct error err = {0};
    ck_assert_msg(parse(&list, sample, &err) == OK, "%s", err.text);
    enum status st = price_list_find(&entry, &list, &finds[_i].query, &err);
    ck_assert_msg(st == OK, "%s: %s", finds[_i].name, err.text);
    assert_number(finds[_i].name, entry->price.input, (int64_t)(finds[_i].input * 1e6));
    price_list_close(&list);
}
END_TEST

static const struct {
    struct price_query query;
    const char *param, *text;
} misses[] = {
    {{"new", NULL, NULL},                 "model", "no price of \"new\" is known; of: old, shifts-1.5"                  },
    {{"OLD", NULL, NULL},                 "model", "no price of \"OLD\" is known; of: old, shifts-1.5"                  },
    {{"", NULL, NULL},                    "model", "no price of \"\" is known; of: old, shifts-1.5"                     },
    {{"yuan", NULL, NULL},                "model", "no price of \"yuan\" is known; of: old, shifts-1.5"                 },
    {{"shifts-1.5", NULL, NULL},
     "window",                                     "shifts-1.5 has no price for \"all day\"; it has one for: day, night"},
    {{"old", NULL, "noon"},
     "window",                                     "old has no price for \"noon\"; it has one for: all day, night"      },
    {{"old", "2025", NULL},
     "date",                                       "old has no price on 2025-01-01; it has one for: "
     "? to 2024-07, 2024-06-15 to 2025, 2025-03 to ?"                                                       },
    {{"old", "2025-02", NULL},
     "date",                                       "old has no price on 2025-02-01; it has one for: "
     "? to 2024-07, 2024-06-15 to 2025, 2025-03 to ?"                                                       },
    {{"shifts-1.5", "2024-12-31", "day"},
     "date",                                       "shifts-1.5 has no price on 2024-12-31; it has one for: 2025 to ?"   },
    {{"old", "soon", NULL},               "date",  "\"soon\" is no date, such as 2025-02-28"                            },
    {{"old", "2025-13", NULL},            "date",  "\"2025-13\" is no date, such as 2025-02-28"                         },
    {{"old", "2025-00-10", NULL},         "date",  "\"2025-00-10\" is no date, such as 2025-02-28"                      },
    {{"old", "2025-01-32", NULL},         "date",  "\"2025-01-32\" is no date, such as 2025-02-28"                      },
    {{"old", "2025-1-1", NULL},           "date",  "\"2025-1-1\" is no date, such as 2025-02-28"                        },
    {{"old", "", NULL},                   "date",  "\"\" is no date, such as 2025-02-28"                                },
    {{"old", "2025-02-280", NULL},
     "date",                                       "\"2025-02-280\" is no date, such as 2025-02-28"                     },
};

START_TEST(says_what_there_is_where_nothing_fits) {
    struct price_list list;
    const struct price_entry *entry;
    struct error err = {0};
    ck_assert_int_eq(parse(&list, sample, NULL), OK);
    ck_assert_int_eq(price_list_find(&entry, &list, &misses[_i].query, &err), ERR_INPUT);
    assert_text("err.text", err.text, misses[_i].text);
    assert_text("err.param", err.param, misses[_i].param);
    ck_assert_ptr_null(entry);
    price_list_close(&list);
}
END_TEST

START_TEST(an_entry_keeps_all_that_the_list_says) {
    struct price_list list;
    const struct price_entry *entry;
    const char *text =
        "{\"prices\": [{\"provider\": \"P\", \"model\": \"m\", \"listed_as\": \"M (1)\","
        " \"valid_from\": \"2025\", \"valid_to\": \"2026-01\", \"window\": \"w\","
        " \"currency\": \"USD\", \"input\": \"0.55\", \"cached_input\": \"0.14\","
        " \"cache_write\": \"0.6875\", \"output\": \"2.19\", \"tag\": \"S\","
        " \"source\": \"s \xc3\xa9\", \"notes\": \"n\"}]}";
    ck_assert_int_eq(parse(&list, text, NULL), OK);
    ck_assert_int_eq(
        price_list_find(&entry, &list, &(struct price_query){"m", NULL, "w"}, NULL), OK);
    assert_text("provider", entry->provider, "P");
    assert_text("listed_as", entry->listed_as, "M (1)");
    assert_text("valid_from", entry->valid_from, "2025");
    assert_text("valid_to", entry->valid_to, "2026-01");
    assert_text("currency", entry->currency, "USD");
    assert_text("tag", entry->tag, "S");
    assert_text("source", entry->source, "s \xc3\xa9");
    assert_text("notes", entry->notes, "n");
    assert_number("input", entry->price.input, 550000);
    assert_number("cached_input", entry->price.cached_input, 140000);
    assert_number("cache_write", entry->price.cache_write, 687500);
    assert_number("output", entry->price.output, 2190000);
    price_list_close(&list);
}
END_TEST

static const char stepped[] =
    "{\"prices\": [{\"model\": \"m\", \"currency\": \"USD\", \"input\": \"2\","
    " \"cached_input\": \"0.5\", \"output\": \"10\", \"step_tokens\": 200000,"
    " \"step_input\": \"4\", \"step_output\": \"15\", \"step_cached_input\": null},"
    " {\"model\": \"n\", \"currency\": \"USD\", \"step_tokens\": 200000,"
    " \"step_cache_write\": \"0\"}]}";

// FIT-07: a request of 200,000 tokens is below the step, one token more takes all of it above.
START_TEST(above_a_step_the_whole_request_has_other_prices) {
    struct price_list list;
    struct error err = {0};
    ck_assert_msg(parse(&list, stepped, &err) == OK, "%s", err.text);
    const struct price_entry *e = &list.entries[0];
    assert_number("steps, each once", list.n_steps, 1);
    assert_number("at the step", price_entry_price(e, 200000)->input, 2000000);
    assert_number("above it", price_entry_price(e, 200001)->input, 4000000);
    assert_number("its output", price_entry_price(e, 200001)->output, 15000000);
    assert_number("what is not given stays", e->step.price.cached_input, 500000);
    assert_number("what is unknown stays so", e->step.price.cache_write, PRICE_UNKNOWN);
    assert_number("free above the step", list.entries[1].step.price.cache_write, 0);
    price_list_close(&list);
}
END_TEST

START_TEST(a_price_that_is_not_there_is_unknown_and_not_zero) {
    struct price_list list;
    ck_assert_int_eq(parse(&list, sample, NULL), OK);
    assert_number("input", list.entries[4].price.input, 8000000);
    assert_number("cached_input", list.entries[4].price.cached_input, PRICE_UNKNOWN);
    assert_number("cache_write", list.entries[4].price.cache_write, PRICE_UNKNOWN);
    assert_number("output", list.entries[4].price.output, PRICE_UNKNOWN);
    price_list_close(&list);
}
END_TEST

// ---- files that are not what they should be -----------------------------------------------------

#define ENTRY(fields) "{\"prices\": [{\"model\": \"m\", \"currency\": \"USD\"" fields "}]}"
#define STEP(n)       ENTRY(", \"step_input\": \"4\", \"step_tokens\": " n)

static const struct {
    const char *json, *why;
} wrong_lists[] = {
    {"",                                                    "list:1: not JSON: "                                },
    {"hello",                                               "list:1: not JSON: "                                },
    {"{\"prices\": [",                                      "list:1: not JSON: "                                },
    {"{\"prices\": [],\n \"prices\": []}",                  "list:2: not JSON: "                                },
    {"[]",                                                  "list: has no list \"prices\""                      },
    {"{}",                                                  "list: has no list \"prices\""                      },
    {"{\"prices\": {}}",                                    "list: has no list \"prices\""                      },
    {"{\"prices\": []}",                                    "list: has no list \"prices\""                      },
    {"{\"prices\": [7]}",                                   "list: prices[0] is not an object"                  },
    {"{\"prices\": [{}]}",                                  "list: prices[0].model must be lower-case"          },
    {"{\"prices\": [{\"model\": \"m\"}]}",                  "list: prices[0].currency is missing"               },
    {"{\"prices\": [{\"model\": \"M 1\"}]}",                "list: prices[0].model must be lower-case"          },
    {"{\"prices\": [{\"model\": 1}]}",                      "list: prices[0].model must be a string or null"    },
    {ENTRY(", \"input\": 0.55"),                            "list: prices[0].input must be a string or null"    },
    {ENTRY(", \"input\": \"-1\""),                          "list: prices[0].input must be dollars"             },
    {ENTRY(", \"output\": \"0.1234567\""),                  "list: prices[0].output must be dollars"            },
    {ENTRY(", \"cached_input\": \"free\""),                 "list: prices[0].cached_input must be dollars"      },
    {ENTRY(", \"cache_write\": \"1e3\""),                   "list: prices[0].cache_write must be dollars"       },
    {ENTRY(", \"valid_from\": \"May 2025\""),               "list: prices[0].valid_from must be a date"         },
    {ENTRY(", \"valid_to\": \"2025-13\""),                  "list: prices[0].valid_to must be a date"           },
    {ENTRY(", \"window\": []"),                             "list: prices[0].window must be a string or null"   },
    {ENTRY(", \"source\": \"\\u001b[2J\""),
     "list: prices[0].source holds control characters"                                                          },
    {ENTRY(", \"notes\": \"a\\nb\""),                       "list: prices[0].notes holds control characters"    },
    {ENTRY(", \"provider\": \"\\u009b\""),
     "list: prices[0].provider holds control characters"                                                        },
    {ENTRY(", \"provider\": \"\\u0000\""),                  "list:1: not JSON: "                                },
    {STEP("0"),                                             "list: prices[0].step_tokens must be a whole number"},
    {STEP("-1"),                                            "list: prices[0].step_tokens must be a whole number"},
    {STEP("1.5"),                                           "list: prices[0].step_tokens must be a whole number"},
    {STEP("\"9\""),                                         "list: prices[0].step_tokens must be a whole number"},
    {STEP("16777217"),                                      "list: prices[0].step_tokens must be a whole number"},
    {ENTRY(", \"step_tokens\": 9, \"step_input\": \"-4\""),
     "list: prices[0].step_input must be dollars"                                                               },
    {ENTRY(", \"step_tokens\": 9"),                         "list: prices[0].step_tokens has no price"          },
    {ENTRY(", \"step_output\": \"4\""),                     "list: prices[0].step_tokens is missing"            },
    {ENTRY(", \"step_price\": \"4\""),                      "list: prices[0].step_price is not a field"         },
    {ENTRY(", \"\": \"2\""),                                "list: prices[0]. is not a field"                   },
    {ENTRY("}, {\"model\": \"m\", \"currency\": \"USD\""),
     "list: prices[1].model has this price twice"                                                               },
};

START_TEST(a_wrong_list_is_refused_with_the_place) {
    struct price_list list;
    struct error err = {0};
    ck_assert_int_eq(parse(&list, wrong_lists[_i].json, &err), ERR_FORMAT);
    ck_assert_msg(strncmp(err.text, wrong_lists[_i].why, strlen(wrong_lists[_i].why)) == 0,
                  "\"%s\", want \"%s\"", err.text, wrong_lists[_i].why);
    ck_assert_ptr_null(list.entries);
    price_list_close(&list);
}
END_TEST

static enum status read_whole(const char *bytes, size_t n_bytes, struct error *err) {
    struct price_list x;
    enum status st = price_list_parse(&x, bytes, n_bytes, "list", err);
    MUST(st == OK || !x.entries); // a failure leaves it closed
    price_list_close(&x);
    price_list_close(&x); // twice: as good as once
    return st;
}

START_TEST(a_list_cut_at_any_byte_is_refused) {
    assert_cuts_are_refused(read_whole, sample);
    assert_cuts_are_refused(read_whole, stepped);
}
END_TEST

START_TEST(a_list_with_a_wrong_byte_never_crashes) {
    assert_wrong_bytes_do_no_harm(read_whole, sample);
    assert_wrong_bytes_do_no_harm(read_whole, stepped);
}
END_TEST

START_TEST(lists_above_the_limits_are_refused) {
    struct price_list list;
    struct error err = {0};
    size_t n_bytes = LIMIT_PRICE_BYTES + 1;
    char *text = calloc(1, n_bytes);
    memset(text, ' ', n_bytes);
    ck_assert_int_eq(price_list_parse(&list, text, n_bytes, "list", &err), ERR_LIMIT);
    ck_assert_int_eq(price_list_parse(&list, text, n_bytes - 1, "list", &err), ERR_FORMAT);

    // Entries that are no objects: as many as may be are read, one more is counted only.
    for (int n_entries = LIMIT_PRICE_ENTRIES; n_entries <= LIMIT_PRICE_ENTRIES + 1;
         n_entries++) {
        size_t n = (size_t)sprintf(text, "{\"prices\": [0");
        for (int i = 1; i < n_entries; i++) n += (size_t)sprintf(text + n, ",0");
        n += (size_t)sprintf(text + n, "]}");
        enum status st = price_list_parse(&list, text, n, "list", &err);
        ck_assert_int_eq(st, n_entries > LIMIT_PRICE_ENTRIES ? ERR_LIMIT : ERR_FORMAT);
    }
    free(text);
}
END_TEST

START_TEST(more_steps_than_the_limit_are_refused) {
    struct price_list list;
    struct error err = {0};
    char text[1024];
    size_t n = (size_t)sprintf(text, "{\"prices\": [");
    for (int i = 1; i <= LIMIT_PRICE_STEPS + 1; i++) {
        n += (size_t)sprintf(text + n,
                             "{\"model\": \"m%d\", \"currency\": \"USD\", "
                             "\"step_tokens\": %d, \"step_input\": \"1\"}",
                             i, i);
        strcpy(text + n, "]}");
        enum status st = parse(&list, text, &err);
        ck_assert_int_eq(st, i > LIMIT_PRICE_STEPS ? ERR_LIMIT : OK);
        price_list_close(&list);
        text[n++] = ',';
    }
    assert_text("err.text", err.text, "list: more than 8 different step_tokens");
}
END_TEST

START_TEST(deep_nesting_is_refused) {
    struct price_list list;
    size_t n_bytes = 1 << 19;
    char *text = malloc(n_bytes);
    memset(text, '[', n_bytes);
    ck_assert_int_eq(price_list_parse(&list, text, n_bytes, "list", NULL), ERR_LIMIT);
    free(text);
}
END_TEST

START_TEST(every_failed_allocation_is_an_error) {
    assert_failed_allocations_are_told(read_whole, sample);
}
END_TEST

START_TEST(many_models_are_listed_as_far_as_they_fit) {
    struct price_list list;
    const struct price_entry *entry;
    struct error err = {0};
    char text[8192];
    size_t n = (size_t)sprintf(text, "{\"prices\": [");
    for (int i = 0; i < 50; i++)
        n += (size_t)sprintf(text + n, "%s{\"model\": \"model-%d\", \"currency\": \"USD\"}",
                             i ? "," : "", i);
    sprintf(text + n, "]}");
    ck_assert_int_eq(parse(&list, text, NULL), OK);
    price_list_find(&entry, &list, &(struct price_query){.model = "x"}, &err);
    ck_assert_msg(strstr(err.text, "of: model-0, model-1, ") && strstr(err.text, ", ..."),
                  "%s", err.text);
    price_list_close(&list);
}
END_TEST

// ---- files --------------------------------------------------------------------------------------

START_TEST(a_file_that_cannot_be_read_is_named) {
    struct price_list list;
    struct error err = {0};
    ck_assert_int_eq(price_list_open(&list, "no/such/list.json", &err), ERR_IO);
    assert_text("err.text", err.text, "no/such/list.json: No such file or directory");
    ck_assert_int_eq(price_list_open(&list, "/dev/null", &err), ERR_IO);
    ck_assert_int_eq(price_list_open(&list, ".", &err), ERR_IO);

    char path[] = "/tmp/empty-list-XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(price_list_open(&list, path, &err), ERR_FORMAT);
    unlink(path);
}
END_TEST

START_TEST(the_list_that_we_ship_has_the_prices_of_the_course) {
    struct price_list list;
    const struct price_entry *entry;
    struct error err = {0};
    ck_assert_msg(price_list_open(&list, "data/prices.json", &err) == OK, "%s", err.text);
    const struct price_query query = {"deepseek-r1", "2025-02", NULL};
    ck_assert_msg(price_list_find(&entry, &list, &query, &err) == OK, "%s", err.text);
    assert_number("input", entry->price.input, 550000);
    assert_number("cached_input", entry->price.cached_input, 140000);
    assert_number("cache_write", entry->price.cache_write, PRICE_UNKNOWN);
    assert_number("output", entry->price.output, 2190000);
    for (int i = 0; i < list.n_entries; i++) {
        const struct price_entry *e = &list.entries[i];
        ck_assert_msg(*e->provider && *e->source && *e->tag, "prices[%d]: whence?", i);
    }
    price_list_close(&list);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/price_list");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, finds_the_price_that_held, 0,
                        sizeof(finds) / sizeof(finds[0]));
    tcase_add_loop_test(reference, says_what_there_is_where_nothing_fits, 0,
                        sizeof(misses) / sizeof(misses[0]));
    tcase_add_test(reference, an_entry_keeps_all_that_the_list_says);
    tcase_add_test(reference, above_a_step_the_whole_request_has_other_prices);
    tcase_add_test(reference, a_price_that_is_not_there_is_unknown_and_not_zero);
    tcase_add_test(reference, many_models_are_listed_as_far_as_they_fit);
    tcase_add_test(reference, the_list_that_we_ship_has_the_prices_of_the_course);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, a_wrong_list_is_refused_with_the_place, 0,
                        sizeof(wrong_lists) / sizeof(wrong_lists[0]));
    tcase_add_test(failures, a_list_cut_at_any_byte_is_refused);
    tcase_add_test(failures, a_list_with_a_wrong_byte_never_crashes);
    tcase_add_test(failures, lists_above_the_limits_are_refused);
    tcase_add_test(failures, more_steps_than_the_limit_are_refused);
    tcase_add_test(failures, deep_nesting_is_refused);
    tcase_add_test(failures, every_failed_allocation_is_an_error);
    tcase_add_test(failures, a_file_that_cannot_be_read_is_named);
    suite_add_tcase(s, failures);
    return s;
}
