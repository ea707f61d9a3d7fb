// Five bits: blocks worked by hand, then drawn rows beside a slow oracle.
#include "level2-operator/kernels/rows_q5.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/half.h"
#include "level2-operator/kernels/rows_for.h"
#include "tests/support/suite.h"

// ---- by hand: f16 3c00 is 1, 3800 is 0.5, c000 is -2 --------------------------------------------

START_TEST(q5_0_counts_from_minus_16) {
    // d = 1; fifth bits of values 0, 9 and 31; bytes 3f, then zeros, and 20 at the end
    unsigned char block[22] = {0x00, 0x3c, 0x01, 0x02, 0x00, 0x80, 0x3f, [21] = 0x20};
    float y[32], want[32];
    for (int i = 0; i < 32; i++) want[i] = -16;
    want[0] = 15, want[16] = -13; // 16 + 15 - 16, 3 - 16
    want[9] = 0;                  // 16 - 16
    want[31] = 2;                 // 16 + 2 - 16
    rows_q5_0(y, block, 32);
    assert_close("rows_q5_0(block by hand) y", y, want, 32, 0);
}
END_TEST

START_TEST(q5_1_counts_from_its_minimum) {
    // d = 0.5, m = -2; fifth bits of values 8 and 16; bytes 10, then zeros
    unsigned char block[24] = {0x00, 0x38, 0x00, 0xc0, 0x00, 0x01, 0x01, 0x00, 0x10};
    float y[32], want[32];
    for (int i = 0; i < 32; i++) want[i] = -2;
    want[8] = 6;     // 0.5 * 16 - 2
    want[16] = 6.5f; // 0.5 * 17 - 2
    rows_q5_1(y, block, 32);
    assert_close("rows_q5_1(block by hand) y", y, want, 32, 0);
}
END_TEST

// ---- the oracle: one value, straight from the drawing in the header, in double ------------------

static double value_at(enum dtype t, const unsigned char *block, int j) {
    bool has_minimum = t == DTYPE_Q5_1;
    const unsigned char *fifth = block + (has_minimum ? 4 : 2), *p = fifth + 4;
    double d = (double)f16_load(block);
    int q = j < 16 ? p[j] % 16 : p[j - 16] / 16;
    if (fifth[j / 8] & 1 << j % 8) q += 16;
    return has_minimum ? d * q + (double)f16_load(block + 2) : d * (q - 16);
}

// Any bytes, but finite scales: infinity would hide what follows.
static void draw_row(struct draw *d, enum dtype t, unsigned char *row, int n_blocks) {
    int block_bytes = dtype_info(t)->block_bytes;
    for (int i = 0; i < n_blocks * block_bytes; i++) row[i] = (unsigned char)draw_u64(d);
    for (int b = 0; b < n_blocks; b++) {
        row[b * block_bytes + 1] &= 0xbf;
        if (t == DTYPE_Q5_1) row[b * block_bytes + 3] &= 0xbf;
    }
}

static const struct {
    enum dtype dtype;
    int n_blocks, shift; // of the row's address
} rows[] = {
    {DTYPE_Q5_0, 0,  0},
    {DTYPE_Q5_0, 1,  0},
    {DTYPE_Q5_0, 7,  1},
    {DTYPE_Q5_0, 33, 2},
    {DTYPE_Q5_1, 0,  0},
    {DTYPE_Q5_1, 1,  3},
    {DTYPE_Q5_1, 7,  0},
    {DTYPE_Q5_1, 33, 1},
};

// Both pieces of memory end exactly where the row ends, so a step too far is seen.
START_TEST(drawn_rows_are_what_the_drawing_says) {
    const struct dtype_info *info = dtype_info(rows[_i].dtype);
    int n_blocks = rows[_i].n_blocks, n = n_blocks * info->block_len;
    unsigned char *memory = malloc((size_t)(rows[_i].shift + n_blocks * info->block_bytes));
    unsigned char *row = memory + rows[_i].shift;
    float *y = malloc((size_t)n * sizeof(float)), *want = malloc((size_t)n * sizeof(float));
    struct draw d = draw_start("rows_q5");
    char what[80];

    draw_row(&d, rows[_i].dtype, row, n_blocks);
    for (int i = 0; i < n; i++)
        want[i] =
            (float)value_at(rows[_i].dtype, row + i / info->block_len * info->block_bytes,
                            i % info->block_len);
    rows_for(rows[_i].dtype)(y, row, n);
    snprintf(what, sizeof(what), "rows of %s(%d blocks at an address + %d) y", info->name,
             n_blocks, rows[_i].shift);
    assert_close(what, y, want, (size_t)n, 0);
    free(memory), free(y), free(want);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rows_q5");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, q5_0_counts_from_minus_16);
    tcase_add_test(reference, q5_1_counts_from_its_minimum);
    suite_add_tcase(s, reference);

    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, drawn_rows_are_what_the_drawing_says, 0,
                        sizeof(rows) / sizeof(rows[0]));
    suite_add_tcase(s, property);
    return s;
}
