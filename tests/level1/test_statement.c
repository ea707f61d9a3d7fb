// Two invoices side by side: the support bot, a cache that costs more than it saves, no memory.
#include "level1-user/statement.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static const struct price_entry bot_prices = {
    .price = {550000, 140000, PRICE_UNKNOWN, 2190000},
    .provider = "DeepSeek",
    .listed_as = "R1",
    .model = "deepseek-r1",
    .valid_from = "2025-02",
    .valid_to = "2025-09-05",
    .window = "",
    .currency = "USD",
    .tag = "S",
    .source = "the pricing page",
    .notes = "",
};

static struct statement bot_statement(void) {
    struct statement s;
    const struct workload work = {
        .used = {3200, 3000, 0, 300},
        .n_requests = 1000,
    };
    assert_number("statement_of", statement_of(&s, &bot_prices, &work, NULL), OK);
    return s;
}

static struct statement bot_month(int64_t per_day) {
    struct statement s = bot_statement();
    assert_status("statement_per_day", statement_per_day(&s, per_day, NULL), OK);
    return s;
}

// Written once and read once: the write costs a quarter more than it saves.
static struct statement dear_statement(struct price_entry *entry) {
    struct statement s;
    const struct workload work = {
        .used = {.input = 1000, .cache_write = 1000},
        .n_requests = 1,
    };
    *entry = bot_prices;
    entry->price = (struct price){4000000, 400000, 5000000, 20000000};
    entry->valid_from = entry->source = "";
    entry->window = "peak";
    assert_number("statement_of", statement_of(&s, entry, &work, NULL), OK);
    return s;
}

static void assert_printed(const struct statement *s, const char *want) {
    char *text = NULL;
    size_t n_text = 0;
    FILE *out = open_memstream(&text, &n_text);
    statement_print(out, s);
    fclose(out);
    assert_text("statement_print", text, want);
    free(text);
}

// clang-format off
START_TEST(the_support_bot_halves_its_bill) {
    const struct statement s = bot_statement();
    assert_printed(&s,
        "deepseek-r1 (DeepSeek), prices of 2025-02 to 2025-09-05\n"
        "1,000 requests; tokens of each: 3,200 input, 3,000 of them cached, 300 output\n"
        "\n"
        "                $ per million         without cache            with cache\n"
        "input                    0.55                $1.760                $0.110\n"
        "cached input             0.14                $0.000                $0.420\n"
        "output                   2.19                $0.657                $0.657\n"
        "total                                        $2.417                $1.187\n"
        "one request                               $0.002417             $0.001187\n"
        "\n"
        "saved by the cache: $1.230, 50.9 %\n"
        "source of the prices: the pricing page\n");
}
END_TEST

START_TEST(a_thousand_and_a_month_are_shown_when_asked_for) {
    const struct statement s = bot_month(10000);
    assert_printed(&s,
        "deepseek-r1 (DeepSeek), prices of 2025-02 to 2025-09-05\n"
        "1,000 requests; tokens of each: 3,200 input, 3,000 of them cached, 300 output\n"
        "\n"
        "                $ per million         without cache            with cache\n"
        "input                    0.55                $1.760                $0.110\n"
        "cached input             0.14                $0.000                $0.420\n"
        "output                   2.19                $0.657                $0.657\n"
        "total                                        $2.417                $1.187\n"
        "one request                               $0.002417             $0.001187\n"
        "1,000 requests                               $2.417                $1.187\n"
        "30 days          10,000 a day               $725.10               $356.10\n"
        "\n"
        "saved by the cache: $1.230, 50.9 %\n"
        "source of the prices: the pricing page\n");
}
END_TEST

START_TEST(a_cache_may_cost_more_than_it_saves) {
    struct price_entry entry;
    const struct statement s = dear_statement(&entry);
    assert_printed(&s,
        "deepseek-r1 (DeepSeek), prices until 2025-09-05, peak\n"
        "1 request; tokens of each: 1,000 input, 1,000 of them written to the cache, 0 output\n"
        "\n"
        "                $ per million         without cache            with cache\n"
        "input                       4                $0.004                $0.000\n"
        "cached input              0.4                $0.000                $0.000\n"
        "cache write                 5                $0.000                $0.005\n"
        "output                     20                $0.000                $0.000\n"
        "total                                        $0.004                $0.005\n"
        "one request                                  $0.004                $0.005\n"
        "\n"
        "lost by the cache: $0.001, 25.0 %\n");
}
END_TEST
// clang-format on

START_TEST(amounts_are_decimals_in_the_document) {
    struct price_entry entry;
    const struct statement s = _i ? dear_statement(&entry) : bot_statement();
    json_t *root = statement_json(&s);
    const char *saved, *percent, *total, *one, *before;
    ck_assert_int_eq(json_unpack(root, "{s:s, s:s, s:{s:s, s:{s:s}}, s:{s:s}}", "saved_usd",
                                 &saved, "saved_percent", &percent, "workload", "total_usd",
                                 &total, "without_cache", "total_usd", &before,
                                 "per_request", "total_usd", &one),
                     0);
    assert_text("saved_usd", saved, _i ? "-0.001" : "1.23");
    assert_text("saved_percent", percent, _i ? "-25.0" : "50.9");
    assert_text("total_usd", total, _i ? "0.005" : "1.187");
    assert_text("without cache", before, _i ? "0.004" : "2.417");
    assert_text("one request", one, _i ? "0.005" : "0.001187");
    json_decref(root);
}
END_TEST

START_TEST(a_month_stands_in_the_document_when_asked_for) {
    const struct statement s = bot_month(1);
    json_t *root = statement_json(&s);
    const char *thousand, *month, *before;
    json_int_t per_day;
    ck_assert_int_eq(json_unpack(root, "{s:I, s:{s:s}, s:{s:s, s:{s:s}}}",
                                 "requests_per_day", &per_day, "per_thousand", "total_usd",
                                 &thousand, "per_month", "total_usd", &month,
                                 "without_cache", "total_usd", &before),
                     0);
    assert_number("requests_per_day", per_day, 1);
    assert_text("per_thousand", thousand, "1.187");
    assert_text("per_month", month, "0.03561");
    assert_text("per_month, without cache", before, "0.07251");
    json_decref(root);
}
END_TEST

START_TEST(a_month_that_no_number_holds_is_refused) {
    struct statement s = bot_statement();
    const int64_t most = INT64_MAX / 2417000000 / 30; // requests a day, without the cache
    assert_status("as many as fit", statement_per_day(&s, most, NULL), OK);
    assert_status("one more", statement_per_day(&s, most + 1, NULL), ERR_LIMIT);
}
END_TEST

// Of recorded requests there is no single one to show.
START_TEST(recorded_requests_are_added_up) {
    struct workload work = {.is_sum = true};
    const struct invoice_usage first = {3200, 3000, 0, 300}, second = {200, 0, 0, 1};
    struct statement s;
    assert_status("workload_add", workload_add(&work, &first, NULL), OK);
    assert_status("workload_add", workload_add(&work, &second, NULL), OK);
    assert_number("statement_of", statement_of(&s, &bot_prices, &work, NULL), OK);
    assert_printed(
        &s, "deepseek-r1 (DeepSeek), prices of 2025-02 to 2025-09-05\n"
            "2 recorded requests; tokens of all: 3,400 input, 3,000 of them cached, "
            "301 output\n"
            "\n"
            "                $ per million         without cache            with cache\n"
            "input                    0.55           $0.00187000           $0.00022000\n"
            "cached input             0.14           $0.00000000           $0.00042000\n"
            "output                   2.19           $0.00065919           $0.00065919\n"
            "total                                   $0.00252919           $0.00129919\n"
            "\n"
            "saved by the cache: $0.00123000, 48.6 %\n"
            "source of the prices: the pricing page\n");
}
END_TEST

// A sum that does not know which requests are above the step cannot be billed.
START_TEST(a_sum_without_the_step_is_refused) {
    struct workload work = {.is_sum = true};
    struct price_entry entry = bot_prices;
    const struct invoice_usage used = {.input = 60};
    struct statement s;
    struct error err = {0};
    entry.step = (struct price_step){100, entry.price};
    assert_status("first", workload_add(&work, &used, NULL), OK);
    assert_status("60, no step is near", statement_of(&s, &entry, &work, &err), OK);
    assert_status("second", workload_add(&work, &used, NULL), OK);
    assert_status("120", statement_of(&s, &entry, &work, &err), ERR_INPUT);
    assert_text("err.param", err.param, "step");
}
END_TEST

START_TEST(a_sum_that_no_number_holds_is_refused) {
    struct workload work = {.is_sum = true};
    const struct invoice_usage most = {.input = INT64_MAX, .output = 1};
    assert_status("first", workload_add(&work, &most, NULL), OK);
    assert_status("second", workload_add(&work, &most, NULL), ERR_LIMIT);
    assert_number("it stays", work.n_requests, 1);
    assert_number("all of it stays", work.used.output, 1);
}
END_TEST

START_TEST(nothing_costs_nothing) {
    struct statement s;
    const struct workload work = {.n_requests = 0};
    assert_number("statement_of", statement_of(&s, &bot_prices, &work, NULL), OK);
    json_t *root = statement_json(&s);
    assert_text("saved_percent", json_string_value(json_object_get(root, "saved_percent")),
                "0.0");
    json_decref(root);
}
END_TEST

START_TEST(what_cannot_be_billed_is_refused) {
    static const struct {
        struct workload work;
        enum status want;
    } wrong[] = {
        {{.used = {10, 11, 0, 0}, .n_requests = 1},                                 ERR_INPUT      },
        {{.used = {10, 1, 0, 0}, .n_requests = -1},                                 ERR_INPUT      },
        {{.used = {10, 0, 1, 0}, .n_requests = 1},                                  ERR_UNSUPPORTED},
        {{.used = {INT64_MAX, 0, 0, 0}, .n_requests = 1},                           ERR_LIMIT      },
        {{.used = {INT64_MAX / 550000, 0, 0, 0}, .n_requests = 2},                  ERR_LIMIT      },
 // Only without the cache:
        {{.used = {INT64_MAX / 550000, INT64_MAX / 550000, 0, 0}, .n_requests = 2},
         ERR_LIMIT                                                                                 },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct statement s;
        enum status st = statement_of(&s, &bot_prices, &wrong[i].work, NULL);
        assert_text("statement_of", status_name(st), status_name(wrong[i].want));
    }
}
END_TEST

START_TEST(every_failed_allocation_gives_no_document) {
    const struct statement s = bot_month(10000);
    json_t *root = NULL;
    int n = 0;
    for (;; n++) {
        memory_fail_after(n);
        root = statement_json(&s);
        memory_fail_after(-1);
        if (root) break;
    }
    ck_assert_int_ge(n, 10);
    json_decref(root);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/statement");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, the_support_bot_halves_its_bill);
    tcase_add_test(reference, a_thousand_and_a_month_are_shown_when_asked_for);
    tcase_add_test(reference, a_month_stands_in_the_document_when_asked_for);
    tcase_add_test(reference, a_cache_may_cost_more_than_it_saves);
    tcase_add_loop_test(reference, amounts_are_decimals_in_the_document, 0, 2);
    tcase_add_test(reference, recorded_requests_are_added_up);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, a_sum_without_the_step_is_refused);
    tcase_add_test(failures, a_sum_that_no_number_holds_is_refused);
    tcase_add_test(failures, a_month_that_no_number_holds_is_refused);
    tcase_add_test(failures, nothing_costs_nothing);
    tcase_add_test(failures, what_cannot_be_billed_is_refused);
    tcase_add_test(failures, every_failed_allocation_gives_no_document);
    suite_add_tcase(s, failures);
    return s;
}
