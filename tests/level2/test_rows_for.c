// Which function reads which type: those that the engine computes with have their own, no other has one.
#include "level2-operator/kernels/rows_for.h"

#include <stdio.h>
#include <string.h>

#include "level2-operator/kernels/rows.h"
#include "level2-operator/kernels/rows_k.h"
#include "level2-operator/kernels/rows_q5.h"
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

// The blocks that public cases ask of a quantizer, read again. Values that are not named are 0.
static const struct {
    const char *name;
    enum dtype dtype;
    unsigned char head[8], rest; // the first bytes, and what all others are
    float first[6];
} blocks[] = {
  // clang-format off
    {"QNT-01 block of zeros, Q4_0", DTYPE_Q4_0,
     {0x00, 0x80, 0x88, 0x88, 0x88, 0x88, 0x88, 0x88}, 0x88, {0}},
    {"QNT-01 block of zeros, Q8_0", DTYPE_Q8_0, {0}, 0, {0}},
    {"QNT-02 the sign counts", DTYPE_Q4_0,
     {0x00, 0xbc, 0x80, 0x88, 0x88, 0x88, 0x88, 0x88}, 0x88, {8}},
    {"QNT-03 only one end is exact", DTYPE_Q4_0,
     {0x00, 0x3c, 0x80, 0x8f, 0x88, 0x88, 0x88, 0x88}, 0x88, {-8, 7}},
    {"QNT-04 one outlier", DTYPE_Q4_0,
     {0x40, 0xca, 0x88, 0x88, 0x88, 0x88, 0x88, 0x80}, 0x88, {0, 0, 0, 0, 0, 100}},
    {"QNT-06 rounding in Q8_0", DTYPE_Q8_0,
     {0x00, 0x3c, 127, 1, 0xff, 2, 0xfe, 3}, 0, {127, 1, -1, 2, -2, 3}},
  // clang-format on
};

START_TEST(known_blocks_have_their_known_values) {
    unsigned char block[34];
    float y[QUANT_BLOCK], want[QUANT_BLOCK] = {0};
    memset(block, blocks[_i].rest, sizeof(block));
    memcpy(block, blocks[_i].head, sizeof(blocks[_i].head));
    memcpy(want, blocks[_i].first, sizeof(blocks[_i].first));
    rows_for(blocks[_i].dtype)(y, block, QUANT_BLOCK);
    assert_close(blocks[_i].name, y, want, QUANT_BLOCK, 0);
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
    tcase_add_loop_test(reference, known_blocks_have_their_known_values, 0,
                        sizeof(blocks) / sizeof(blocks[0]));
    tcase_add_test(reference, what_is_no_type_has_none);
    suite_add_tcase(s, reference);
    return s;
}
