// K blocks as floats: blocks worked by hand, then blocks that are packed here from drawn numbers, so that
// it is known what must come out. Tests of q4, q5 and q6 never call each other.
#include "level2-operator/kernels/rows_k.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

typedef void rows_fn(float *y, const void *row, int n);

enum { N_GROUPS = 8, GROUP = 32, N_SCALES = 16, WHAT_BYTES = 96 };

// ---- worked examples: f16 3c00 is 1, 3800 is 0.5; the low byte stands first ---------------------

static void want_group(float *want, int g, float all) {
    for (int j = 0; j < GROUP; j++) want[g * GROUP + j] = all;
}

// d = 0.5, m = 1; s = 2 and t = 3 of group 0, s = 4 of group 1, s = 33 and t = 18 of group 5
static const unsigned char head_of_example[16] = {0x00, 0x38, 0x00, 0x3c, 0x02, 0x84, 0, 0,
                                                  0x03, 0x40, 0,    0,    0,    0x21, 0, 0};

START_TEST(worked_example) {
    unsigned char block[144] = {0};
    float y[K_BLOCK], want[K_BLOCK] = {0};
    memcpy(block, head_of_example, sizeof(head_of_example));
    block[16] = 0x5f;      // q 15 of value 0, q 5 of value 32
    block[16 + 64] = 0x30; // q 0 of value 128, q 3 of value 160
    want_group(want, 0, -3), want_group(want, 5, -18);
    want[0] = 12, want[32] = 10, want[160] = 31.5f;
    rows_q4_k(y, block, K_BLOCK);
    assert_close("rows_q4_k(block of the example) y", y, want, K_BLOCK, 0);
}
END_TEST

START_TEST(worked_example_of_q5_k) {
    unsigned char block[176] = {0};
    float y[K_BLOCK], want[K_BLOCK] = {0};
    memcpy(block, head_of_example, sizeof(head_of_example));
    block[16] = 0x21; // 16 more for value 0 of groups 0 and 5
    block[48] = 0x5f, block[48 + 64] = 0x30;
    want_group(want, 0, -3), want_group(want, 5, -18);
    want[0] = 28, want[32] = 10, want[160] = 295.5f;
    rows_q5_k(y, block, K_BLOCK);
    assert_close("rows_q5_k(block of the example) y", y, want, K_BLOCK, 0);
}
END_TEST

START_TEST(worked_example_of_q6_k) {
    unsigned char block[210] = {[0] = 0x4f, [96] = 0x07, [128] = 0x23, [160] = 0x04};
    float y[K_BLOCK], want[K_BLOCK] = {0};
    block[192] = 2, block[193] = 0xff, block[196] = 3, block[202] = 0xfc; // s 2, -1, 3, -4
    block[208] = 0x00, block[209] = 0x38;                                 // d = 0.5
    for (int j = 0; j < 16; j++) {
        want[j] = -32, want[16 + j] = 16, want[64 + j] = -48, want[160 + j] = 64;
    }
    want[0] = 31;   // 0.5 * 2 * (15 + 48 - 32)
    want[64] = 6;   // 0.5 * 3 * (4 + 32 - 32)
    want[160] = 18; // 0.5 * -4 * (7 + 16 - 32)
    rows_q6_k(y, block, K_BLOCK);
    assert_close("rows_q6_k(block of the example) y", y, want, K_BLOCK, 0);
}
END_TEST

// ---- blocks that are packed here ----------------------------------------------------------------

struct numbers {
    unsigned d, m; // f16 bits
    int s[N_SCALES], t[N_GROUPS];
    int q[K_BLOCK];
};

static double f16_number(unsigned bits) { // finite
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    double x = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
    return bits & 0x8000 ? -x : x;
}

static unsigned draw_f16(struct draw *d) { // any finite one, below zero and subnormal too
    return (unsigned)draw_int(d, 0, 0x7bff) | (unsigned)draw_int(d, 0, 1) << 15;
}

static void draw_numbers(struct numbers *x, struct draw *d, enum dtype t) {
    int n_levels = t == DTYPE_Q4_K ? 16 : t == DTYPE_Q5_K ? 32 : 64;
    x->d = draw_f16(d), x->m = draw_f16(d);
    for (int i = 0; i < N_SCALES; i++)
        x->s[i] = t == DTYPE_Q6_K ? draw_int(d, -128, 127) : draw_int(d, 0, 63);
    for (int g = 0; g < N_GROUPS; g++) x->t[g] = draw_int(d, 0, 63);
    for (int i = 0; i < K_BLOCK; i++) x->q[i] = draw_int(d, 0, n_levels - 1);
}

static void put_f16(unsigned char *at, unsigned bits) {
    at[0] = bits % 256, at[1] = (unsigned char)(bits / 256);
}

// d, m, and the 12 bytes of Q4_K and Q5_K.
static void pack_head(unsigned char *block, const struct numbers *x) {
    unsigned char *s = block + 4, *t = block + 8, *low = block + 12;
    put_f16(block, x->d), put_f16(block + 2, x->m);
    for (int i = 0; i < 4; i++) {
        s[i] = (unsigned char)(x->s[i + 4] / 16 * 64 + x->s[i]);
        t[i] = (unsigned char)(x->t[i + 4] / 16 * 64 + x->t[i]);
        low[i] = (unsigned char)(x->t[i + 4] % 16 * 16 + x->s[i + 4] % 16);
    }
}

static void pack_q4_k(unsigned char *block, const struct numbers *x) {
    pack_head(block, x);
    for (int i = 0; i < K_BLOCK; i += 2 * GROUP)
        for (int j = 0; j < GROUP; j++)
            block[16 + i / 2 + j] =
                (unsigned char)(x->q[i + j] % 16 + x->q[i + GROUP + j] % 16 * 16);
}

static void pack_q5_k(unsigned char *block, const struct numbers *x) {
    unsigned char packed[144];
    pack_q4_k(packed, x); // the same but for what lies in between
    memcpy(block, packed, 16);
    memcpy(block + 48, packed + 16, 128);
    for (int j = 0; j < GROUP; j++) {
        int bits = 0;
        for (int g = N_GROUPS - 1; g >= 0; g--) bits = 2 * bits + x->q[g * GROUP + j] / 16;
        block[16 + j] = (unsigned char)bits;
    }
}

static void pack_q6_k(unsigned char *block, const struct numbers *x) {
    memset(block, 0, 192);
    for (int i = 0; i < K_BLOCK; i++) {
        int half = i / 128, k = i % 128 / GROUP, j = i % GROUP;
        block[64 * half + 32 * (k % 2) + j] |=
            (unsigned char)(x->q[i] % 16 * (k < 2 ? 1 : 16));
        block[128 + 32 * half + j] |= (unsigned char)(x->q[i] / 16 << 2 * k);
    }
    for (int i = 0; i < N_SCALES; i++) block[192 + i] = (unsigned char)x->s[i];
    put_f16(block + 208, x->d);
}

// Both products are exact in a double and in a float; the difference rounds once.
static float want_value(const struct numbers *x, enum dtype t, int i) {
    double d = f16_number(x->d), m = f16_number(x->m);
    if (t == DTYPE_Q6_K) return (float)(d * x->s[i / 16] * (x->q[i] - 32));
    return (float)(d * x->s[i / GROUP] * x->q[i]) - (float)(m * x->t[i / GROUP]);
}

static const struct type {
    const char *name;
    rows_fn *rows;
    enum dtype dtype;
    void (*pack)(unsigned char *block, const struct numbers *x);
} q4 = {"rows_q4_k", rows_q4_k, DTYPE_Q4_K, pack_q4_k},
  q5 = {"rows_q5_k", rows_q5_k, DTYPE_Q5_K, pack_q5_k},
  q6 = {"rows_q6_k", rows_q6_k, DTYPE_Q6_K, pack_q6_k};

// Both pieces of memory end exactly where the row ends, so a step too far is seen.
static void assert_row(const struct type *type, int n_blocks, int shift) {
    int block_bytes = dtype_info(type->dtype)->block_bytes, n = n_blocks * K_BLOCK;
    unsigned char *memory = malloc((size_t)(shift + n_blocks * block_bytes));
    float *y = malloc((size_t)n * sizeof(float)), *want = malloc((size_t)n * sizeof(float));
    struct draw d = draw_start(type->name);
    struct numbers x;
    char what[WHAT_BYTES];

    for (int b = 0; b < n_blocks; b++) {
        draw_numbers(&x, &d, type->dtype);
        type->pack(memory + shift + b * block_bytes, &x);
        for (int i = 0; i < K_BLOCK; i++)
            want[b * K_BLOCK + i] = want_value(&x, type->dtype, i);
    }
    type->rows(y, memory + shift, n);
    snprintf(what, sizeof(what), "%s(%d blocks at an address + %d) y", type->name, n_blocks,
             shift);
    assert_close(what, y, want, (size_t)n, 0);
    free(memory), free(y), free(want);
}

static void assert_lengths(const struct type *type) {
    static const int n_blocks[] = {1, 2, 3, 7, 0};
    for (size_t i = 0; i < sizeof(n_blocks) / sizeof(n_blocks[0]); i++)
        assert_row(type, n_blocks[i], 0);
}

static void assert_addresses(const struct type *type) {
    for (int shift = 1; shift < 5; shift++) assert_row(type, 2, shift);
}

// One block in which d is 1, and only what the caller sets is not 0: easy to read when it fails.
static void assert_block(const struct type *type, const struct numbers *x,
                         const char *what) {
    unsigned char block[210];
    float y[K_BLOCK], want[K_BLOCK];
    type->pack(block, x);
    for (int i = 0; i < K_BLOCK; i++) want[i] = want_value(x, type->dtype, i);
    type->rows(y, block, K_BLOCK);
    assert_close(what, y, want, K_BLOCK, 0);
}

static void assert_six_bits(const struct type *type) {
    char what[WHAT_BYTES];
    for (int g = 0; g < N_GROUPS; g++) {
        for (int bit = 1; bit < 64; bit *= 2) {
            struct numbers x = {.d = 0x3c00, .m = 0x3c00};
            for (int i = 0; i < K_BLOCK; i++) x.q[i] = 1;
            x.s[g] = bit;
            snprintf(what, sizeof(what), "%s(all q 1; s[%d] = %d) y", type->name, g, bit);
            assert_block(type, &x, what);
            x.s[g] = 0, x.t[g] = bit;
            snprintf(what, sizeof(what), "%s(all q 1; t[%d] = %d) y", type->name, g, bit);
            assert_block(type, &x, what);
        }
    }
}

static void assert_each_bit_of_q(const struct type *type, int n_levels) {
    char what[WHAT_BYTES];
    for (int i = 0; i < K_BLOCK; i += 13) {
        for (int bit = 1; bit < n_levels; bit *= 2) {
            struct numbers x = {.d = 0x3c00};
            for (int j = 0; j < N_SCALES; j++) x.s[j] = 1;
            x.q[i] = bit;
            snprintf(what, sizeof(what), "%s(all s 1; q of value %d is %d, others 0) y",
                     type->name, i, bit);
            assert_block(type, &x, what);
        }
    }
}

// ---- q4 -----------------------------------------------------------------------------------------

START_TEST(q4_k_finds_each_scale_and_minimum) {
    assert_six_bits(&q4);
}
END_TEST

START_TEST(q4_k_finds_each_bit_of_each_value) {
    assert_each_bit_of_q(&q4, 16);
}
END_TEST

START_TEST(q4_k_blocks_follow_each_other) {
    assert_lengths(&q4);
}
END_TEST

START_TEST(q4_k_begins_at_any_address) {
    assert_addresses(&q4);
}
END_TEST

// ---- q5 -----------------------------------------------------------------------------------------

START_TEST(q5_k_finds_each_scale_and_minimum) {
    assert_six_bits(&q5);
}
END_TEST

START_TEST(q5_k_finds_each_bit_of_each_value) {
    assert_each_bit_of_q(&q5, 32);
}
END_TEST

START_TEST(q5_k_blocks_follow_each_other) {
    assert_lengths(&q5);
}
END_TEST

START_TEST(q5_k_begins_at_any_address) {
    assert_addresses(&q5);
}
END_TEST

// ---- q6 -----------------------------------------------------------------------------------------

START_TEST(q6_k_has_a_signed_scale_for_each_16_values) {
    char what[WHAT_BYTES];
    for (int i = 0; i < N_SCALES; i++) {
        for (int s = -128; s < 128; s += 51) {
            struct numbers x = {.d = 0x3c00};
            x.s[i] = s;
            snprintf(what, sizeof(what), "rows_q6_k(all q 0; s[%d] = %d, others 0) y", i,
                     s);
            assert_block(&q6, &x, what);
        }
    }
}
END_TEST

START_TEST(q6_k_finds_each_bit_of_each_value) {
    assert_each_bit_of_q(&q6, 64);
}
END_TEST

START_TEST(q6_k_blocks_follow_each_other) {
    assert_lengths(&q6);
}
END_TEST

START_TEST(q6_k_begins_at_any_address) {
    assert_addresses(&q6);
}
END_TEST

static TCase *add_case(Suite *s, const char *name) {
    TCase *c = tcase_create(name);
    suite_add_tcase(s, c);
    return c;
}

Suite *suite(void) {
    Suite *s = suite_create("level2/rows_k");

    TCase *q4_example = add_case(s, "q4 worked example");
    tcase_add_test(q4_example, worked_example);
    TCase *q4_blocks = add_case(s, "q4 blocks");
    tcase_add_test(q4_blocks, q4_k_finds_each_scale_and_minimum);
    tcase_add_test(q4_blocks, q4_k_finds_each_bit_of_each_value);
    tcase_add_test(q4_blocks, q4_k_blocks_follow_each_other);
    tcase_add_test(q4_blocks, q4_k_begins_at_any_address);

    TCase *q5_example = add_case(s, "q5 worked example");
    tcase_add_test(q5_example, worked_example_of_q5_k);
    TCase *q5_blocks = add_case(s, "q5 blocks");
    tcase_add_test(q5_blocks, q5_k_finds_each_scale_and_minimum);
    tcase_add_test(q5_blocks, q5_k_finds_each_bit_of_each_value);
    tcase_add_test(q5_blocks, q5_k_blocks_follow_each_other);
    tcase_add_test(q5_blocks, q5_k_begins_at_any_address);

    TCase *q6_example = add_case(s, "q6 worked example");
    tcase_add_test(q6_example, worked_example_of_q6_k);
    TCase *q6_blocks = add_case(s, "q6 blocks");
    tcase_add_test(q6_blocks, q6_k_has_a_signed_scale_for_each_16_values);
    tcase_add_test(q6_blocks, q6_k_finds_each_bit_of_each_value);
    tcase_add_test(q6_blocks, q6_k_blocks_follow_each_other);
    tcase_add_test(q6_blocks, q6_k_begins_at_any_address);
    return s;
}
