// A cache may forget; it may not confuse two words.
#include "level2-operator/tokenizer/word_cache.h"

#include <string.h>

#include "tests/support/suite.h"

static struct word_cache cache_open(struct arena *arena, size_t n_text) {
    struct word_cache c;
    arena_init(arena, 1 << 20);
    ck_assert(word_cache_init(&c, n_text, arena));
    return c;
}

START_TEST(gives_back_the_ids_of_a_word) {
    struct arena arena;
    struct word_cache c = cache_open(&arena, 1 << 16);
    token_id ids[WORD_CACHE_IDS] = {0}, want[WORD_CACHE_IDS] = {5, 6, 7};
    ck_assert_int_eq(word_cache_get(&c, "word", 4, ids), 0);
    word_cache_put(&c, "word", 4, want, 3);
    assert_ids("word", ids, (size_t)word_cache_get(&c, "word", 4, ids), want, 3);
    ck_assert_int_eq(word_cache_get(&c, "wor", 3, ids), 0);
    ck_assert_int_eq(word_cache_get(&c, "wordy", 5, ids), 0);
    arena_free(&arena);
}
END_TEST

START_TEST(leaves_out_what_does_not_fit) {
    static const char word[WORD_CACHE_BYTES + 2] = "abcdefghijklmnopqrstuvw";
    struct arena arena;
    struct word_cache c = cache_open(&arena, 1 << 16);
    token_id ids[WORD_CACHE_IDS + 1] = {1, 2, 3};
    word_cache_put(&c, word, WORD_CACHE_BYTES + 1, ids, 3);
    ck_assert_int_eq(word_cache_get(&c, word, WORD_CACHE_BYTES + 1, ids), 0);
    word_cache_put(&c, word, WORD_CACHE_BYTES, ids, WORD_CACHE_IDS + 1);
    ck_assert_int_eq(word_cache_get(&c, word, WORD_CACHE_BYTES, ids), 0);
    word_cache_put(&c, word, WORD_CACHE_BYTES, ids, WORD_CACHE_IDS);
    ck_assert_int_eq(word_cache_get(&c, word, WORD_CACHE_BYTES, ids), WORD_CACHE_IDS);
    arena_free(&arena);
}
END_TEST

START_TEST(costs_no_more_than_the_text_justifies) {
    struct arena arena;
    struct word_cache c = cache_open(&arena, 100);
    token_id id = 1;
    ck_assert_uint_eq(arena.used, 0);
    word_cache_put(&c, "a", 1, &id, 1);
    ck_assert_int_eq(word_cache_get(&c, "a", 1, &id), 0);
    for (size_t n = 1 << 12; n <= 1 << 19; n *= 2) {
        arena_reset(&arena);
        ck_assert(word_cache_init(&c, n + 7, &arena));
        ck_assert_uint_eq(arena.used, n);
    }
    arena_free(&arena);
    arena_init(&arena, 100);
    ck_assert(!word_cache_init(&c, 1 << 20, &arena));
    ck_assert_int_eq(word_cache_get(&c, "a", 1, &id), 0);
    arena_free(&arena);
}
END_TEST

// Many more words than entries: what comes back is right, and most of it comes back.
START_TEST(never_confuses_two_words) {
    struct arena arena;
    struct word_cache c = cache_open(&arena, 1 << 13);
    struct draw d = draw_start("word_cache");
    int n_found = 0;
    for (int i = 0; i < 20000; i++) {
        char word[4];
        size_t n = (size_t)draw_int(&d, 1, 4);
        token_id want = 0, got = -1;
        for (size_t k = 0; k < n; k++) {
            word[k] = (char)draw_int(&d, 'a', 'c');
            want = 4 * want + word[k] - 'a' + 1;
        }
        if (word_cache_get(&c, word, n, &got) == 1) {
            n_found++;
            assert_number("id", got, want);
        }
        word_cache_put(&c, word, n, &want, 1);
    }
    ck_assert_int_gt(n_found, 10000);
    arena_free(&arena);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/word_cache");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_test(reference, gives_back_the_ids_of_a_word);
    TCase *edges = tcase_in(s, "edges");
    tcase_add_test(edges, leaves_out_what_does_not_fit);
    tcase_add_test(edges, costs_no_more_than_the_text_justifies);
    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, never_confuses_two_words);
    return s;
}
