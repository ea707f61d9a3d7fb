// Matrix products: the order of additions is a contract, so it is tested to the last bit.
#include "level2-operator/kernels/matmul.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/kernels/rows_for.h"
#include "tests/support/suite.h"

enum { MAX_IN = 1000, MAX_OUT = 20, MAX_TOKENS = 67 };

static float x[MAX_TOKENS * MAX_IN], w[MAX_OUT * MAX_IN], row[MAX_IN];
static float y[MAX_TOKENS * MAX_OUT], y2[MAX_TOKENS * MAX_OUT];

static void fill(struct draw *d, float *v, int n) {
    for (int i = 0; i < n; i++) v[i] = draw_float(d, -1.0f, 1.0f);
}

static void draw_case(const char *name) {
    struct draw d = draw_start(name);
    fill(&d, x, MAX_TOKENS * MAX_IN);
    fill(&d, w, MAX_OUT * MAX_IN);
}

static struct weight weight_f32(int n_out, int n_in) {
    return (struct weight){.dtype = DTYPE_F32,
                           .n_out = n_out,
                           .n_in = n_in,
                           .file = w,
                           .row_bytes = sizeof(float) * (size_t)n_in};
}

// The contract of matmul.h, word by word.
static float dot_by_contract(const float *a, const float *b, int n) {
    float sum[16] = {0};
    for (int i = 0; i < n; i++) {
        float product = a[i] * b[i];
        sum[i % 16] += product;
    }
    for (int half = 8; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) sum[j] += sum[j + half];
    }
    return sum[0];
}

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    int n;
    float a[5], b[5], want;
} rows[] = {
    {"nothing",                    0, {0},          {0},            0     },
    {"one product",                1, {3},          {-4},           -12   },
    {"1*4 + 2*5 + 3*6",            3, {1, 2, 3},    {4, 5, 6},      32    },
    {"opposites cancel",           4, {1, 1, 1, 1}, {5, -5, 7, -7}, 0     },
    {"NUM-08: 131072 is no limit", 2, {65536, 256}, {1, 256},       131072},
};

START_TEST(a_dot_product_matches_hand_worked_rows) {
    float got = dot_f32(rows[_i].a, rows[_i].b, rows[_i].n);
    ck_assert_msg(got == rows[_i].want, "%s: got %g, want %g", rows[_i].name, (double)got,
                  (double)rows[_i].want);
}
END_TEST

static const int sizes[] = {1, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 576, 999};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

START_TEST(a_dot_product_adds_in_the_promised_order) {
    draw_case("dot order");
    float got = dot_f32(x, w, sizes[_i]), want = dot_by_contract(x, w, sizes[_i]);
    ck_assert_msg(memcmp(&got, &want, sizeof(got)) == 0, "n = %d: got %.9g, want %.9g",
                  sizes[_i], (double)got, (double)want);
}
END_TEST

START_TEST(a_product_matches_double) {
    int n_in = sizes[_i];
    static float want[5 * MAX_OUT];
    draw_case("matmul oracle");
    struct weight m = weight_f32(MAX_OUT, n_in);
    matmul(y, x, &m, 5, 0, MAX_OUT, row);

    for (int t = 0; t < 5; t++) {
        for (int o = 0; o < MAX_OUT; o++) {
            double sum = 0;
            for (int i = 0; i < n_in; i++)
                sum += (double)x[t * n_in + i] * (double)w[o * n_in + i];
            want[t * MAX_OUT + o] = (float)sum;
        }
    }
    assert_close("y", y, want, 5 * MAX_OUT, 1e-5);
}
END_TEST

START_TEST(a_stored_row_is_expanded_first) { // Q8_0: one block, d = 0.5, q = i - 16
    struct block_q8_0 block = {.d = 0x3800};
    float ones[32], got;
    for (int i = 0; i < 32; i++) {
        block.qs[i] = (int8_t)(i - 16);
        ones[i] = 1;
    }
    struct weight m = {DTYPE_Q8_0, 1, 32, .file = &block, .row_bytes = sizeof(block)};
    matmul(&got, ones, &m, 1, 0, 1, row);
    ck_assert(got == -8); // 0.5 * (-16 - 15 ... + 15)
}
END_TEST

// Any bytes below 0x40: no scale is negative, infinite or NaN, whatever the type.
START_TEST(a_row_of_any_type_meets_every_token) {
    enum { N_ROWS = 3, N_IN = 2 * K_BLOCK, N_TOKENS = 5 };
    static unsigned char stored[N_ROWS * N_IN * sizeof(float)];
    const struct dtype_info *info = dtype_info((enum dtype)_i);
    struct weight m = {(enum dtype)_i, N_ROWS, N_IN, .file = stored};
    float expanded[N_IN], want[N_TOKENS * N_ROWS];
    struct draw d = draw_start(info->name);

    m.row_bytes = (size_t)(N_IN / info->block_len * info->block_bytes);
    fill(&d, x, N_TOKENS * N_IN);
    for (size_t i = 0; i < sizeof(stored); i++)
        stored[i] = (unsigned char)draw_int(&d, 0, 63);
    for (int o = 0; o < N_ROWS; o++) {
        rows_for(m.dtype)(expanded, stored + (size_t)o * m.row_bytes, N_IN);
        for (int t = 0; t < N_TOKENS; t++)
            want[t * N_ROWS + o] = dot_by_contract(expanded, x + t * N_IN, N_IN);
    }
    matmul(y, x, &m, N_TOKENS, 0, N_ROWS, row);
    assert_close(info->name, y, want, N_TOKENS * N_ROWS, 0);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(only_the_columns_asked_for_are_written) {
    draw_case("matmul columns");
    struct weight m = weight_f32(MAX_OUT, 33);
    for (int i = 0; i < 3 * MAX_OUT; i++) y[i] = 42;
    matmul(y, x, &m, 3, 5, 9, row);
    for (int i = 0; i < 3 * MAX_OUT; i++) {
        int o = i % MAX_OUT;
        ck_assert_msg((y[i] != 42) == (o >= 5 && o < 9), "y[%d] = %g", i, (double)y[i]);
    }
    matmul(y2, x, &m, 3, 7, 7, row); // an empty share
    ck_assert(y2[7] == 0);
}
END_TEST

START_TEST(rows_need_not_be_aligned) {
    draw_case("dot unaligned");
    for (int off = 0; off < 4; off++) {
        ck_assert(dot_f32(x + off, w + 3 - off, 77) ==
                  dot_by_contract(x + off, w + 3 - off, 77));
    }
}
END_TEST

START_TEST(nothing_past_the_end_is_read) { // the sanitizer watches the exact sizes
    for (int n = 1; n <= 49; n++) {
        float *a = calloc((size_t)n, sizeof(float)), *b = calloc((size_t)n, sizeof(float));
        ck_assert(a && b);
        a[n - 1] = b[n - 1] = 3;
        ck_assert(dot_f32(a, b, n) == 9);
        free(a);
        free(b);
    }
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(a_token_does_not_know_its_company) { // bit for bit, whatever n_tokens is
    int n_in = sizes[_i];
    draw_case("matmul company");
    struct weight m = weight_f32(MAX_OUT, n_in);
    for (int n_tokens = 1; n_tokens <= MAX_TOKENS; n_tokens += 11) {
        matmul(y, x, &m, n_tokens, 0, MAX_OUT, row);
        for (int t = 0; t < n_tokens; t++) {
            matmul(y2, x + t * n_in, &m, 1, 0, MAX_OUT, row);
            ck_assert_msg(memcmp(y2, y + t * MAX_OUT, sizeof(float) * MAX_OUT) == 0,
                          "token %d of %d", t, n_tokens);
        }
    }
}
END_TEST

START_TEST(shares_put_together_equal_the_whole) {
    draw_case("matmul shares");
    struct weight m = weight_f32(MAX_OUT, 100);
    matmul(y, x, &m, 6, 0, MAX_OUT, row);
    matmul(y2, x, &m, 6, 0, 3, row);
    matmul(y2, x, &m, 6, 3, 16, row);
    matmul(y2, x, &m, 6, 16, MAX_OUT, row);
    ck_assert_mem_eq(y, y2, sizeof(float) * 6 * MAX_OUT);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/matmul");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_dot_product_matches_hand_worked_rows, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_loop_test(reference, a_dot_product_adds_in_the_promised_order, 0, N_SIZES);
    tcase_add_loop_test(reference, a_product_matches_double, 0, N_SIZES);
    tcase_add_test(reference, a_stored_row_is_expanded_first);
    tcase_add_loop_test(reference, a_row_of_any_type_meets_every_token, 0, DTYPE_Q6_K + 1);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, only_the_columns_asked_for_are_written);
    tcase_add_test(edges, rows_need_not_be_aligned);
    tcase_add_test(edges, nothing_past_the_end_is_read);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, a_token_does_not_know_its_company, 0, N_SIZES);
    tcase_add_test(property, shares_put_together_equal_the_whole);
    suite_add_tcase(s, property);
    return s;
}
