// Which function reads which type: those that the engine computes with have their own, no other has one.
#include "level2-operator/rows_for.h"

#include <stdio.h>

#include "level2-operator/rows.h"
#include "level2-operator/rows_k.h"
#include "level2-operator/rows_q5.h"
#include "tests/support/suite.h"

static const struct {
    enum dtype dtype;
    rows_fn *rows;
} table[] = {
    {DTYPE_F32,  rows_f32 },
    {DTYPE_F16,  rows_f16 },
    {DTYPE_BF16, rows_bf16},
    {DTYPE_Q8_0, rows_q8_0},
    {DTYPE_Q4_0, rows_q4_0},
    {DTYPE_Q4_1, rows_q4_1},
    {DTYPE_Q5_0, rows_q5_0},
    {DTYPE_Q5_1, rows_q5_1},
    {DTYPE_Q4_K, rows_q4_k},
    {DTYPE_Q5_K, rows_q5_k},
    {DTYPE_Q6_K, rows_q6_k},
};
enum { N_TABLE = sizeof(table) / sizeof(table[0]) };

static rows_fn *wanted(enum dtype t) {
    for (int i = 0; i < N_TABLE; i++)
        if (table[i].dtype == t) return table[i].rows;
    return NULL;
}

START_TEST(each_type_has_its_function_or_none) {
    char what[64];
    for (int t = 0; t < DTYPE_COUNT; t++) {
        snprintf(what, sizeof(what), "rows_for(%s) is what it should be",
                 dtype_info((enum dtype)t)->name);
        assert_number(what, rows_for((enum dtype)t) == wanted((enum dtype)t), 1);
    }
}
END_TEST

START_TEST(what_is_no_type_has_none) {
    ck_assert_ptr_null((void *)(uintptr_t)rows_for(DTYPE_COUNT));
    ck_assert_ptr_null((void *)(uintptr_t)rows_for((enum dtype)1000));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rows_for");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, each_type_has_its_function_or_none);
    tcase_add_test(reference, what_is_no_type_has_none);
    suite_add_tcase(s, reference);
    return s;
}
