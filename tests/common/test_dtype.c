// Types: names, blocks and file numbers against the GGUF specification.
#include "common/dtype.h"

#include <signal.h>

#include "tests/support/suite.h"

// ---- reference: written out from the specification, not from our table --------------------------

static const struct {
    enum dtype dtype;
    const char *name;
    int block_len, block_bytes, gguf_type;
} rows[] = {
    {DTYPE_F32,  "F32",  1,  4,              0 },
    {DTYPE_F16,  "F16",  1,  2,              1 },
    {DTYPE_BF16, "BF16", 1,  2,              30},
    {DTYPE_Q8_0, "Q8_0", 32, 2 + 32,         8 },
    {DTYPE_Q4_0, "Q4_0", 32, 2 + 32 / 2,     2 },
    {DTYPE_Q4_1, "Q4_1", 32, 2 + 2 + 32 / 2, 3 },
    {DTYPE_I8,   "I8",   1,  1,              -1},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]) };
_Static_assert((int)N_ROWS == (int)DTYPE_COUNT, "a new type needs its row here");

START_TEST(a_type_is_what_the_specification_says) {
    const struct dtype_info *info = dtype_info(rows[_i].dtype);
    ck_assert_str_eq(info->name, rows[_i].name);
    ck_assert_int_eq(info->block_len, rows[_i].block_len);
    ck_assert_int_eq(info->block_bytes, rows[_i].block_bytes);
    ck_assert_int_eq(info->gguf_type, rows[_i].gguf_type);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(only_known_file_numbers_have_a_type) {
    int n_known = 0;
    for (uint32_t number = 0; number < 1000; number++) {
        enum dtype t;
        if (!dtype_from_gguf(number, &t)) continue;
        ck_assert_int_eq(dtype_info(t)->gguf_type, (int)number);
        n_known++;
    }
    ck_assert_int_eq(n_known, DTYPE_COUNT - 1); // all but I8
}
END_TEST

static const uint32_t strangers[] = {4,  5,          6,          7,         14,
                                     24, 0x7fffffff, 0x80000000, 0xffffffff};

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
