// The pool of KV blocks, its layout in plain ops, and tables.
#include "level2-operator/model/kv.h"

#include <string.h>

#include "level2-operator/model/ops.h"
#include "tests/support/suite.h"

static struct arena arena;

static void setup(void) {
    arena_init(&arena, 1 << 20);
}

static void teardown(void) {
    arena_free(&arena);
}

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    int n_layers, n_kv_heads, d_head, block_len;
    size_t want;
} layouts[] = {
    {"one of each: K and V of 4 bytes",      1,    1,    1,   1,    8          },
    {"the tiny model, 16 tokens",            3,    2,    16,  16,   12288      },
    {"the default model, one token",         30,   3,    64,  1,    46080      },
    {"the default model, its whole context", 30,   3,    64,  8192, 377487360  },
    {"past 4 GiB",                           1024, 1024, 128, 64,   68719476736},
};

START_TEST(a_block_holds_all_layers_keys_and_values) {
    struct config c = {.n_layers = layouts[_i].n_layers,
                       .n_kv_heads = layouts[_i].n_kv_heads,
                       .d_head = layouts[_i].d_head};
    struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = layouts[_i].block_len};
    ck_assert_int_eq(ops_plain.kv_layout(&layout, &c, NULL), OK);
    ck_assert_msg(layout.block_bytes == layouts[_i].want, "%s: %zu bytes", layouts[_i].name,
                  layout.block_bytes);
}
END_TEST

START_TEST(blocks_lie_side_by_side) {
    struct kv_layout layout = {DTYPE_F32, 4, 128};
    struct kv_pool pool;
    ck_assert_int_eq(kv_pool_init(&pool, &layout, 3, &arena, NULL), OK);
    for (int b = 0; b < 3; b++) memset(kv_block(&pool, b), b + 1, 128);
    for (int b = 0; b < 3; b++) {
        ck_assert(kv_block(&pool, b)[0] == b + 1 && kv_block(&pool, b)[127] == b + 1);
    }
    ck_assert_int_eq(pool.n_blocks, 3);
    ck_assert_uint_eq(arena.used, 3 * 128);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(truncating_forgets_tokens_and_keeps_blocks) {
    struct kv_table t = {.n_blocks = 3, .n_tokens = 37};
    kv_table_truncate(&t, 40); // not longer than it is
    ck_assert_int_eq(t.n_tokens, 37);
    kv_table_truncate(&t, 5);
    ck_assert(t.n_tokens == 5 && t.n_blocks == 3);
    kv_table_truncate(&t, 0);
    ck_assert_int_eq(t.n_tokens, 0);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(a_pool_without_memory_says_how_much_it_wanted) {
    struct kv_layout layout = {DTYPE_F32, 4, 1000};
    struct kv_pool pool;
    struct error err = {0};
    arena_fail_after(&arena, 0);
    ck_assert_int_eq(kv_pool_init(&pool, &layout, 3, &arena, &err), ERR_MEMORY);
    ck_assert(pool.bytes == NULL && pool.n_blocks == 0);
    ck_assert_msg(strstr(err.text, "3 blocks of 1000 bytes"), "%s", err.text);
}
END_TEST

START_TEST(a_pool_larger_than_memory_is_refused) {
    struct kv_layout layout = {DTYPE_F32, 4, (size_t)1 << 62};
    struct kv_pool pool;
    struct error err = {0};
    ck_assert_int_eq(kv_pool_init(&pool, &layout, 1000, &arena, &err), ERR_MEMORY);
    ck_assert_uint_eq(arena.used, 0);
}
END_TEST

START_TEST(a_type_that_plain_ops_cannot_read_is_refused) {
    struct config c = {.n_layers = 1, .n_kv_heads = 1, .d_head = 1};
    struct kv_layout layout = {.dtype = DTYPE_F16, .block_len = 16};
    struct error err = {0};
    ck_assert_int_eq(ops_plain.kv_layout(&layout, &c, &err), ERR_UNSUPPORTED);
    ck_assert_msg(strstr(err.text, "F16"), "%s", err.text);
}
END_TEST

START_TEST(a_block_without_tokens_is_refused) {
    struct config c = {.n_layers = 1, .n_kv_heads = 1, .d_head = 1};
    struct kv_layout layout = {.dtype = DTYPE_F32, .block_len = 0};
    struct error err = {0};
    ck_assert_int_eq(ops_plain.kv_layout(&layout, &c, &err), ERR_INPUT);
    ck_assert_msg(strstr(err.text, "0 tokens"), "%s", err.text);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/kv");
    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_loop_test(reference, a_block_holds_all_layers_keys_and_values, 0,
                        sizeof(layouts) / sizeof(layouts[0]));
    tcase_add_test(reference, blocks_lie_side_by_side);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, truncating_forgets_tokens_and_keeps_blocks);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, a_pool_without_memory_says_how_much_it_wanted);
    tcase_add_test(failures, a_pool_larger_than_memory_is_refused);
    tcase_add_test(failures, a_type_that_plain_ops_cannot_read_is_refused);
    tcase_add_test(failures, a_block_without_tokens_is_refused);
    suite_add_tcase(s, failures);
    return s;
}
