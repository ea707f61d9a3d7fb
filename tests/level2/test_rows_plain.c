// The rows that are not blocks: every 16-bit pattern, and floats as they are. They are given code in the
// file of the exercise `rows`; its own suite looks at them only in passing.
#include <math.h>
#include <string.h>

#include "common/half.h"
#include "level2-operator/kernels/rows.h"
#include "level2-operator/kernels/rows_for.h"
#include "tests/support/suite.h"

enum { N_PATTERNS = 65536 };

static void assert_patterns(const char *name, rows_fn *rows, float (*single)(uint16_t)) {
    static uint16_t row[N_PATTERNS];
    static float y[N_PATTERNS];
    for (int i = 0; i < N_PATTERNS; i++) row[i] = (uint16_t)i;
    rows(y, row, N_PATTERNS);
    for (int i = 0; i < N_PATTERNS; i++) {
        float want = single((uint16_t)i);
        if (memcmp(&y[i], &want, sizeof(want)) != 0) // a NaN keeps its bits too
            ck_abort_msg("%s of %04x = %g, want %g", name, i, (double)y[i], (double)want);
    }
}

START_TEST(every_f16_equals_the_single_conversion) {
    assert_patterns("rows_f16", rows_f16, f16_to_f32);
}
END_TEST

START_TEST(every_bf16_equals_the_single_conversion) {
    assert_patterns("rows_bf16", rows_bf16, bf16_to_f32);
}
END_TEST

START_TEST(floats_are_copied_bit_for_bit) {
    const float row[7] = {0.0f, -0.0f, 1.5f, -INFINITY, 1e-45f, 3.4e38f, NAN};
    float y[7];
    rows_f32(y, row, 7);
    ck_assert_mem_eq(y, row, sizeof(row));
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rows_plain");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, every_f16_equals_the_single_conversion);
    tcase_add_test(reference, every_bf16_equals_the_single_conversion);
    tcase_add_test(reference, floats_are_copied_bit_for_bit);
    suite_add_tcase(s, reference);
    return s;
}
