// Stored rows as floats: blocks worked by hand, a slow oracle over many lengths and addresses, and all
// 65,536 values of the 16-bit types.
#include "level2-operator/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/half.h"
#include "tests/support/suite.h"

// ---- reference ----------------------------------------------------------------------------------

// f16: 3c00 is 1, 3800 is 0.5, c000 is -2.
START_TEST(q8_0_is_scale_times_integer) {
    unsigned char block[34] = {0x00, 0x38, 1, 0xff, 127, 0x80};
    float y[32], want[32] = {0.5f, -0.5f, 63.5f, -64.0f};
    block[33] = 3, want[31] = 1.5f;
    rows_q8_0(y, block, 32);
    assert_close("y", y, want, 32, 0);
}
END_TEST

START_TEST(q4_0_counts_nibbles_from_minus_eight) {
    unsigned char block[18] = {0x00, 0x3c};
    float y[32], want[32];
    memset(block + 2, 0x88, 16);
    memset(want, 0, sizeof(want));
    block[2] = 0x0f, want[0] = 7, want[16] = -8; // low half: value 0; high half: value 16
    block[17] = 0x91, want[15] = -7, want[31] = 1;
    rows_q4_0(y, block, 32);
    assert_close("y", y, want, 32, 0);
}
END_TEST

START_TEST(q4_1_adds_the_minimum) {
    unsigned char block[20] = {0x00, 0x38, 0x00, 0xc0}; // d = 0.5, m = -2
    float y[32], want[32];
    for (int i = 0; i < 32; i++) want[i] = -2;
    block[4] = 0x1f, want[0] = 5.5f, want[16] = -1.5f;
    block[19] = 0xf4, want[15] = 0, want[31] = 5.5f;
    rows_q4_1(y, block, 32);
    assert_close("y", y, want, 32, 0);
}
END_TEST

START_TEST(floats_are_copied_bit_for_bit) {
    const float row[7] = {0.0f, -0.0f, 1.5f, -INFINITY, 1e-45f, 3.4e38f, 7};
    float y[7];
    rows_f32(y, row, 7);
    ck_assert_int_eq(memcmp(y, row, sizeof(row)), 0);
}
END_TEST

START_TEST(sixteen_bit_floats_agree_with_the_single_conversion) {
    static uint16_t row[65536];
    static float f16[65536], bf16[65536];
    for (int i = 0; i < 65536; i++) row[i] = (uint16_t)i;
    rows_f16(f16, row, 65536);
    rows_bf16(bf16, row, 65536);
    for (int i = 0; i < 65536; i++) {
        float want_f16 = f16_to_f32((uint16_t)i), want_bf16 = bf16_to_f32((uint16_t)i);
        ck_assert_msg(memcmp(&f16[i], &want_f16, 4) == 0, "f16 %04x: %g, want %g", i,
                      f16[i], want_f16);
        ck_assert_msg(memcmp(&bf16[i], &want_bf16, 4) == 0, "bf16 %04x: %g, want %g", i,
                      bf16[i], want_bf16);
    }
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(every_type_of_a_file_has_a_function_and_others_have_none) {
    for (int t = 0; t < DTYPE_COUNT; t++) {
        bool is_in_files = dtype_info((enum dtype)t)->gguf_type >= 0;
        ck_assert_msg((rows_for((enum dtype)t) != NULL) == is_in_files, "%s",
                      dtype_info((enum dtype)t)->name);
    }
    ck_assert(rows_for(DTYPE_COUNT) == NULL);
}
END_TEST

START_TEST(a_row_of_no_values_writes_nothing) {
    for (int t = 0; t < DTYPE_COUNT; t++) {
        float y = 42;
        if (rows_for((enum dtype)t)) rows_for((enum dtype)t)(&y, "", 0);
        ck_assert(y == 42);
    }
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// Value i of a row, the slow way: straight from the drawing in common/dtype.h.
static float value_at(enum dtype t, const unsigned char *row, int i) {
    const struct dtype_info *info = dtype_info(t);
    const unsigned char *block = row + i / info->block_len * info->block_bytes;
    int j = i % info->block_len;
    uint16_t first = (uint16_t)(block[0] | block[1] << 8);
    float d = f16_to_f32(first), m = 0, x;

    if (t == DTYPE_Q4_1) m = f16_to_f32((uint16_t)(block[2] | block[3] << 8));

    switch (t) {
    case DTYPE_F32:
        memcpy(&x, block, 4);
        return x;
    case DTYPE_F16:
        return d;
    case DTYPE_BF16:
        return bf16_to_f32(first);
    case DTYPE_Q8_0:
        return d * (float)(block[2 + j] < 128 ? block[2 + j] : block[2 + j] - 256);
    case DTYPE_Q4_0:
        return d * (float)((j < 16 ? block[2 + j] % 16 : block[2 + j - 16] / 16) - 8);
    case DTYPE_Q4_1:
        return d * (float)(j < 16 ? block[4 + j] % 16 : block[4 + j - 16] / 16) + m;
    default:
        return NAN;
    }
}

// Random bytes, but no infinite or NaN scale: those would hide what follows.
static void draw_row(struct draw *d, unsigned char *row, size_t n_bytes) {
    for (size_t i = 0; i < n_bytes; i++) row[i] = (unsigned char)(draw_u64(d) & 0xbb);
}

START_TEST(any_length_at_any_address_equals_the_oracle) {
    static const int n_blocks[] = {1, 2, 3, 7, 8, 9, 33};
    enum dtype t = (enum dtype)_i;
    if (!rows_for(t)) return;
    const struct dtype_info *info = dtype_info(t);
    struct draw d = draw_start(info->name);

    for (size_t k = 0; k < sizeof(n_blocks) / sizeof(n_blocks[0]); k++) {
        int n = n_blocks[k] * info->block_len;
        size_t n_bytes = (size_t)(n_blocks[k] * info->block_bytes);
        for (size_t shift = 0; shift < 5; shift++) {
            unsigned char *memory =
                malloc(shift + n_bytes); // ends exactly where the row ends
            float *y = malloc((size_t)n * sizeof(float)),
                  *want = malloc((size_t)n * sizeof(float));
            draw_row(&d, memory + shift, n_bytes);
            for (int i = 0; i < n; i++) want[i] = value_at(t, memory + shift, i);
            rows_for(t)(y, memory + shift, n);
            ck_assert_msg(memcmp(y, want, (size_t)n * sizeof(float)) == 0,
                          "%s, %d values, shift %zu", info->name, n, shift);
            free(memory), free(y), free(want);
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/rows");

    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, q8_0_is_scale_times_integer);
    tcase_add_test(reference, q4_0_counts_nibbles_from_minus_eight);
    tcase_add_test(reference, q4_1_adds_the_minimum);
    tcase_add_test(reference, floats_are_copied_bit_for_bit);
    tcase_add_test(reference, sixteen_bit_floats_agree_with_the_single_conversion);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, every_type_of_a_file_has_a_function_and_others_have_none);
    tcase_add_test(edges, a_row_of_no_values_writes_nothing);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, any_length_at_any_address_equals_the_oracle, 0,
                        DTYPE_COUNT);
    suite_add_tcase(s, property);
    return s;
}
