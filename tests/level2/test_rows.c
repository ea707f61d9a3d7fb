// Stored rows as floats: blocks worked by hand, then drawn rows of many lengths at odd addresses beside a
// slow oracle. Tests of q8 and q4 never call each other; "whole" goes through rows_for
// to every type of rows.h.
#include "level2-operator/kernels/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/kernels/rows_for.h"
#include "tests/support/suite.h"

// ---- worked examples: f16 3c00 is 1, 3800 is 0.5, c000 is -2; the low byte stands first ---------

START_TEST(worked_example) {
    // d = 0.5; q = 1, -1, 127, -128, then zeros, and a 3 at the end
    unsigned char block[34] = {0x00, 0x38, 1, 0xff, 127, 0x80, [33] = 3};
    const float want[32] = {0.5f, -0.5f, 63.5f, -64.0f, [31] = 1.5f};
    float y[32];
    rows_q8_0(y, block, 32);
    assert_close("rows_q8_0(block of the example) y", y, want, 32, 0);
}
END_TEST

START_TEST(worked_example_of_q4_0) {
    // d = 1; all q are 8 but those of the first and the last byte
    unsigned char block[18] = {0x00, 0x3c};
    float y[32], want[32] = {[0] = 7, [16] = -8, [15] = -7, [31] = 1};
    memset(block + 2, 0x88, 16);
    block[2] = 0x0f;
    block[17] = 0x91;
    rows_q4_0(y, block, 32);
    assert_close("rows_q4_0(block of the example) y", y, want, 32, 0);
}
END_TEST

START_TEST(worked_example_of_q4_1) {
    // d = 0.5, m = -2; bytes 1f, 62, then zeros, and f4 at the end
    unsigned char block[20] = {0x00, 0x38, 0x00, 0xc0, 0x1f, 0x62, [19] = 0xf4};
    float y[32], want[32];
    for (int i = 0; i < 32; i++) want[i] = -2;
    want[0] = 5.5f, want[16] = -1.5f; // q 15 and 1
    want[1] = -1.0f, want[17] = 1.0f; // q 2 and 6
    want[15] = 0.0f, want[31] = 5.5f; // q 4 and 15
    rows_q4_1(y, block, 32);
    assert_close("rows_q4_1(block of the example) y", y, want, 32, 0);
}
END_TEST

// ---- the oracle: one value, straight from the drawing in the header, in double ------------------

static double f16_number(const unsigned char *bytes) {
    int bits = bytes[0] | bytes[1] << 8;
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double x = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    if (exponent == 31) x = INFINITY;
    return bits & 0x8000 ? -x : x;
}

static double f32_number(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return (double)x;
}

static int nibble_at(const unsigned char *packed, int j) {
    return j < 16 ? packed[j] % 16 : packed[j - 16] / 16;
}

static double value_at(enum dtype t, const unsigned char *row, int i) {
    const struct dtype_info *info = dtype_info(t);
    const unsigned char *block = row + i / info->block_len * info->block_bytes;
    int j = i % info->block_len;

    switch (t) {
    case DTYPE_F32:
        return f32_number((uint32_t)block[3] << 24 | (uint32_t)block[2] << 16 |
                          (uint32_t)block[1] << 8 | block[0]);
    case DTYPE_F16:
        return f16_number(block);
    case DTYPE_BF16:
        return f32_number((uint32_t)block[1] << 24 | (uint32_t)block[0] << 16);
    case DTYPE_Q8_0:
        return f16_number(block) * (block[2 + j] < 128 ? block[2 + j] : block[2 + j] - 256);
    case DTYPE_Q4_0:
        return f16_number(block) * (nibble_at(block + 2, j) - 8);
    case DTYPE_Q4_1:
        return f16_number(block) * nibble_at(block + 4, j) + f16_number(block + 2);
    default:
        return NAN;
    }
}

// Any bytes, but no infinite scale and no NaN: those would hide what follows.
static void draw_row(struct draw *d, enum dtype t, unsigned char *row, int n_blocks) {
    int block_bytes = dtype_info(t)->block_bytes;
    for (int b = 0; b < n_blocks; b++, row += block_bytes) {
        for (int i = 0; i < block_bytes; i++) row[i] = (unsigned char)draw_u64(d);
        row[t == DTYPE_F32 ? 3 : 1] &= 0xbf; // the exponent's highest bit
        if (t == DTYPE_Q4_1) row[3] &= 0xbf;
    }
}

// Both pieces of memory end exactly where the row ends, so a step too far is seen.
static void assert_row(const char *name, rows_fn *rows, enum dtype t, int n_blocks,
                       int shift) {
    const struct dtype_info *info = dtype_info(t);
    int n = n_blocks * info->block_len;
    size_t n_values = (size_t)n;
    unsigned char *memory = malloc((size_t)(shift + n_blocks * info->block_bytes));
    unsigned char *row = memory + shift;
    float *y = malloc(n_values * sizeof(float)), *want = malloc(n_values * sizeof(float));
    struct draw d = draw_start(info->name);
    char what[128];

    draw_row(&d, t, row, n_blocks);
    for (int i = 0; i < n; i++) want[i] = (float)value_at(t, row, i);
    rows(y, row, n);
    snprintf(what, sizeof(what), "%s(%d %s at an address + %d) y", name, n_blocks,
             info->block_len > 1 ? "blocks" : "values", shift);
    assert_close(what, y, want, n_values, 0);
    free(memory), free(y), free(want);
}

static void assert_lengths(const char *name, rows_fn *rows, enum dtype t) {
    static const int n_blocks[] = {1, 2, 3, 7, 33, 0};
    for (size_t i = 0; i < sizeof(n_blocks) / sizeof(n_blocks[0]); i++)
        assert_row(name, rows, t, n_blocks[i], 0);
}

static void assert_addresses(const char *name, rows_fn *rows, enum dtype t) {
    for (int shift = 1; shift < 5; shift++) assert_row(name, rows, t, 3, shift);
}

START_TEST(q8_0_blocks_follow_each_other) {
    assert_lengths("rows_q8_0", rows_q8_0, DTYPE_Q8_0);
}
END_TEST

START_TEST(q8_0_begins_at_any_address) {
    assert_addresses("rows_q8_0", rows_q8_0, DTYPE_Q8_0);
}
END_TEST

START_TEST(q4_0_blocks_follow_each_other) {
    assert_lengths("rows_q4_0", rows_q4_0, DTYPE_Q4_0);
}
END_TEST

START_TEST(q4_0_begins_at_any_address) {
    assert_addresses("rows_q4_0", rows_q4_0, DTYPE_Q4_0);
}
END_TEST

START_TEST(q4_1_blocks_follow_each_other) {
    assert_lengths("rows_q4_1", rows_q4_1, DTYPE_Q4_1);
}
END_TEST

START_TEST(q4_1_begins_at_any_address) {
    assert_addresses("rows_q4_1", rows_q4_1, DTYPE_Q4_1);
}
END_TEST

static const struct {
    enum dtype dtype;
    rows_fn *rows;
} table[] = {
    {DTYPE_Q4_1, rows_q4_1},
    {DTYPE_Q4_0, rows_q4_0},
    {DTYPE_Q8_0, rows_q8_0},
    {DTYPE_BF16, rows_bf16},
    {DTYPE_F16,  rows_f16 },
    {DTYPE_F32,  rows_f32 },
};
enum { N_TABLE = sizeof(table) / sizeof(table[0]) };

START_TEST(rows_for_finds_each_of_these_functions) {
    for (int i = 0; i < N_TABLE; i++) {
        enum dtype t = table[i].dtype;
        char what[64];
        snprintf(what, sizeof(what), "rows_for(%s) is rows_...", dtype_info(t)->name);
        assert_number(what, rows_for(t) == table[i].rows, 1);
        snprintf(what, sizeof(what), "rows_for(%s)", dtype_info(t)->name);
        assert_lengths(what, rows_for(t), t);
        assert_addresses(what, rows_for(t), t);
    }
}
END_TEST

static TCase *add_case(Suite *s, const char *name) {
    TCase *c = tcase_create(name);
    suite_add_tcase(s, c);
    return c;
}

Suite *suite(void) {
    Suite *s = suite_create("level2/rows");

    TCase *q8_example = add_case(s, "q8 worked example");
    tcase_add_test(q8_example, worked_example);
    TCase *q8_blocks = add_case(s, "q8 blocks");
    tcase_add_test(q8_blocks, q8_0_blocks_follow_each_other);
    tcase_add_test(q8_blocks, q8_0_begins_at_any_address);

    TCase *q4_example = add_case(s, "q4 worked example");
    tcase_add_test(q4_example, worked_example_of_q4_0);
    tcase_add_test(q4_example, worked_example_of_q4_1);
    TCase *q4_blocks = add_case(s, "q4 blocks");
    tcase_add_test(q4_blocks, q4_0_blocks_follow_each_other);
    tcase_add_test(q4_blocks, q4_0_begins_at_any_address);
    tcase_add_test(q4_blocks, q4_1_blocks_follow_each_other);
    tcase_add_test(q4_blocks, q4_1_begins_at_any_address);

    TCase *whole = add_case(s, "whole table");
    tcase_add_test(whole, rows_for_finds_each_of_these_functions);
    return s;
}
