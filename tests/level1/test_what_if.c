// Levers on token counts, ranked by what they save.
#include "level1-user/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/memory.h"
#include "tests/support/suite.h"

static const struct {
    const char *name;
    enum lever lever;
    struct invoice_usage used, want;
} pulls[] = {
    {"half, rounded up",       LEVER_SHORTER_ANSWER,    {9, 1, 0, 7},   {9, 1, 0, 4}  },
    {"one token stays",        LEVER_SHORTER_ANSWER,    {9, 1, 0, 1},   {9, 1, 0, 1}  },
    {"cut at the cap",         LEVER_MAX_TOKENS,        {9, 1, 0, 7},   {9, 1, 0, 5}  },
    {"shorter than the cap",   LEVER_MAX_TOKENS,        {9, 1, 0, 4},   {9, 1, 0, 4}  },
    {"the block is cached",    LEVER_FIXED_BLOCK_FIRST, {20, 1, 0, 7},  {20, 8, 0, 7} },
    {"no more than there is",  LEVER_FIXED_BLOCK_FIRST, {6, 0, 2, 7},   {6, 4, 2, 7}  },
    {"more was cached before", LEVER_FIXED_BLOCK_FIRST, {20, 15, 0, 7}, {20, 15, 0, 7}},
    {"the same tokens",        LEVER_SMALLER_MODEL,     {20, 5, 3, 7},  {20, 5, 3, 7} },
};
enum { N_PULLS = sizeof(pulls) / sizeof(pulls[0]) };

START_TEST(a_lever_changes_its_count_only) {
    const struct lever_terms terms = {.max_tokens = 5, .fixed = 8};
    const struct invoice_usage *want = &pulls[_i].want,
                               got = lever_pull(pulls[_i].lever, &pulls[_i].used, &terms);
    assert_number(pulls[_i].name, got.input, want->input);
    assert_number(pulls[_i].name, got.cached, want->cached);
    assert_number(pulls[_i].name, got.cache_write, want->cache_write);
    assert_number(pulls[_i].name, got.output, want->output);
}
END_TEST

static const char prices[] =
    "{\"prices\": ["
    "{\"model\": \"m\", \"currency\": \"USD\", \"input\": \"1\","
    " \"cached_input\": \"0.1\", \"output\": \"10\"},"
    "{\"model\": \"small\", \"currency\": \"USD\", \"input\": \"0.5\", \"output\": \"5\"},"
    "{\"model\": \"night\", \"currency\": \"USD\", \"window\": \"n\", \"input\": \"0\","
    " \"output\": \"0\"}]}";

struct rig {
    struct price_list list;
    struct offers offers;
    struct what_if what_if;
};

static struct rig rig_of(const struct pulled_workload *work) {
    struct rig r;
    assert_status("list", price_list_parse(&r.list, prices, strlen(prices), "list", NULL),
                  OK);
    assert_status("offers", offers_of(&r.offers, &r.list, NULL, &work->now, NULL), OK);
    assert_status("what_if_of",
                  what_if_of(&r.what_if, &r.list.entries[0], work, &r.offers, NULL), OK);
    return r;
}

static void rig_close(struct rig *r) {
    offers_close(&r->offers);
    price_list_close(&r->list);
}

static struct pulled_workload equal_requests(void) {
    struct pulled_workload work;
    const struct lever_terms terms = {.max_tokens = 90, .fixed = 900};
    const struct workload now = {
        .used = {1000, 0, 0, 100},
        .n_requests = 1000,
    };
    pulled_workload_of(&work, &now, &terms);
    return work;
}

// Now: 1000 * (1000 * 1 + 100 * 10) millionths of a dollar = $2.
START_TEST(the_most_saved_comes_first) {
    const struct pulled_workload work = equal_requests();
    struct rig r = rig_of(&work);
    char *text = NULL;
    size_t n_text = 0;
    FILE *out = open_memstream(&text, &n_text);
    what_if_print(out, &r.what_if);
    fclose(out);
    // clang-format off
    assert_text("what_if_print", text,
        "what if                        saved\n"
        "smaller-model                  $1.00     50.0 %\n"
        "    if small answers well enough, with as many tokens: try it\n"
        "fixed-block-first              $0.81     40.5 %\n"
        "    if 900 tokens never change, and each request finds them\n"
        "shorter-answer                 $0.50     25.0 %\n"
        "    if half as many words say the same: ask for it in the prompt\n"
        "max-tokens                     $0.10      5.0 %\n"
        "    if at most 90 tokens; a longer answer breaks off there\n");
    // clang-format on
    free(text);
    rig_close(&r);
}
END_TEST

START_TEST(a_cap_cuts_only_long_answers) {
    struct pulled_workload work;
    const struct lever_terms terms = {.max_tokens = 90};
    const struct workload nothing = {.is_sum = true};
    const struct invoice_usage shorter = {1000, 0, 0, 10}, longer = {1000, 0, 0, 190};
    pulled_workload_of(&work, &nothing, &terms);
    assert_status("add", pulled_workload_add(&work, &shorter, NULL), OK);
    assert_status("add", pulled_workload_add(&work, &longer, NULL), OK);
    assert_number("now", work.now.used.output, 200);
    assert_number("capped", work.then[LEVER_MAX_TOKENS].used.output, 100);
    assert_number("requests", work.then[LEVER_MAX_TOKENS].n_requests, 2);
}
END_TEST

START_TEST(every_failed_allocation_gives_no_document) {
    const struct pulled_workload work = equal_requests();
    struct rig r = rig_of(&work);
    json_t *root = NULL;
    int n = 0;
    for (; !root; n++) {
        memory_fail_after(n);
        root = what_if_json(&r.what_if);
        memory_fail_after(-1);
    }
    ck_assert_int_ge(n, 20);
    assert_text("first",
                json_string_value(json_object_get(json_array_get(root, 0), "saved_usd")),
                "1");
    json_decref(root);
    rig_close(&r);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/what_if");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_lever_changes_its_count_only, 0, N_PULLS);
    tcase_add_test(reference, the_most_saved_comes_first);
    tcase_add_test(reference, a_cap_cuts_only_long_answers);
    suite_add_tcase(s, reference);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, every_failed_allocation_gives_no_document);
    suite_add_tcase(s, failures);
    return s;
}
