// What a filter of stop strings is made of, and what it refuses to be made of.
#include "level2-operator/api/stop.h"

#include "tests/support/suite.h"

START_TEST(refuses_stop_strings_out_of_range) {
    static char longest[LIMIT_STOP_BYTES + 1];
    struct stop_string stops[LIMIT_STOP_STRINGS + 1] = {
        {"a", 1},
        {"a", 1},
        {"a", 1},
        {"a", 1},
        {"a", 1}
    };
    struct arena arena;
    struct stop s;
    struct error err;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(stop_init(&s, stops, LIMIT_STOP_STRINGS + 1, 8, &arena, &err),
                     ERR_LIMIT);
    ck_assert_str_eq(err.param, "stop");
    stops[1].n_bytes = 0;
    ck_assert_int_eq(stop_init(&s, stops, 2, 8, &arena, &err), ERR_LIMIT);
    stops[1] = (struct stop_string){longest, sizeof(longest)};
    ck_assert_int_eq(stop_init(&s, stops, 2, 8, &arena, &err), ERR_LIMIT);
    stops[1].n_bytes--;
    ck_assert_int_eq(stop_init(&s, stops, 2, 8, &arena, &err), OK);
    arena_free(&arena);
}
END_TEST

START_TEST(says_so_when_memory_is_short) {
    for (long n = 0;; n++) {
        struct arena arena;
        struct stop s;
        struct error err = {0};
        arena_init(&arena, 1 << 20);
        arena_fail_after(&arena, n);
        enum status st = stop_init(&s, NULL, 0, 8, &arena, &err);
        arena_free(&arena);
        if (st == OK) {
            ck_assert_msg(n > 0, "nothing was taken from the arena");
            return;
        }
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_msg(!s.held && !s.shown, "allocation %ld fails: *s is not all zero", n);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/stop_init");
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, refuses_stop_strings_out_of_range);
    tcase_add_test(failures, says_so_when_memory_is_short);
    suite_add_tcase(s, failures);
    return s;
}
