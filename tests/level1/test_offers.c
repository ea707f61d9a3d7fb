// All models of a list for one workload: order, dates, prices that nobody knows, no memory.
#include "level1-user/offers.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static const char prices[] =
    "{\"prices\": ["
    "{\"model\": \"dear\", \"currency\": \"USD\", \"valid_from\": \"2025\","
    " \"input\": \"4\", \"cached_input\": \"1\", \"output\": \"8\"},"
    "{\"model\": \"cheap\", \"currency\": \"USD\", \"valid_from\": \"2025\","
    " \"valid_to\": \"2026\", \"input\": \"2\", \"cached_input\": \"1\", \"output\": "
    "\"2\"},"
    "{\"model\": \"cheap\", \"currency\": \"USD\", \"valid_from\": \"2026\","
    " \"input\": \"1\", \"cached_input\": \"0.5\", \"output\": \"1\"},"
    "{\"model\": \"cheap\", \"currency\": \"USD\", \"window\": \"night\","
    " \"input\": \"0.1\", \"cached_input\": \"0.1\", \"output\": \"0.1\"},"
    "{\"model\": \"half-known\", \"currency\": \"USD\", \"input\": \"0.1\"},"
    "{\"model\": \"elsewhere\", \"currency\": \"CNY\", \"input\": \"1\", \"output\": "
    "\"1\"}]}";

static const struct workload bot = {
    .used = {3000, 2000, 0, 500},
    .n_requests = 1000,
};

static struct price_list list_of(const char *text) {
    struct price_list list;
    assert_status("list", price_list_parse(&list, text, strlen(text), "list", NULL), OK);
    return list;
}

// dear: 1000 * (1000 * 4 + 2000 * 1 + 500 * 8) millionths of a dollar = $10.
START_TEST(the_cheapest_comes_first) {
    struct price_list list = list_of(prices);
    struct offers o;
    char *text = NULL;
    size_t n_text = 0;
    assert_status("offers_of", offers_of(&o, &list, NULL, &bot, NULL), OK);
    FILE *out = open_memstream(&text, &n_text);
    offers_print(out, &o);
    fclose(out);
    // clang-format off
    assert_text("offers_print", text,
        "all models, cheapest first     price holds                       total     times\n"
        "cheap, night                   ? to ?                            $0.35     1.0 x\n"
        "cheap                          2026 to ?                         $2.50     7.1 x\n"
        "dear                           2025 to ?                        $10.00    28.6 x\n"
        "left out: half-known: no price is known for cached\n");
    // clang-format on
    free(text);
    offers_close(&o);
    price_list_close(&list);
}
END_TEST

START_TEST(a_date_takes_the_price_of_that_day) {
    struct price_list list = list_of(prices);
    struct offers o;
    assert_status("offers_of", offers_of(&o, &list, "2025-07", &bot, NULL), OK);
    assert_number("billed", o.n_billed, 3);
    assert_text("second", o.items[1].entry->valid_to, "2026");
    assert_number("second, 10^-12 dollars", o.items[1].bill.total, 5000000000000);
    offers_close(&o);
    price_list_close(&list);
}
END_TEST

START_TEST(what_is_unknown_is_null_in_the_document) {
    struct price_list list = list_of(prices);
    struct offers o;
    const char *total, *why;
    assert_status("offers_of", offers_of(&o, &list, NULL, &bot, NULL), OK);
    json_t *root = offers_json(&o), *last;
    ck_assert_int_eq(json_unpack(json_array_get(root, 0), "{s:s}", "total_usd", &total), 0);
    assert_text("cheapest", total, "0.35");
    last = json_array_get(root, json_array_size(root) - 1);
    ck_assert_int_eq(json_unpack(last, "{s:n, s:s}", "total_usd", "no_price_for", &why), 0);
    assert_text("no price for", why, "cached");
    json_decref(root);
    offers_close(&o);
    price_list_close(&list);
}
END_TEST

START_TEST(what_cannot_be_billed_is_refused) {
    struct price_list list = list_of(prices);
    struct offers o;
    const struct workload twice =
                              {
                                  .used = {1, 2, 0, 0},
                                    .n_requests = 1
    },
                          too_much = {.used = {INT64_MAX, 0, 0, 0}, .n_requests = 1};
    assert_status("date", offers_of(&o, &list, "soon", &bot, NULL), ERR_INPUT);
    assert_status("cached", offers_of(&o, &list, NULL, &twice, NULL), ERR_INPUT);
    assert_status("amount", offers_of(&o, &list, NULL, &too_much, NULL), ERR_LIMIT);
    ck_assert_ptr_null(o.items);
    price_list_close(&list);
}
END_TEST

START_TEST(every_failed_allocation_gives_no_document) {
    struct price_list list = list_of(prices);
    struct offers o;
    json_t *root = NULL;
    int n = 0;
    memory_fail_after(0);
    assert_status("offers_of", offers_of(&o, &list, NULL, &bot, NULL), ERR_MEMORY);
    memory_fail_after(-1);
    assert_status("offers_of", offers_of(&o, &list, NULL, &bot, NULL), OK);
    for (;; n++) {
        memory_fail_after(n);
        root = offers_json(&o);
        memory_fail_after(-1);
        if (root) break;
    }
    ck_assert_int_ge(n, 20);
    json_decref(root);
    offers_close(&o);
    price_list_close(&list);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/offers");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, the_cheapest_comes_first);
    tcase_add_test(reference, a_date_takes_the_price_of_that_day);
    tcase_add_test(reference, what_is_unknown_is_null_in_the_document);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, what_cannot_be_billed_is_refused);
    tcase_add_test(failures, every_failed_allocation_gives_no_document);
    suite_add_tcase(s, failures);
    return s;
}
