// 16-bit floats: every f16 there is, and every rounding between two neighbours.
#include "common/half.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/support/suite.h"

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

// What the bits of an f16 mean, by the definition and in double.
static double f16_meaning(uint16_t bits) {
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double size = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    if (exponent == 31) size = mantissa ? NAN : INFINITY;
    return bits & 0x8000 ? -size : size;
}

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    float x;
    uint16_t f16, bf16;
} rows[] = {
    {"zero",                          0.0f,            0x0000, 0x0000},
    {"minus zero",                    -0.0f,           0x8000, 0x8000},
    {"one",                           1.0f,            0x3c00, 0x3f80},
    {"minus two",                     -2.0f,           0xc000, 0xc000},
    {"a third",                       1.0f / 3,        0x3555, 0x3eab},
    {"largest f16",                   65504.0f,        0x7bff, 0x4780},
    {"just short of infinity",        65519.996f,      0x7bff, 0x4780},
    {"ties to infinity",              65520.0f,        0x7c00, 0x4780},
    {"smallest normal f16",           0x1p-14f,        0x0400, 0x3880},
    {"smallest f16",                  0x1p-24f,        0x0001, 0x3380},
    {"half of it: ties to even",      0x1p-25f,        0x0000, 0x3300},
    {"a little more",                 0x1.000002p-25f, 0x0001, 0x3300},
    {"far below",                     0x1p-40f,        0x0000, 0x2b80},
    {"subnormal f32",                 0x1p-149f,       0x0000, 0x0000},
    {"subnormal rounds up to normal", 0x1.ffcp-15f,    0x0400, 0x3880},
    {"largest f32",                   0x1.fffffep127f, 0x7c00, 0x7f80},
    {"infinity",                      INFINITY,        0x7c00, 0x7f80},
    {"minus infinity",                -INFINITY,       0xfc00, 0xff80},
    {"bf16 tie to even, down",        0x1.01p0f,       0x3c04, 0x3f80},
    {"bf16 tie to even, up",          0x1.03p0f,       0x3c0c, 0x3f82},
};

START_TEST(known_numbers_have_their_known_bits) {
    uint16_t f16 = f16_from_f32(rows[_i].x), bf16 = bf16_from_f32(rows[_i].x);
    ck_assert_msg(f16 == rows[_i].f16, "%s: f16 %04x, want %04x", rows[_i].name, f16,
                  rows[_i].f16);
    ck_assert_msg(bf16 == rows[_i].bf16, "%s: bf16 %04x, want %04x", rows[_i].name, bf16,
                  rows[_i].bf16);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

static const uint32_t nans[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001,
                                0x7f801fff, 0x7fffffff, 0x7f80ffff};

START_TEST(nan_stays_nan_and_keeps_its_sign) {
    float x = float_of(nans[_i]);
    ck_assert(isnan(f16_to_f32(f16_from_f32(x))));
    ck_assert(isnan(bf16_to_f32(bf16_from_f32(x))));
    ck_assert_uint_eq(f16_from_f32(x) >> 15, nans[_i] >> 31);
    ck_assert_uint_eq(bf16_from_f32(x) >> 15, nans[_i] >> 31);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

// Checked a few hundred thousand times: cheaper than ck_assert.
static void expect(bool is_right, const char *what, uint32_t bits) {
    if (!is_right) ck_abort_msg("%s at %04x", what, bits);
}

START_TEST(every_f16_means_what_it_says_and_comes_back) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float x = f16_to_f32((uint16_t)bits);
        double want = f16_meaning((uint16_t)bits);
        if (isnan(want)) {
            expect(isnan(x), "no NaN", bits);
            continue;
        }
        expect((double)x == want && !signbit(x) == !(bits & 0x8000), "wrong", bits);
        expect(f16_from_f32(x) == bits, "does not come back", bits);
    }
}
END_TEST

START_TEST(every_bf16_is_the_upper_half_and_comes_back) {
    for (uint32_t bits = 0; bits < 65536; bits++) {
        float x = bf16_to_f32((uint16_t)bits);
        expect(bits_of(x) == bits << 16, "wrong", bits);
        expect(isnan(x) || bf16_from_f32(x) == bits, "does not come back", bits);
    }
}
END_TEST

// Between each f16 and the next one up: the middle goes to the even one, a hair beside it to the
// nearer one. The last step is to infinity, whose place is where 65536 would be.
START_TEST(f16_rounds_to_nearest_and_ties_to_even) {
    for (uint16_t low = 0; low < 0x7c00; low++) {
        uint16_t high = (uint16_t)(low + 1);
        double above = high == 0x7c00 ? 65536 : f16_meaning(high);
        float middle = (float)((f16_meaning(low) + above) / 2); // exact: 12 bits
        uint16_t even = low & 1 ? high : low;
        expect(f16_from_f32(middle) == even, "tie", low);
        expect(f16_from_f32(-middle) == (even | 0x8000), "negative tie", low);
        expect(f16_from_f32(nextafterf(middle, 0)) == low, "below tie", low);
        expect(f16_from_f32(nextafterf(middle, 1e9f)) == high, "above tie", low);
    }
}
END_TEST

START_TEST(bf16_rounds_to_nearest_and_ties_to_even) {
    for (uint32_t low = 0; low < 0x7f80; low++) {
        uint32_t middle = low << 16 | 0x8000;
        uint32_t even = low + (low & 1);
        expect(bf16_from_f32(float_of(middle)) == even, "tie", low);
        expect(bf16_from_f32(-float_of(middle)) == (even | 0x8000), "negative tie", low);
        expect(bf16_from_f32(float_of(middle - 1)) == low, "below tie", low);
        expect(bf16_from_f32(float_of(middle + 1)) == low + 1, "above tie", low);
    }
}
END_TEST

START_TEST(no_neighbour_is_nearer) {
    struct draw d = draw_start("nearest");
    for (int round = 0; round < 100000; round++) {
        float x = float_of((uint32_t)draw_u64(&d));
        if (!(fabsf(x) < 65504)) continue;
        uint16_t bits = f16_from_f32(x);
        double off = fabs(f16_meaning(bits) - (double)x);
        uint16_t size = bits & 0x7fff, sign = bits & 0x8000;
        double up = fabs(f16_meaning((uint16_t)((size + 1) | sign)) - (double)x);
        double down =
            size ? fabs(f16_meaning((uint16_t)((size - 1) | sign)) - (double)x) : up;
        expect(off <= up && off <= down, "a neighbour is nearer", bits);
    }
}
END_TEST

START_TEST(an_f16_is_loaded_from_any_address_low_byte_first) {
    unsigned char bytes[5] = {0xff, 0x00, 0x38, 0x00, 0xc0};
    ck_assert(f16_load(bytes + 1) == 0.5f);
    ck_assert(f16_load(bytes + 3) == -2.0f);
    for (int i = 0; i < 65536; i++) {
        bytes[1] = (unsigned char)i, bytes[2] = (unsigned char)(i >> 8);
        ck_assert_uint_eq(bits_of(f16_load(bytes + 1)), bits_of(f16_to_f32((uint16_t)i)));
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/half");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, known_numbers_have_their_known_bits, 0,
                        sizeof(rows) / sizeof(rows[0]));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_loop_test(edges, nan_stays_nan_and_keeps_its_sign, 0,
                        sizeof(nans) / sizeof(nans[0]));
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_test(property, every_f16_means_what_it_says_and_comes_back);
    tcase_add_test(property, every_bf16_is_the_upper_half_and_comes_back);
    tcase_add_test(property, f16_rounds_to_nearest_and_ties_to_even);
    tcase_add_test(property, bf16_rounds_to_nearest_and_ties_to_even);
    tcase_add_test(property, no_neighbour_is_nearer);
    tcase_add_test(property, an_f16_is_loaded_from_any_address_low_byte_first);
    suite_add_tcase(s, property);
    return s;
}
