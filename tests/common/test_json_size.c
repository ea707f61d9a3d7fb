// Small texts that would be large once they are parsed.
#include "common/json_size.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "tests/support/suite.h"

static enum json_size size_of(const char *text) {
    return json_size_of(text, strlen(text));
}

// n times piece.
static enum json_size size_of_many(const char *piece, size_t n) {
    size_t n_piece = strlen(piece);
    char *text = malloc(n * n_piece);
    ck_assert_ptr_nonnull(text);
    for (size_t i = 0; i < n; i++) memcpy(text + i * n_piece, piece, n_piece);
    enum json_size size = json_size_of(text, n * n_piece);
    free(text);
    return size;
}

START_TEST(values_are_counted_up_to_the_limit) {
    // The commas, and the value in front of the first.
    assert_number("as many as may be", size_of_many("1,", LIMIT_JSON_VALUES - 1),
                  JSON_FITS);
    assert_number("one more", size_of_many("1,", LIMIT_JSON_VALUES), JSON_TOO_MANY);
    assert_number("empty lists", size_of_many("[],", LIMIT_JSON_VALUES / 2), JSON_TOO_MANY);
}
END_TEST

START_TEST(levels_are_counted_up_to_the_limit) {
    assert_number("as deep as may be", size_of_many("[", LIMIT_JSON_DEPTH), JSON_FITS);
    assert_number("one deeper", size_of_many("[", LIMIT_JSON_DEPTH + 1), JSON_TOO_DEEP);
    assert_number("objects, too", size_of_many("{\"\":", LIMIT_JSON_DEPTH + 1),
                  JSON_TOO_DEEP);
    assert_number("one beside the other", size_of_many("[],", 1000), JSON_FITS);
}
END_TEST

START_TEST(what_stands_in_a_string_does_not_count) {
    char text[2 * LIMIT_JSON_DEPTH + 8] = "\"\\\"";
    memset(text + 3, '[', LIMIT_JSON_DEPTH + 1);
    assert_number("brackets in a string", size_of(text), JSON_FITS);
    assert_number("no text at all", size_of(""), JSON_FITS);
    assert_number("a string without its end", size_of("\"\\"), JSON_FITS);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/json_size");
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, values_are_counted_up_to_the_limit);
    tcase_add_test(edges, levels_are_counted_up_to_the_limit);
    tcase_add_test(edges, what_stands_in_a_string_does_not_count);
    suite_add_tcase(s, edges);
    return s;
}
