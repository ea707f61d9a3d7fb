// Invoices: published examples to the last digit, an oracle that bills token by token, and sums at the
// edge of what a whole number holds.
#include "level1-user/invoice.h"

#include <inttypes.h>
#include <stdio.h>

#include "tests/support/suite.h"

// ---- what a failing test says -------------------------------------------------------------------

enum { WHAT_BYTES = 320 };

static void name_request(char what[WHAT_BYTES], const struct invoice_usage *u,
                         const struct price *p) {
    snprintf(what, WHAT_BYTES,
             "invoice_of_request(input %" PRId64 ", cached %" PRId64
             ", cache_write %" PRId64 ", output %" PRId64 "; prices %" PRId64 ", %" PRId64
             ", %" PRId64 ", %" PRId64 ")",
             u->input, u->cached, u->cache_write, u->output, p->input, p->cached_input,
             p->cache_write, p->output);
}

static void assert_returned(const char *call, enum status got, enum status want) {
    char what[WHAT_BYTES + 16];
    snprintf(what, sizeof(what), "%s: status", call);
    assert_status(what, got, want);
}

static void assert_line(const char *call, const char *line, int64_t got, int64_t want) {
    char what[WHAT_BYTES + 16];
    snprintf(what, sizeof(what), "%s: %s", call, line);
    assert_number(what, got, want);
}

static void assert_invoice(const char *call, const struct invoice *got,
                           const struct invoice *want) {
    assert_line(call, "input", got->input, want->input);
    assert_line(call, "cached", got->cached, want->cached);
    assert_line(call, "cache_write", got->cache_write, want->cache_write);
    assert_line(call, "output", got->output, want->output);
    assert_line(call, "total", got->total, want->total);
}

static void check_request(const struct invoice_usage *used, const struct price *price,
                          const struct invoice *want) {
    char what[WHAT_BYTES];
    struct invoice got = {0};
    name_request(what, used, price);
    assert_returned(what, invoice_of_request(&got, used, price, NULL), OK);
    assert_invoice(what, &got, want);
}

// Where something is refused: with which status, and which field is named.
static void check_refused(const struct invoice_usage *used, const struct price *price,
                          enum status want, const char *field) {
    char what[WHAT_BYTES], param[WHAT_BYTES + 16];
    struct invoice got = {0};
    struct error err = {0};
    name_request(what, used, price);
    assert_returned(what, invoice_of_request(&got, used, price, &err), want);
    snprintf(param, sizeof(param), "%s: err.param", what);
    if (field) assert_text(param, err.param, field);
}

// ---- worked example -----------------------------------------------------------------------------

START_TEST(worked_example) {
    const struct invoice_usage used = {10, 6, 1, 4};
    const struct price price = {5, 1, 7, 20};
    check_request(&used, &price, &(struct invoice){15, 6, 7, 80, 108});
}
END_TEST

START_TEST(three_such_requests) {
    const struct invoice one = {15, 6, 7, 80, 108};
    struct invoice sum = {0};
    assert_returned("invoice_add(sum, one, 3)", invoice_add(&sum, &one, 3, NULL), OK);
    assert_invoice("invoice_add(sum, one, 3)", &sum,
                   &(struct invoice){45, 18, 21, 240, 324});
}
END_TEST

// ---- one request: reference ---------------------------------------------------------------------

// clang-format off
static const struct price deepseek_r1 = {550000, 140000, PRICE_UNKNOWN, 2190000}; // February 2025
static const struct {
    struct price price;
    struct invoice_usage used;
    struct invoice want;
} published[] = {
    // The support bot: 3,000 fixed tokens and a question of 200, nothing cached, then all that is fixed.
    {{550000, 140000, PRICE_UNKNOWN, 2190000}, {3200, 0, 0, 300},
     {1760000000, 0, 0, 657000000, 2417000000}},
    {{550000, 140000, PRICE_UNKNOWN, 2190000}, {3200, 3000, 0, 300},
     {110000000, 420000000, 0, 657000000, 1187000000}},
    // DeepSeek, open-infra-index, day 6: one day of its fleet at the prices of R1. $562,100.
    {{550000, 140000, PRICE_UNKNOWN, 2190000}, {608000000000, 342000000000, 0, 168000000000},
     {146300000000000000, 47880000000000000, 0, 367920000000000000, 562100000000000000}},
    // FIT-05, cached tokens billed twice: $0.005615, not $0.010415.
    {{2500000, 1250000, PRICE_UNKNOWN, 10000000}, {2006, 1920, 0, 300},
     {215000000, 2400000000, 0, 3000000000, 5615000000}},
    // FIT-06, cache writes billed twice: $0.054399, not $0.091311.
    {{3000000, 300000, 3750000, 15000000}, {12307, 0, 12304, 550},
     {9000000, 0, 46140000000, 8250000000, 54399000000}},
    // Small ones: nothing at all, one token, tokens that are free.
    {{550000, 140000, PRICE_UNKNOWN, 2190000}, {0, 0, 0, 0}, {0, 0, 0, 0, 0}},
    {{1, 2, 3, 4}, {1, 0, 0, 0}, {1, 0, 0, 0, 1}},
    {{0, 0, 0, 0}, {100, 50, 20, 7}, {0, 0, 0, 0, 0}},
};
// clang-format on
enum { N_PUBLISHED = sizeof(published) / sizeof(published[0]) };

START_TEST(matches_published_invoices) {
    check_request(&published[_i].used, &published[_i].price, &published[_i].want);
}
END_TEST

// One token after the other: the cached ones stand first, then the written ones, then the rest.
static struct invoice oracle(const struct invoice_usage *used, const struct price *price) {
    struct invoice bill = {0};
    for (int64_t t = 0; t < used->input; t++) {
        if (t < used->cached)
            bill.cached += price->cached_input;
        else if (t < used->cached + used->cache_write)
            bill.cache_write += price->cache_write;
        else
            bill.input += price->input;
    }
    for (int64_t t = 0; t < used->output; t++) bill.output += price->output;
    bill.total = bill.input + bill.cached + bill.cache_write + bill.output;
    return bill;
}

START_TEST(agrees_with_counting_token_by_token) {
    struct draw d = draw_start("invoice oracle");
    for (int round = 0; round < 100; round++) {
        struct invoice_usage used = {.cached = draw_int(&d, 0, 99),
                                     .cache_write = draw_int(&d, 0, 99),
                                     .output = draw_int(&d, 0, 99)};
        used.input = used.cached + used.cache_write + draw_int(&d, 0, 99);
        const struct price price = {draw_int(&d, 1, 99999999), draw_int(&d, 1, 99999999),
                                    draw_int(&d, 1, 99999999), draw_int(&d, 1, 99999999)};
        const struct invoice want = oracle(&used, &price);
        check_request(&used, &price, &want);
    }
}
END_TEST

START_TEST(what_was_in_the_invoice_before_does_not_matter) {
    const struct invoice_usage used = {3200, 3000, 0, 300};
    struct invoice bill = {11, 22, 33, 44, 55};
    assert_returned("into a used invoice",
                    invoice_of_request(&bill, &used, &deepseek_r1, NULL), OK);
    assert_invoice("into a used invoice", &bill,
                   &(struct invoice){110000000, 420000000, 0, 657000000, 1187000000});
}
END_TEST

// ---- one request: refused -----------------------------------------------------------------------

static const struct {
    struct invoice_usage used;
    const char *field;
} wrong_usages[] = {
    {{-1, 0, 0, 0},                        "input"      },
    {{10, -1, 0, 0},                       "cached"     },
    {{10, 0, -1, 0},                       "cache_write"},
    {{10, 0, 0, -1},                       "output"     },
    {{10, 11, 0, 0},                       "cached"     },
    {{10, 0, 11, 0},                       "cache_write"},
    {{10, 6, 5, 0},                        "cache_write"},
    {{INT64_MAX, INT64_MAX, INT64_MAX, 0}, "cache_write"},
    {{INT64_MIN, INT64_MAX, INT64_MAX, 0}, "input"      },
    {{0, 1, 0, 0},                         "cached"     },
};
enum { N_WRONG = sizeof(wrong_usages) / sizeof(wrong_usages[0]) };

START_TEST(a_usage_that_cannot_be_is_refused) {
    check_refused(&wrong_usages[_i].used, &(struct price){1, 1, 1, 1}, ERR_INPUT,
                  wrong_usages[_i].field);
}
END_TEST

// Each kind alone: the only price that is not known is the one that is needed.
static const struct {
    struct invoice_usage used;
    struct price price;
    const char *field;
} unknown_prices[] = {
    {{5, 2, 2, 0}, {PRICE_UNKNOWN, 1, 1, 1}, "input"      },
    {{5, 1, 0, 0}, {1, PRICE_UNKNOWN, 1, 1}, "cached"     },
    {{5, 0, 1, 0}, {1, 1, PRICE_UNKNOWN, 1}, "cache_write"},
    {{5, 0, 0, 1}, {1, 1, 1, PRICE_UNKNOWN}, "output"     },
};
enum { N_UNKNOWN = sizeof(unknown_prices) / sizeof(unknown_prices[0]) };

START_TEST(tokens_without_a_price_are_refused_and_not_free) { // FIT-08
    check_refused(&unknown_prices[_i].used, &unknown_prices[_i].price, ERR_UNSUPPORTED,
                  unknown_prices[_i].field);
}
END_TEST

START_TEST(a_price_that_nobody_needs_may_be_unknown) {
    const struct price only_input = {3, PRICE_UNKNOWN, PRICE_UNKNOWN, PRICE_UNKNOWN};
    const struct price only_cached = {PRICE_UNKNOWN, 3, PRICE_UNKNOWN, PRICE_UNKNOWN};
    check_request(&(struct invoice_usage){7, 0, 0, 0}, &only_input,
                  &(struct invoice){21, 0, 0, 0, 21});
    check_request(&(struct invoice_usage){7, 7, 0, 0}, &only_cached,
                  &(struct invoice){0, 21, 0, 0, 21});
}
END_TEST

// The largest amount that fits, on any line.
static const struct invoice_usage largest[] = {
    {INT64_MAX, 0,         0,         0        },
    {INT64_MAX, INT64_MAX, 0,         0        },
    {INT64_MAX, 0,         INT64_MAX, 0        },
    {0,         0,         0,         INT64_MAX},
};
enum { N_LARGEST = sizeof(largest) / sizeof(largest[0]) };

START_TEST(an_amount_fits_up_to_its_last_unit) {
    const struct invoice_usage *used = &largest[_i];
    const struct invoice want = {.input = used->input - used->cached - used->cache_write,
                                 .cached = used->cached,
                                 .cache_write = used->cache_write,
                                 .output = used->output,
                                 .total = INT64_MAX};
    check_request(used, &(struct price){1, 1, 1, 1}, &want);
    check_refused(used, &(struct price){2, 2, 2, 2}, ERR_LIMIT, NULL);
}
END_TEST

START_TEST(a_total_that_does_not_fit_is_refused) { // though each line does
    const struct price price = {1, 1, 1, 1};
    check_refused(&(struct invoice_usage){INT64_MAX, 0, 0, 1}, &price, ERR_LIMIT, NULL);
    check_refused(&(struct invoice_usage){INT64_MAX, 1, 1, INT64_MAX}, &price, ERR_LIMIT,
                  NULL);
}
END_TEST

// ---- many requests ------------------------------------------------------------------------------

START_TEST(a_thousand_requests_of_the_support_bot) {
    const struct invoice without = {1760000000, 0, 0, 657000000, 2417000000};
    const struct invoice with = {110000000, 420000000, 0, 657000000, 1187000000};
    struct invoice sum = {0};
    assert_returned("1000 without", invoice_add(&sum, &without, 1000, NULL), OK);
    assert_line("1000 without", "total", sum.total, 2417000000000); // $2.417
    sum = (struct invoice){0};
    assert_returned("1000 with", invoice_add(&sum, &with, 1000, NULL), OK);
    assert_line("1000 with", "total", sum.total, 1187000000000); // $1.187
}
END_TEST

static struct invoice drawn_invoice(struct draw *d) {
    struct invoice one = {.input = draw_int(d, 0, 999999),
                          .cached = draw_int(d, 0, 999999),
                          .cache_write = draw_int(d, 0, 999999),
                          .output = draw_int(d, 0, 999999)};
    one.total = one.input + one.cached + one.cache_write + one.output;
    return one;
}

// The oracle adds them one at a time.
START_TEST(agrees_with_adding_one_after_the_other) {
    struct draw d = draw_start("invoice sums");
    struct invoice sum = {0}, want = {0};
    for (int round = 0; round < 30; round++) {
        const struct invoice one = drawn_invoice(&d);
        const int n = round == 0 ? 1 : draw_int(&d, 0, 40);
        char what[64];
        snprintf(what, sizeof(what), "invoice_add, call %d, %d requests", round + 1, n);
        for (int i = 0; i < n; i++) {
            want.input += one.input;
            want.cached += one.cached;
            want.cache_write += one.cache_write;
            want.output += one.output;
            want.total += one.total;
        }
        assert_returned(what, invoice_add(&sum, &one, n, NULL), OK);
        assert_invoice(what, &sum, &want);
    }
}
END_TEST

START_TEST(no_requests_add_nothing) {
    const struct invoice one = {1, 2, 3, 4, 10}, before = {5, 6, 7, 8, 26};
    struct invoice sum = before;
    assert_returned("invoice_add(sum, one, 0)", invoice_add(&sum, &one, 0, NULL), OK);
    assert_invoice("invoice_add(sum, one, 0)", &sum, &before);
}
END_TEST

START_TEST(fewer_than_no_requests_are_refused) {
    const struct invoice one = {1, 2, 3, 4, 10};
    struct invoice sum = {0};
    struct error err = {0};
    const int64_t n = _i == 0 ? -1 : INT64_MIN;
    char what[64], param[80];
    snprintf(what, sizeof(what), "invoice_add(sum, one, %" PRId64 ")", n);
    snprintf(param, sizeof(param), "%s: err.param", what);
    assert_returned(what, invoice_add(&sum, &one, n, &err), ERR_INPUT);
    assert_text(param, err.param, "requests");
}
END_TEST

// clang-format off
static const struct {
    const char *name;
    struct invoice sum, one;
    int64_t n_requests;
    enum status want;
} edges[] = {
    {"the last unit", {0}, {.output = 1, .total = 1}, INT64_MAX, OK},
    {"half of it, twice", {0}, {.input = INT64_MAX / 2, .total = INT64_MAX / 2}, 2, OK},
    {"half of it, three times", {0}, {.input = INT64_MAX / 2, .total = INT64_MAX / 2}, 3, ERR_LIMIT},
    {"one more than fits", {.cached = 1, .total = 1}, {.cached = 1, .total = 1}, INT64_MAX, ERR_LIMIT},
    {"a full sum", {.cache_write = INT64_MAX, .total = INT64_MAX}, {.cache_write = 1, .total = 1}, 1,
     ERR_LIMIT},
    {"a full total", {.output = INT64_MAX, .total = INT64_MAX}, {.input = 1, .total = 1}, 1, ERR_LIMIT},
    {"a product far too large", {0}, {.output = INT64_MAX, .total = INT64_MAX}, INT64_MAX, ERR_LIMIT},
};
// clang-format on
enum { N_EDGES = sizeof(edges) / sizeof(edges[0]) };

START_TEST(a_sum_that_does_not_fit_is_refused) {
    struct invoice sum = edges[_i].sum;
    char what[64];
    snprintf(what, sizeof(what), "invoice_add, %s", edges[_i].name);
    enum status st = invoice_add(&sum, &edges[_i].one, edges[_i].n_requests, NULL);
    assert_returned(what, st, edges[_i].want);
    if (st == OK)
        assert_line(what, "total", sum.total, edges[_i].n_requests * edges[_i].one.total);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/invoice");

    TCase *worked = tcase_create("worked example");
    tcase_add_test(worked, worked_example);
    tcase_add_test(worked, three_such_requests);
    suite_add_tcase(s, worked);

    TCase *request = tcase_create("one request");
    tcase_add_loop_test(request, matches_published_invoices, 0, N_PUBLISHED);
    tcase_add_test(request, agrees_with_counting_token_by_token);
    tcase_add_test(request, what_was_in_the_invoice_before_does_not_matter);
    suite_add_tcase(s, request);

    TCase *refused = tcase_create("refused");
    tcase_add_loop_test(refused, a_usage_that_cannot_be_is_refused, 0, N_WRONG);
    tcase_add_loop_test(refused, tokens_without_a_price_are_refused_and_not_free, 0,
                        N_UNKNOWN);
    tcase_add_test(refused, a_price_that_nobody_needs_may_be_unknown);
    tcase_add_loop_test(refused, an_amount_fits_up_to_its_last_unit, 0, N_LARGEST);
    tcase_add_test(refused, a_total_that_does_not_fit_is_refused);
    suite_add_tcase(s, refused);

    TCase *many = tcase_create("many requests");
    tcase_add_test(many, a_thousand_requests_of_the_support_bot);
    tcase_add_test(many, agrees_with_adding_one_after_the_other);
    tcase_add_test(many, no_requests_add_nothing);
    tcase_add_loop_test(many, fewer_than_no_requests_are_refused, 0, 2);
    tcase_add_loop_test(many, a_sum_that_does_not_fit_is_refused, 0, N_EDGES);
    suite_add_tcase(s, many);
    return s;
}
