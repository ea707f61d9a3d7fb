// Types: names, blocks and file numbers against the GGUF specification.
#include "common/dtype.h"

#include <signal.h>

#include "tests/support/suite.h"

// ---- reference: written out from the specification, not from our table --------------------------

static const struct {
    enum dtype dtype;
    const char *name;
    int block_len, block_bytes;
    uint32_t gguf_type;
} rows[] = {
    {DTYPE_F32,     "F32",     1,   4,                          0 },
    {DTYPE_F16,     "F16",     1,   2,                          1 },
    {DTYPE_BF16,    "BF16",    1,   2,                          30},
    {DTYPE_Q8_0,    "Q8_0",    32,  2 + 32,                     8 },
    {DTYPE_Q4_0,    "Q4_0",    32,  2 + 32 / 2,                 2 },
    {DTYPE_Q4_1,    "Q4_1",    32,  2 + 2 + 32 / 2,             3 },
    {DTYPE_Q5_0,    "Q5_0",    32,  2 + 4 + 32 / 2,             6 },
    {DTYPE_Q5_1,    "Q5_1",    32,  2 + 2 + 4 + 32 / 2,         7 },
    {DTYPE_Q4_K,    "Q4_K",    256, 2 + 2 + 12 + 256 / 2,       12},
    {DTYPE_Q5_K,    "Q5_K",    256, 2 + 2 + 12 + 256 / 8 * 5,   13},
    {DTYPE_Q6_K,    "Q6_K",    256, 256 / 8 * 6 + 256 / 16 + 2, 14},
    {DTYPE_I8,      "I8",      1,   1,                          24},
    {DTYPE_I16,     "I16",     1,   2,                          25},
    {DTYPE_I32,     "I32",     1,   4,                          26},
    {DTYPE_I64,     "I64",     1,   8,                          27},
    {DTYPE_F64,     "F64",     1,   8,                          28},
    {DTYPE_Q1_0,    "Q1_0",    128, 2 + 128 / 8,                41},
    {DTYPE_Q2_K,    "Q2_K",    256, 256 / 16 + 256 / 4 + 2 + 2, 10},
    {DTYPE_Q3_K,    "Q3_K",    256, 256 / 8 * 3 + 12 + 2,       11},
    {DTYPE_TQ1_0,   "TQ1_0",   256, 240 / 5 + 16 / 4 + 2,       34},
    {DTYPE_TQ2_0,   "TQ2_0",   256, 256 / 4 + 2,                35},
    {DTYPE_MXFP4,   "MXFP4",   32,  1 + 32 / 2,                 39},
    {DTYPE_NVFP4,   "NVFP4",   64,  64 / 16 + 64 / 2,           40},
    {DTYPE_IQ1_S,   "IQ1_S",   256, 2 + 256 / 8 + 256 / 16,     19},
    {DTYPE_IQ1_M,   "IQ1_M",   256, 256 / 8 + 256 / 16 + 8,     29},
    {DTYPE_IQ2_XXS, "IQ2_XXS", 256, 2 + 256 / 4,                16},
    {DTYPE_IQ2_XS,  "IQ2_XS",  256, 2 + 256 / 4 + 8,            17},
    {DTYPE_IQ2_S,   "IQ2_S",   256, 2 + 256 / 4 + 8 + 8,        22},
    {DTYPE_IQ3_XXS, "IQ3_XXS", 256, 2 + 256 / 4 + 256 / 8,      18},
    {DTYPE_IQ3_S,   "IQ3_S",   256, 2 + 13 * 8 + 256 / 64,      21},
    {DTYPE_IQ4_NL,  "IQ4_NL",  32,  2 + 32 / 2,                 20},
    {DTYPE_IQ4_XS,  "IQ4_XS",  256, 2 + 2 + 4 + 256 / 2,        23},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((int)N_ROWS == (int)DTYPE_COUNT, "a new type needs its row here");

START_TEST(a_type_is_what_the_specification_says) {
    const struct dtype_info *info = dtype_info(rows[_i].dtype);
    ck_assert_str_eq(info->name, rows[_i].name);
    ck_assert_int_eq(info->block_len, rows[_i].block_len);
    ck_assert_int_eq(info->block_bytes, rows[_i].block_bytes);
    ck_assert_uint_eq(info->gguf_type, rows[_i].gguf_type);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(only_known_file_numbers_have_a_type) {
    int n_known = 0;
    for (uint32_t number = 0; number < 1000; number++) {
        enum dtype t;
        if (!dtype_from_gguf(number, &t)) continue;
        ck_assert_uint_eq(dtype_info(t)->gguf_type, number);
        n_known++;
    }
    ck_assert_int_eq(n_known, DTYPE_COUNT); // each by a number of its own
}
END_TEST

// LOAD-14; 4 and 31 were taken back, 9 and 15 no file holds
static const uint32_t strangers[] = {4,  5,  9,          15,         31,
                                     99, 42, 0x7fffffff, 0x80000000, 0xffffffff};

START_TEST(an_unknown_file_number_is_refused) {
    enum dtype t = DTYPE_Q4_1;
    ck_assert(!dtype_from_gguf(strangers[_i], &t));
    ck_assert_int_eq(t, DTYPE_Q4_1); // untouched
}
END_TEST

static const struct {
    const char *name;
    enum dtype dtype;
    uint64_t n_values;
    bool is_whole;
    uint64_t n_bytes;
} sizes[] = {
    {"nothing",                         DTYPE_Q4_1, 0,               true,  0                },
    {"one block",                       DTYPE_Q4_1, 32,              true,  20               },
    {"one value more",                  DTYPE_Q4_1, 33,              false, 0                },
    {"one value less",                  DTYPE_Q8_0, 31,              false, 0                },
    {"single values",                   DTYPE_BF16, 33,              true,  66               },
    {"an embedding",                    DTYPE_Q8_0, 576 * 49152,     true,  30081024         },
    {"the most that fits",              DTYPE_F32,  UINT64_MAX / 4,  true,  UINT64_MAX - 3   },
    {"one value too many",              DTYPE_F32,  1ull << 62,      false, 0                },
    {"no overflow where blocks shrink", DTYPE_Q4_0, 1ull << 63,      true,  (1ull << 58) * 18},
    {"blocks may grow too",             DTYPE_Q8_0, UINT64_MAX - 31, false, 0                },
    {"QNT-07 no whole K block",         DTYPE_Q4_K, 576,             false, 0                },
    {"three K blocks",                  DTYPE_Q6_K, 768,             true,  630              },
};

START_TEST(bytes_are_whole_blocks_without_overflow) {
    uint64_t n_bytes = 12345;
    ck_assert_msg(dtype_bytes(sizes[_i].dtype, sizes[_i].n_values, &n_bytes) ==
                      sizes[_i].is_whole,
                  "%s", sizes[_i].name);
    uint64_t want = sizes[_i].is_whole ? sizes[_i].n_bytes : 12345;
    ck_assert_msg(n_bytes == want, "%s: got %llu", sizes[_i].name,
                  (unsigned long long)n_bytes);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(a_type_that_does_not_exist_is_a_broken_invariant) {
    dtype_info(DTYPE_COUNT);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/dtype");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_type_is_what_the_specification_says, 0, N_ROWS);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, only_known_file_numbers_have_a_type);
    tcase_add_loop_test(edges, an_unknown_file_number_is_refused, 0,
                        sizeof(strangers) / sizeof(strangers[0]));
    tcase_add_loop_test(edges, bytes_are_whole_blocks_without_overflow, 0,
                        sizeof(sizes) / sizeof(sizes[0]));
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_test_raise_signal(failures, a_type_that_does_not_exist_is_a_broken_invariant,
                                SIGABRT);
    suite_add_tcase(s, failures);
    return s;
}
