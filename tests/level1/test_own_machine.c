// Rent against price by the request: break-even, never, limits, no memory.
#include "level1-user/own_machine.h"

#include <string.h>

#include "common/limits.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

static const char rents[] =
    "{\"offers\": ["
    "{\"gpu\": \"g\", \"listed_as\": \"G\", \"offer\": \"market\", \"low\": \"1\","
    " \"high\": \"2\", \"tag\": \"M\"},"
    "{\"gpu\": \"g\", \"listed_as\": \"G\", \"offer\": \"cloud\", \"low\": \"3.5\","
    " \"high\": \"10.8\", \"tag\": \"S\"}]}";

static const int64_t bot_request = 1187000000; // $0.001187
static const struct own_terms terms = {
    .tokens_per_s = 1000, .utilization = 500000, .idle_hours = 8, .redundancy = 2};

static struct gpu_hours list_of(const char *text) {
    struct gpu_hours list;
    assert_status("gpu_hours_parse",
                  gpu_hours_parse(&list, text, strlen(text), "list", NULL), OK);
    return list;
}

// 500 tokens/s for 16 hours are 28,800,000 tokens, 96,000 answers of 300. A day of two machines is $48.
START_TEST(break_even_is_the_first_request_that_pays) {
    struct gpu_hours list = list_of(rents);
    struct own_machine m;
    assert_status("own_machine_of",
                  own_machine_of(&m, &list, "g", &terms, 300, bot_request, NULL), OK);
    assert_number("requests a day", m.requests_per_day, 96000);
    assert_number("a day, dollars", m.low.day / 1000000000000, 48);
    assert_number("one request", m.low.request, 500000000);
    assert_number("break-even", m.low.break_even, 40439);
    ck_assert(m.low.break_even * bot_request >= m.low.day);
    ck_assert((m.low.break_even - 1) * bot_request < m.low.day);
    assert_number("by the dear offer", m.high.break_even, -1);
    assert_text("dear offer", m.high.offer->offer, "cloud");
    gpu_hours_close(&list);
}
END_TEST

START_TEST(just_enough_is_enough) {
    struct gpu_hours list = list_of(rents);
    struct own_machine m;
    assert_status("at full load",
                  own_machine_of(&m, &list, "g", &terms, 300, 500000000, NULL), OK);
    assert_number("break-even", m.low.break_even, 96000);
    assert_status("a free API", own_machine_of(&m, &list, "g", &terms, 300, 0, NULL), OK);
    assert_number("break-even", m.low.break_even, -1);
    gpu_hours_close(&list);
}
END_TEST

START_TEST(the_largest_terms_fit) {
    struct gpu_hours list = list_of(rents);
    struct own_machine m;
    const struct own_terms most = {LIMIT_OWN_RATE, 1000000, 0, LIMIT_OWN_REDUNDANCY};
    assert_status("own_machine_of", own_machine_of(&m, &list, "g", &most, 1, 1, NULL), OK);
    assert_number("requests a day", m.requests_per_day, INT64_C(864000000000));
    gpu_hours_close(&list);
}
END_TEST

static const struct {
    struct own_terms terms;
    int64_t output;
    const char *gpu, *param;
} wrong[] = {
    {{0, 500000, 0, 1},                  300, "g", "tokens-per-second"},
    {{LIMIT_OWN_RATE + 1, 500000, 0, 1}, 300, "g", "tokens-per-second"},
    {{1000, 0, 0, 1},                    300, "g", "utilization"      },
    {{1000, 1000001, 0, 1},              300, "g", "utilization"      },
    {{1000, 500000, 24, 1},              300, "g", "idle-hours"       },
    {{1000, 500000, 0, 0},               300, "g", "redundancy"       },
    {{1000, 500000, 0, 1},               0,   "g", "output"           },
    {{1, 1, 0, 1},                       300, "g", "tokens-per-second"},
    {{1000, 500000, 0, 1},               300, "x", "own"              },
};
enum { N_WRONG = sizeof(wrong) / sizeof(wrong[0]) };

START_TEST(what_makes_no_sense_is_refused) {
    struct gpu_hours list = list_of(rents);
    struct own_machine m;
    struct error err = {0};
    assert_status(wrong[_i].param,
                  own_machine_of(&m, &list, wrong[_i].gpu, &wrong[_i].terms,
                                 wrong[_i].output, bot_request, &err),
                  ERR_INPUT);
    assert_text("param", err.param, wrong[_i].param);
    gpu_hours_close(&list);
}
END_TEST

START_TEST(a_cut_list_is_refused) {
    struct gpu_hours list;
    for (size_t n = 0; n < strlen(rents); n++) {
        assert_status("cut", gpu_hours_parse(&list, rents, n, "list", NULL), ERR_FORMAT);
        ck_assert_ptr_null(list.document);
    }
}
END_TEST

START_TEST(every_failed_allocation_gives_no_document) {
    struct gpu_hours list = list_of(rents);
    struct own_machine m;
    json_t *root = NULL;
    int n = 0;
    assert_status("own_machine_of",
                  own_machine_of(&m, &list, "g", &terms, 300, bot_request, NULL), OK);
    for (; !root; n++) {
        memory_fail_after(n);
        root = own_machine_json(&m);
        memory_fail_after(-1);
    }
    ck_assert_int_ge(n, 20);
    json_decref(root);
    gpu_hours_close(&list);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/own_machine");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, break_even_is_the_first_request_that_pays);
    tcase_add_test(reference, just_enough_is_enough);
    tcase_add_test(reference, the_largest_terms_fit);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, what_makes_no_sense_is_refused, 0, N_WRONG);
    tcase_add_test(failures, a_cut_list_is_refused);
    tcase_add_test(failures, every_failed_allocation_gives_no_document);
    suite_add_tcase(s, failures);
    return s;
}
