// The hash table against a plain list that is searched from front to back.
#include "common/table.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "tests/support/suite.h"

static struct arena arena;
static struct table table;

static void setup(void) {
    arena_init(&arena, 64 << 20);
}

static void teardown(void) {
    arena_free(&arena);
}

static void init(size_t max_entries) {
    struct error err = {0};
    ck_assert_msg(table_init(&table, &arena, max_entries, &err) == OK, "%s", err.text);
}

static void assert_holds(const char *key, size_t key_bytes, uint32_t want) {
    uint32_t value = want + 1;
    ck_assert(table_get(&table, key, key_bytes, &value));
    ck_assert_uint_eq(value, want);
}

// ---- reference ----------------------------------------------------------------------------------

START_TEST(what_was_put_is_found) {
    init(3);
    ck_assert(table_put(&table, "one", 3, 1));
    ck_assert(table_put(&table, "two", 3, 2));
    assert_holds("one", 3, 1);
    assert_holds("two", 3, 2);
    ck_assert(!table_get(&table, "three", 5, NULL));
    ck_assert(table_get(&table, "two", 3, NULL)); // nobody need want the value
    ck_assert_uint_eq(table.n_entries, 2);
}
END_TEST

START_TEST(the_first_value_of_a_key_stays) {
    init(3);
    ck_assert(table_put(&table, "key", 3, 1));
    ck_assert(!table_put(&table, "key", 3, 2));
    assert_holds("key", 3, 1);
    ck_assert_uint_eq(table.n_entries, 1);
}
END_TEST

START_TEST(keys_are_bytes_and_not_strings) {
    init(8);
    ck_assert(table_put(&table, "a\0b", 3, 1));
    ck_assert(table_put(&table, "a\0c", 3, 2));
    ck_assert(table_put(&table, "a", 1, 3));
    ck_assert(table_put(&table, "a\0", 2, 4));
    assert_holds("a\0b", 3, 1);
    assert_holds("a\0c", 3, 2);
    assert_holds("a", 1, 3);
    assert_holds("a\0", 2, 4);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(the_empty_key_is_a_key) {
    init(2);
    ck_assert(!table_get(&table, "", 0, NULL));
    ck_assert(table_put(&table, NULL, 0, 7));
    assert_holds("", 0, 7);
    assert_holds(NULL, 0, 7);
    ck_assert(!table_put(&table, "", 0, 8));
}
END_TEST

START_TEST(a_zeroed_or_empty_table_holds_nothing) {
    struct table zero = {0};
    ck_assert(!table_get(&zero, "x", 1, NULL));
    ck_assert(!table_put(&zero, "x", 1, 1));
    init(0);
    ck_assert(!table_get(&table, "x", 1, NULL));
    ck_assert(!table_put(&table, "x", 1, 1));
}
END_TEST

static const size_t capacities[] = {1, 2, 3, 7, 8, 9, 33, 64, 1000};
enum { N_CAPACITIES = sizeof(capacities) / sizeof(capacities[0]) };

START_TEST(a_full_table_refuses_and_still_finds) {
    static char keys[1001][16];
    size_t capacity = capacities[_i];
    init(capacity);
    for (size_t i = 0; i <= capacity; i++) {
        int n = snprintf(keys[i], sizeof(keys[i]), "key %zu", i);
        ck_assert(table_put(&table, keys[i], (size_t)n, (uint32_t)i) == (i < capacity));
    }
    ck_assert_uint_eq(table.n_entries, capacity);
    for (size_t i = 0; i < capacity; i++)
        assert_holds(keys[i], strlen(keys[i]), (uint32_t)i);
    ck_assert(!table_get(&table, keys[capacity], strlen(keys[capacity]), NULL));
}
END_TEST

START_TEST(a_long_key_is_compared_to_its_end) {
    static char long_key[2][1 << 20];
    memset(long_key, 'x', sizeof(long_key));
    long_key[1][sizeof(long_key[1]) - 1] = 'y';
    init(4);
    ck_assert(table_put(&table, long_key[0], sizeof(long_key[0]), 1));
    ck_assert(!table_get(&table, long_key[1], sizeof(long_key[1]), NULL));
    ck_assert(table_put(&table, long_key[1], sizeof(long_key[1]), 2));
    assert_holds(long_key[0], sizeof(long_key[0]), 1);
    assert_holds(long_key[1], sizeof(long_key[1]), 2);
}
END_TEST

START_TEST(a_key_too_long_to_count_is_refused) {
    init(1);
    ck_assert(
        !table_put(&table, "x", (size_t)UINT32_MAX + 1, 1)); // its bytes are never read
    ck_assert(!table_get(&table, "x", (size_t)UINT32_MAX + 1, NULL));
}
END_TEST

// Eight keys whose search starts in the last slot, so that it must go round to the front. Each is a
// run of the same letter, longest first, so that only its length tells it from those before.
START_TEST(keys_that_start_in_one_slot_are_told_apart) {
    enum { N = 8, LONGEST = 1000 };
    char run[LONGEST];
    size_t lengths[N], n_used = 0;
    int n_keys = 0;
    memset(run, 'x', sizeof(run));
    init(N);
    size_t last = table.n_slots - 1;
    for (size_t n = LONGEST; n > 0 && n_keys < N; n--) {
        if ((XXH3_64bits_withSeed(run, n, table.seed) & last) == last)
            lengths[n_keys++] = n;
    }
    ck_assert_int_eq(n_keys, N);
    for (int i = 0; i < N; i++) ck_assert(table_put(&table, run, lengths[i], (uint32_t)i));
    for (int i = 0; i < N; i++) assert_holds(run, lengths[i], (uint32_t)i);
    ck_assert(!table_get(&table, "none", 4, NULL));

    for (size_t i = 0; i <= last; i++) n_used += table.marks[i] != 0;
    ck_assert_uint_eq(n_used, N); // none lies outside
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(no_memory_is_an_error_and_leaves_the_table_closed) {
    struct error err = {0};
    arena_fail_after(&arena, 0);
    ck_assert_int_eq(table_init(&table, &arena, 10, &err), ERR_MEMORY);
    ck_assert_int_eq(err.code, ERR_MEMORY);
    ck_assert(strstr(err.text, "10") != NULL);
    ck_assert(!table_put(&table, "x", 1, 1));
    ck_assert(!table_get(&table, "x", 1, NULL));

    arena_fail_after(&arena, 2);
    ck_assert_int_eq(table_init(&table, &arena, 10, &err), OK);
}
END_TEST

static const size_t absurd[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 2, SIZE_MAX / 32,
                                (size_t)1 << 40};

START_TEST(an_absurd_size_is_refused) {
    ck_assert_int_eq(table_init(&table, &arena, absurd[_i], NULL), ERR_MEMORY);
    ck_assert_uint_gt(table_bytes(absurd[_i]), (size_t)1 << 40);
    ck_assert_uint_eq(arena.used, 0);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(the_ledger_is_exact_and_the_table_half_empty) {
    init(capacities[_i]);
    ck_assert_uint_eq(arena.used, table_bytes(capacities[_i]));
    ck_assert_uint_ge(table.n_slots, 2 * capacities[_i]);
    ck_assert_uint_eq(table.n_slots & (table.n_slots - 1), 0);
}
END_TEST

enum { N_KEYS = 600 };

START_TEST(it_answers_like_a_list) {
    static struct {
        char key[4];
        size_t n;
        uint32_t value;
    } list[N_KEYS];
    int n_list = 0;
    struct draw d = draw_start("list");
    init(N_KEYS);

    for (int round = 0; round < 5000; round++) {
        char key[4]; // so short that many come twice
        size_t n = (size_t)draw_int(&d, 0, 3);
        for (size_t i = 0; i < n; i++) key[i] = (char)draw_int(&d, 0, 5);
        int at = 0;
        while (at < n_list && (list[at].n != n || memcmp(list[at].key, key, n) != 0)) at++;

        uint32_t value = 0;
        ck_assert(table_get(&table, key, n, &value) == (at < n_list));
        if (at < n_list) {
            ck_assert_uint_eq(value, list[at].value);
            continue;
        }
        memcpy(list[n_list].key, key, n);
        list[n_list].n = n;
        list[n_list].value = (uint32_t)draw_u64(&d);
        ck_assert(table_put(&table, list[at].key, n, list[at].value));
        n_list++;
    }
    ck_assert_uint_eq(table.n_entries, (size_t)n_list);
    ck_assert_int_eq(n_list, 1 + 6 + 36 + 216);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/table");

    TCase *reference = tcase_create("reference");
    tcase_add_checked_fixture(reference, setup, teardown);
    tcase_add_test(reference, what_was_put_is_found);
    tcase_add_test(reference, the_first_value_of_a_key_stays);
    tcase_add_test(reference, keys_are_bytes_and_not_strings);
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_checked_fixture(edges, setup, teardown);
    tcase_add_test(edges, the_empty_key_is_a_key);
    tcase_add_test(edges, a_zeroed_or_empty_table_holds_nothing);
    tcase_add_loop_test(edges, a_full_table_refuses_and_still_finds, 0, N_CAPACITIES);
    tcase_add_test(edges, a_long_key_is_compared_to_its_end);
    tcase_add_test(edges, a_key_too_long_to_count_is_refused);
    tcase_add_test(edges, keys_that_start_in_one_slot_are_told_apart);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_checked_fixture(failures, setup, teardown);
    tcase_add_test(failures, no_memory_is_an_error_and_leaves_the_table_closed);
    tcase_add_loop_test(failures, an_absurd_size_is_refused, 0,
                        sizeof(absurd) / sizeof(absurd[0]));
    suite_add_tcase(s, failures);

    TCase *property = tcase_create("property");
    tcase_add_checked_fixture(property, setup, teardown);
    tcase_add_loop_test(property, the_ledger_is_exact_and_the_table_half_empty, 0,
                        N_CAPACITIES);
    tcase_add_test(property, it_answers_like_a_list);
    suite_add_tcase(s, property);
    return s;
}
