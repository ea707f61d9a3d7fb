// Dates of HTTP against the dates of the system.
#include "level1-user/http_date.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "tests/support/suite.h"

// clang-format off
static const struct {
    const char *text;
    int64_t unix_s;
} dates[] = {
    {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777}, // RFC 9110's own example, in its three forms
    {"Sunday, 06-Nov-94 08:49:37 GMT", 3939871777}, // two digits are of this century: 2094
    {"Sun Nov  6 08:49:37 1994", 784111777},
    {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
    {"Thu, 29 Feb 2024 23:59:59 GMT", 1709251199},
    {"Tue, 29 Feb 2000 12:00:00 GMT", 951825600},
    {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800}, // a leap second
    {"Fri, 31 Dec 9999 23:59:59 GMT", 253402300799},
    {" \tFri, 29 Sep 2023 16:26:37 GMT  ", 1696004797},
};
static const char *const no_dates[] = {
    "", " ", "20", "now", "Fri", "Fri, ", "Fri, 29 Sep 2023", "Fri, 29 Sep 2023 16:26:37",
    "Fri, 29 Sep 2023 16:26:37 UTC", "Fri, 29 Sep 2023 16:26:37 GMT+2", "29 Sep 2023 16:26:37 GMT",
    "Fri, 29 Sap 2023 16:26:37 GMT", "Fri, 29 S 2023 16:26:37 GMT", "Fri, 00 Sep 2023 16:26:37 GMT",
    "Fri, 31 Sep 2023 16:26:37 GMT", "Wed, 29 Feb 2023 16:26:37 GMT", "Mon, 29 Feb 2100 16:26:37 GMT",
    "Fri, 29 Sep 2023 24:00:00 GMT", "Fri, 29 Sep 2023 16:60:37 GMT", "Fri, 29 Sep 2023 16:26:61 GMT",
    "Fri, 29 Sep 2023 -1:26:37 GMT", "Fri, 29 Sep 1969 16:26:37 GMT", "2023-09-29T16:26:37Z",
};
// clang-format on
enum {
    N_DATES = sizeof(dates) / sizeof(dates[0]),
    N_NO_DATES = sizeof(no_dates) / sizeof(no_dates[0])
};

static void check(const char *text, int64_t want) {
    char what[120];
    int64_t got = -1;
    bool is_date = http_date_parse(text, &got);
    snprintf(what, sizeof(what), "http_date_parse(\"%s\")", text);
    assert_number(what, is_date ? got : -1, want);
}

START_TEST(the_three_forms_are_read) {
    check(dates[_i].text, dates[_i].unix_s);
}
END_TEST

START_TEST(what_is_no_date_is_refused) {
    check(no_dates[_i], -1);
}
END_TEST

START_TEST(any_second_of_eight_thousand_years_is_read) {
    struct draw d = draw_start("any_second_of_eight_thousand_years");
    for (int round = 0; round < 500; round++) {
        char text[64];
        time_t unix_s = (time_t)(draw_u64(&d) % 253402300800);
        struct tm t;
        gmtime_r(&unix_s, &t);
        strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &t);
        check(text, unix_s);
        strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &t);
        check(text, unix_s);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/http_date");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, the_three_forms_are_read, 0, N_DATES);
    tcase_add_test(reference, any_second_of_eight_thousand_years_is_read);
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, what_is_no_date_is_refused, 0, N_NO_DATES);
    suite_add_tcase(s, failures);
    return s;
}
