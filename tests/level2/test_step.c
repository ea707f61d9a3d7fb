// The simple attention plan: every row and head exactly once, all of its segments.
#include "level2-operator/model/step.h"

#include <signal.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/suite.h"

enum { MAX_ROWS = 9, MAX_HEADS = 4, MAX_ITEMS = MAX_ROWS * MAX_HEADS };

static struct attention_item items[MAX_ITEMS];
static int plan_rows[MAX_ROWS];

static struct attention_plan empty_plan(int max_items, int max_rows) {
    return (struct attention_plan){.items = items,
                                   .max_items = max_items,
                                   .rows = plan_rows,
                                   .max_rows = max_rows,
                                   .n_parts = 99}; // of the last step
}

static const struct {
    int position, n_segments;
} rows[] = {
    {0,    1 },
    {1,    1 },
    {254,  1 },
    {255,  1 },
    {256,  2 },
    {511,  2 },
    {512,  3 },
    {8191, 32}
};

START_TEST(a_row_reads_all_segments_up_to_its_position) {
    int sequence = 0;
    struct step step = {.n_rows = 1, .position = &rows[_i].position, .sequence = &sequence};
    struct attention_plan plan = empty_plan(1, 1);
    attention_plan_simple(&plan, &step, 1);
    ck_assert_int_eq(plan.n_items, 1);
    ck_assert_int_eq(items[0].first_segment, 0);
    ck_assert_int_eq(items[0].n_segments, rows[_i].n_segments);
    ck_assert_int_eq(plan.n_parts, 0);
}
END_TEST

START_TEST(every_row_and_head_is_listed_once) {
    static const int position[5] = {7, 8, 9, 300, 0}, sequence[5] = {2, 2, 2, 0, 1};
    struct step step = {.n_rows = 5, .position = position, .sequence = sequence};
    struct attention_plan plan = empty_plan(MAX_ITEMS, MAX_ROWS);
    int seen[5][3] = {{0}};

    attention_plan_simple(&plan, &step, 3);
    ck_assert_int_eq(plan.n_items, 15);
    for (int i = 0; i < plan.n_items; i++) {
        ck_assert(items[i].n_rows == 1 && items[i].n_heads == 1);
        int t = plan.rows[items[i].first_row];
        ck_assert_int_eq(items[i].sequence, sequence[t]);
        seen[t][items[i].first_head]++;
    }
    for (int t = 0; t < 5; t++) {
        for (int h = 0; h < 3; h++) ck_assert_int_eq(seen[t][h], 1);
    }
}
END_TEST

START_TEST(a_plan_is_used_again_for_the_next_step) {
    static const int position[2] = {0, 1}, sequence[2] = {0, 0};
    struct step step = {.n_rows = 2, .position = position, .sequence = sequence};
    struct attention_plan plan = empty_plan(MAX_ITEMS, MAX_ROWS);
    attention_plan_simple(&plan, &step, 4);
    step.n_rows = 1;
    attention_plan_simple(&plan, &step, 4);
    ck_assert(plan.n_items == 4 && plan.n_rows == 1);
    ck_assert(plan.items == items && plan.rows == plan_rows && plan.max_items == MAX_ITEMS);
}
END_TEST

START_TEST(a_plan_that_is_too_small_is_a_broken_invariant) {
    static const int position[2] = {0, 1}, sequence[2] = {0, 0};
    struct step step = {.n_rows = 2, .position = position, .sequence = sequence};
    struct attention_plan plan = empty_plan(_i == 0 ? 7 : 8, _i == 0 ? 2 : 1);
    attention_plan_simple(&plan, &step, 4);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/step");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_row_reads_all_segments_up_to_its_position, 0,
                        sizeof(rows) / sizeof(rows[0]));
    suite_add_tcase(s, reference);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test_raise_signal(
        failures, a_plan_that_is_too_small_is_a_broken_invariant, SIGABRT, 0, 2);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_test(property, every_row_and_head_is_listed_once);
    tcase_add_test(property, a_plan_is_used_again_for_the_next_step);
    suite_add_tcase(s, property);
    return s;
}
