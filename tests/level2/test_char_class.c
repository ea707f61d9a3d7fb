// What a character is, against lists written down by hand.
#include "level2-operator/tokenizer/char_class.h"

#include <string.h>

#include "tests/support/suite.h"

static enum char_class class_of(const char *text, size_t *n_used) {
    return char_class_at(text, strlen(text), 0, n_used);
}

START_TEST(ascii_is_what_the_expressions_say) {
    static const char signs[] = "!\"#$%&'()*+,-./:;<=>?@[\\]^_{|}~";
    for (int c = 1; c < 128; c++) {
        char text[2] = {(char)c};
        size_t n_used;
        int want = CLASS_OTHER;
        if (strchr("\r\n", c)) want = CLASS_LINE;
        if (strchr(" \t\v\f", c)) want = CLASS_SPACE;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) want = CLASS_LETTER;
        if (c >= '0' && c <= '9') want = CLASS_NUMBER;
        if (strchr(signs, c)) want = CLASS_SIGN;
        ck_assert_msg((int)class_of(text, &n_used) == want, "U+%04X", (unsigned)c);
        ck_assert_uint_eq(n_used, 1);
    }
}
END_TEST

// Unicode 15, PropList.txt, White_Space beyond ASCII.
static bool is_listed_space(int32_t c) {
    static const int32_t alone[] = {0x85,   0xa0,   0x1680, 0x2028,
                                    0x2029, 0x202f, 0x205f, 0x3000};
    bool is_listed = c >= 0x2000 && c <= 0x200a;
    for (int i = 0; i < ROWS(alone); i++) is_listed = is_listed || c == alone[i];
    return is_listed;
}

START_TEST(no_other_character_is_a_space) {
    for (int32_t c = 0x80; c <= 0x10ffff; c++)
        ck_assert_msg(char_is_wide_space(c) == is_listed_space(c), "U+%04X", (unsigned)c);
}
END_TEST

static const struct {
    const char *text;
    size_t n_used;
    enum char_class want;
} wide[] = {
    {"\xc3\xa9",         2, CLASS_LETTER}, // é
    {"\xd9\xa3",         2, CLASS_NUMBER}, // an Arabic three
    {"\xe2\x85\xa7",     3, CLASS_NUMBER}, // a Roman eight
    {"\xe2\x80\x94",     3, CLASS_SIGN  }, // a dash
    {"\xe2\x82\xac",     3, CLASS_OTHER }, // the euro: a symbol, no \p{P}
    {"\xe3\x80\x80",     3, CLASS_SPACE }, // as wide as an ideograph
    {"\xf0\x9f\x98\x80", 4, CLASS_OTHER }, // a face
    {"\xcc\x81",         2, CLASS_OTHER }, // an accent by itself
    {"\xff",             1, CLASS_OTHER }, // no UTF-8
    {"\xe2\x82",         1, CLASS_OTHER }, // cut
};

START_TEST(others_go_by_their_category) {
    size_t n_used;
    ck_assert_msg(class_of(wide[_i].text, &n_used) == wide[_i].want, "row %d", _i);
    ck_assert_uint_eq(n_used, wide[_i].n_used);
}
END_TEST

START_TEST(the_end_is_in_no_set) {
    size_t n_used = 9;
    ck_assert_int_eq(char_class_at("a", 1, 1, &n_used), CLASS_END);
    ck_assert_uint_eq(n_used, 0);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/char_class");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_test(reference, ascii_is_what_the_expressions_say);
    tcase_add_test(reference, no_other_character_is_a_space);
    tcase_add_loop_test(reference, others_go_by_their_category, 0, ROWS(wide));
    tcase_add_test(tcase_in(s, "edges"), the_end_is_in_no_set);
    return s;
}
