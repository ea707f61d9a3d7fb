// The arena: aligned, zeroed, bounded, and able to fail at any allocation.
#include "common/arena.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "common/os.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

enum { MB = 1 << 20 };

static struct arena arena;

static void setup(void) {
    arena_init(&arena, 64 * MB);
}

static void teardown(void) {
    arena_free(&arena);
}

static bool all_bytes_are(const void *bytes, int value, size_t n_bytes) {
    const unsigned char *b = bytes;
    for (size_t i = 0; i < n_bytes; i++) {
        if (b[i] != value) return false;
    }
    return true;
}

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    size_t n, size;
    size_t used; // what the ledger shows
} sizes[] = {
    {"nothing still has an address", 0,    8,    64        },
    {"elements of size zero",        8,    0,    64        },
    {"one byte",                     1,    1,    64        },
    {"exactly one line",             64,   1,    64        },
    {"one byte more",                65,   1,    128       },
    {"eleven doubles",               11,   8,    128       },
    {"a whole small chunk",          1024, 64,   64 << 10  },
    {"more than a small chunk",      1025, 64,   65600     },
    {"many chunks",                  1024, 4096, 4096 << 10},
};

START_TEST(a_piece_is_aligned_zeroed_and_counted) {
    void *piece = arena_alloc(&arena, sizes[_i].n, sizes[_i].size);
    ck_assert_msg(piece != NULL, "%s", sizes[_i].name);
    ck_assert_msg((uintptr_t)piece % ARENA_ALIGN == 0, "%s", sizes[_i].name);
    ck_assert_msg(all_bytes_are(piece, 0, sizes[_i].n * sizes[_i].size), "%s",
                  sizes[_i].name);
    ck_assert_msg(arena.used == sizes[_i].used, "%s: used %zu, want %zu", sizes[_i].name,
                  arena.used, sizes[_i].used);
}
END_TEST

START_TEST(a_copy_ends_with_a_zero_byte) {
    const char *copy = arena_copy(&arena, "hello", 4);
    ck_assert_str_eq(copy, "hell");
    ck_assert_str_eq(arena_copy(&arena, NULL, 0), "");
}
END_TEST

START_TEST(a_typed_piece_is_named_once) {
    double *x = ARENA_NEW(&arena, double, 3);
    x[2] = 1.5;
    ck_assert_uint_eq(arena.used, 64);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(a_zeroed_arena_gives_nothing_and_may_be_freed) {
    struct arena a = {0};
    ck_assert_ptr_null(arena_alloc(&a, 1, 1));
    arena_reset(&a);
    arena_free(&a);
    arena_free(&a);
    ck_assert_ptr_null(arena_alloc(&a, 1, 1));
}
END_TEST

START_TEST(reset_poisons_then_hands_out_zeroes_again) {
    unsigned char *old = arena_alloc(&arena, 100, 1);
    memset(old, 7, 100);
    arena_reset(&arena);
    ck_assert_msg(all_bytes_are(old, 0xA5, 100), "not poisoned");
    ck_assert_uint_eq(arena.used, 0);

    unsigned char *again = arena_alloc(&arena, 100, 1);
    ck_assert_ptr_eq(again, old); // the chunk was kept
    ck_assert(all_bytes_are(again, 0, 100));
    ck_assert(all_bytes_are(arena_alloc(&arena, 30000, 1), 0, 30000)); // never used before
}
END_TEST

START_TEST(a_big_piece_leaves_the_small_chunk_in_use) {
    unsigned char *first = arena_alloc(&arena, 64, 1);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 1, MB));
    unsigned char *second = arena_alloc(&arena, 64, 1);
    ck_assert_ptr_eq(second, first + 64);
    arena_reset(&arena);
    ck_assert_ptr_eq(arena_alloc(&arena, 64, 1), first);
}
END_TEST

START_TEST(untouched_pages_of_a_big_piece_cost_nothing) {
    struct arena big;
    arena_init(&big, 256 * MB);
    uint64_t before = os_resident_bytes();
    ck_assert_ptr_nonnull(arena_alloc(&big, 256, MB));
    ck_assert_uint_lt(os_resident_bytes() - before, 64 * MB);
    arena_free(&big);
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(the_limit_is_exact) {
    arena_init(&arena, 256);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 192, 1));
    ck_assert_ptr_null(arena_alloc(&arena, 65, 1));
    ck_assert_uint_eq(arena.used, 192); // a refusal takes nothing
    ck_assert_ptr_nonnull(arena_alloc(&arena, 64, 1));
    ck_assert_ptr_null(arena_alloc(&arena, 0, 1));
}
END_TEST

static const struct {
    size_t n, size;
} overflows[] = {
    {SIZE_MAX,          1               },
    {SIZE_MAX,          SIZE_MAX        },
    {SIZE_MAX / 2 + 1,  2               },
    {2,                 SIZE_MAX / 2 + 1},
    {SIZE_MAX - 63,     1               },
    {(size_t)1 << 32,   (size_t)1 << 32 },
    {SIZE_MAX - 64 - 1, 1               }, // rounds, then finds no room for its header
};

START_TEST(a_product_that_overflows_is_refused) {
    arena_init(&arena, SIZE_MAX);
    ck_assert_ptr_null(arena_alloc(&arena, overflows[_i].n, overflows[_i].size));
    ck_assert_ptr_null(arena_copy(&arena, "", SIZE_MAX));
    ck_assert_uint_eq(arena.used, 0);
}
END_TEST

START_TEST(an_allocation_can_be_made_to_fail) {
    for (long n = 0; n < 5; n++) {
        arena_fail_after(&arena, n);
        for (long i = 0; i < n; i++) ck_assert_ptr_nonnull(arena_alloc(&arena, 1, 1));
        ck_assert_ptr_null(arena_alloc(&arena, 1, 1));
        ck_assert_ptr_null(arena_copy(&arena, "x", 1)); // and stays so
    }
    arena_fail_after(&arena, -1);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 1, 1));
}
END_TEST

START_TEST(a_machine_without_memory_fails_the_same_way) {
    memory_fail_after(0);
    void *piece = arena_alloc(&arena, 1, 1);
    size_t used = arena.used;
    memory_fail_after(-1);
    ck_assert_ptr_null(piece);
    ck_assert_uint_eq(used, 0);
    ck_assert_ptr_nonnull(arena_alloc(&arena, 1, 1)); // and it recovers
}
END_TEST

START_TEST(allocating_from_a_sealed_arena_aborts) {
    arena_seal(&arena);
    arena_alloc(&arena, 1, 1);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

enum { N_PIECES = 300 };

START_TEST(pieces_never_overlap_and_keep_what_is_written) {
    static unsigned char *pieces[N_PIECES];
    static size_t n_bytes[N_PIECES];
    struct draw d = draw_start("pieces");
    arena_init(&arena, 256 * MB);

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < N_PIECES; i++) {
            int top = draw_int(&d, 0, 9) == 0 ? 200000 : 3000;
            n_bytes[i] = (size_t)draw_int(&d, 0, top);
            pieces[i] = arena_alloc(&arena, n_bytes[i], 1);
            ck_assert_ptr_nonnull(pieces[i]);
            ck_assert_msg(all_bytes_are(pieces[i], 0, n_bytes[i]), "piece %d", i);
            memset(pieces[i], i & 0xff, n_bytes[i]);
        }
        for (int i = 0; i < N_PIECES; i++)
            ck_assert_msg(all_bytes_are(pieces[i], i & 0xff, n_bytes[i]), "piece %d", i);
        arena_reset(&arena);
    }
}
END_TEST

START_TEST(the_limit_rises_as_far_as_numbers_go) {
    arena_init(&arena, 100);
    arena_allow(&arena, 10, 0);
    ck_assert_uint_eq(arena.limit, 100);
    arena_allow(&arena, 10, 32);
    ck_assert_uint_eq(arena.limit, 420);
    arena_allow(&arena, SIZE_MAX / 2, 3); // no product that wraps around
    ck_assert_uint_eq(arena.limit, SIZE_MAX);
    arena_allow(&arena, 1, 1); // no sum either
    ck_assert_uint_eq(arena.limit, SIZE_MAX);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/arena");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_loop_test(reference, a_piece_is_aligned_zeroed_and_counted, 0,
                        sizeof(sizes) / sizeof(sizes[0]));
    tcase_add_test(reference, a_copy_ends_with_a_zero_byte);
    tcase_add_test(reference, a_typed_piece_is_named_once);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, a_zeroed_arena_gives_nothing_and_may_be_freed);
    tcase_add_test(edges, the_limit_rises_as_far_as_numbers_go);
    tcase_add_test(edges, reset_poisons_then_hands_out_zeroes_again);
    tcase_add_test(edges, a_big_piece_leaves_the_small_chunk_in_use);
    tcase_add_test(edges, untouched_pages_of_a_big_piece_cost_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, the_limit_is_exact);
    tcase_add_loop_test(failures, a_product_that_overflows_is_refused, 0,
                        sizeof(overflows) / sizeof(overflows[0]));
    tcase_add_test(failures, an_allocation_can_be_made_to_fail);
    tcase_add_test(failures, a_machine_without_memory_fails_the_same_way);
    tcase_add_test_raise_signal(failures, allocating_from_a_sealed_arena_aborts, SIGABRT);
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_test(property, pieces_never_overlap_and_keep_what_is_written);
    suite_add_tcase(s, property);
    return s;
}
