// UTF-8: all short byte sequences against an oracle that encodes every code point and compares.
#include "common/utf8.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

// ---- the oracle: what valid characters look like, made by encoding ------------------------------

// Bytes of a code point; 0 if it is none (surrogates, above U+10FFFF).
static size_t encode(unsigned char out[4], int32_t c) {
    if (c < 0 || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff) return 0;
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; c >>= 6) out[i] = (unsigned char)(0x80 | (c & 0x3f));
    out[0] = (unsigned char)(lead[n] | c);
    return n;
}

// For every two-byte start: is it the start of some longer character?
static bool is_start_of_2[256][256], is_start_of_3[256][256][256];
static bool is_lead[256]; // of a character of two bytes or more

static void learn_all_characters(void) {
    for (int32_t c = 0x80; c <= 0x10ffff; c++) {
        unsigned char b[4];
        size_t n = encode(b, c);
        if (n == 0) continue;
        is_lead[b[0]] = true;
        if (n > 2) is_start_of_2[b[0]][b[1]] = true;
        if (n > 3) is_start_of_3[b[0]][b[1]][b[2]] = true;
    }
}

// The character that text begins with, by trying every length; -1: none.
static int32_t oracle_next(const unsigned char *text, size_t n_bytes, size_t *n_used) {
    static const unsigned char mask[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    for (size_t n = 1; n <= 4 && n <= n_bytes; n++) {
        int32_t c = text[0] & mask[n];
        for (size_t i = 1; i < n; i++) c = c << 6 | (text[i] & 0x3f);
        unsigned char again[4];
        if (encode(again, c) != n || memcmp(again, text, n) != 0) continue;
        *n_used = n;
        return c;
    }
    *n_used = 1;
    return -1;
}

// Bytes to hold back: the longest tail that is a true start of a character.
static size_t oracle_held(const unsigned char *text, size_t n_bytes) {
    const unsigned char *end = text + n_bytes;
    if (n_bytes >= 3 && is_start_of_3[end[-3]][end[-2]][end[-1]]) return 3;
    if (n_bytes >= 2 && is_start_of_2[end[-2]][end[-1]]) return 2;
    return n_bytes >= 1 && is_lead[end[-1]] ? 1 : 0;
}

static void check(const unsigned char *text, size_t n_bytes) {
    const char *chars = (const char *)text;
    size_t n_used, n_want;
    int32_t got = utf8_next(chars, n_bytes, &n_used);
    int32_t want = oracle_next(text, n_bytes, &n_want);
    bool same = got == want && n_used == n_want &&
                utf8_whole(chars, n_bytes) == n_bytes - oracle_held(text, n_bytes);
    if (same) return;
    ck_abort_msg("%02x %02x %02x %02x, %zu bytes: next %d (%zu), want %d (%zu); whole %zu, "
                 "want %zu",
                 text[0], n_bytes > 1 ? text[1] : 0, n_bytes > 2 ? text[2] : 0,
                 n_bytes > 3 ? text[3] : 0, n_bytes, got, n_used, want, n_want,
                 utf8_whole(chars, n_bytes), n_bytes - oracle_held(text, n_bytes));
}

// ---- reference ----------------------------------------------------------------------------------

static const struct {
    const char *name;
    const char *text;
    int32_t code_point;
    size_t n_used;
} characters[] = {
    {"a letter",            "A",                0x41,     1},
    {"e acute",             "\xc3\xa9",         0xe9,     2},
    {"euro",                "\xe2\x82\xac",     0x20ac,   3},
    {"smile",               "\xf0\x9f\x98\x80", 0x1f600,  4},
    {"last one",            "\xf4\x8f\xbf\xbf", 0x10ffff, 4},
    {"past the last",       "\xf4\x90\x80\x80", -1,       1},
    {"overlong slash",      "\xc0\xaf",         -1,       1},
    {"overlong in three",   "\xe0\x80\xaf",     -1,       1},
    {"surrogate",           "\xed\xa0\x80",     -1,       1},
    {"lonely continuation", "\x80",             -1,       1},
    {"cut",                 "\xe2\x82",         -1,       1},
    {"lead, then a letter", "\xe2\x41",         -1,       1},
    {"no lead in any case", "\xff",             -1,       1},
};

START_TEST(a_character_is_read_or_refused) {
    const char *text = characters[_i].text;
    size_t n_used = 99;
    int32_t c = utf8_next(text, strlen(text), &n_used);
    ck_assert_msg(c == characters[_i].code_point && n_used == characters[_i].n_used,
                  "%s: %d, %zu", characters[_i].name, c, n_used);
}
END_TEST

static const struct {
    const char *name;
    const char *from, *to;
} repairs[] = {
    {"nothing to do",    "na\xc3\xafve",     "na\xc3\xafve"                    },
    {"empty",            "",                 ""                                },
    {"one wrong byte",   "a\xff\x62",        "a\xef\xbf\xbd\x62"               },
    {"each byte counts", "\xe2\x82",         "\xef\xbf\xbd\xef\xbf\xbd"        },
    {"goes on after it", "\xe2\x82\xc3\xa9", "\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9"},
};

START_TEST(invalid_bytes_become_replacement_characters) {
    char out[64];
    size_t n = utf8_repair(out, repairs[_i].from, strlen(repairs[_i].from));
    ck_assert_msg(n == strlen(repairs[_i].to) && memcmp(out, repairs[_i].to, n) == 0, "%s",
                  repairs[_i].name);
}
END_TEST

// ---- edges --------------------------------------------------------------------------------------

START_TEST(nothing_is_valid_and_whole) {
    ck_assert(utf8_valid(NULL, 0));
    ck_assert_uint_eq(utf8_whole(NULL, 0), 0);
    ck_assert_uint_eq(utf8_repair(NULL, NULL, 0), 0);
}
END_TEST

START_TEST(a_zero_byte_is_a_character) {
    size_t n_used;
    ck_assert_int_eq(utf8_next("\0", 1, &n_used), 0);
    ck_assert(utf8_valid("a\0b", 3));
}
END_TEST

START_TEST(what_a_terminal_may_act_on_is_a_control) {
    static const int32_t controls[] = {0, '\n', 0x1b, 0x1f, 0x7f, 0x80, 0x9b, 0x9f};
    static const int32_t others[] = {-1, ' ', '~', 0xa0, 0xe9, 0x10ffff};
    for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++)
        ck_assert_msg(utf8_is_control(controls[i]), "%x", (unsigned)controls[i]);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        ck_assert_msg(!utf8_is_control(others[i]), "%x", (unsigned)others[i]);
}
END_TEST

// ---- property -----------------------------------------------------------------------------------

START_TEST(every_code_point_is_read_back) {
    for (int32_t c = 0; c <= 0x10ffff; c++) {
        unsigned char b[4];
        size_t n_used, n = encode(b, c);
        if (n == 0) continue;
        bool is_right = utf8_next((char *)b, n, &n_used) == c && n_used == n;
        for (size_t cut = 1; cut < n; cut++) is_right &= utf8_whole((char *)b, cut) == 0;
        is_right &= utf8_whole((char *)b, n) == n;
        if (!is_right) ck_abort_msg("U+%04X", c);
    }
}
END_TEST

// All first and second bytes; after them the bytes at which a rule changes, in all places.
START_TEST(short_sequences_agree_with_the_oracle) {
    static const unsigned char edges[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90,
                                          0x9f, 0xa0, 0xbf, 0xc0, 0xc2, 0xdf,
                                          0xe0, 0xed, 0xf0, 0xf4, 0xf5, 0xff};
    enum { N = sizeof(edges) };
    learn_all_characters();
    for (int pair = 0; pair < 256 * 256; pair++) {
        unsigned char text[4] = {(unsigned char)(pair >> 8), (unsigned char)pair};
        check(text, 2);
        if (pair % 256 == 0) check(text, 1);
        for (int i = 0; i < N; i++) {
            text[2] = edges[i];
            check(text, 3);
            bool may_be_longer = text[0] >= 0xf0 || i % 4 == 0;
            for (int j = 0; may_be_longer && j < N; j += text[0] >= 0xf0 ? 1 : 4) {
                text[3] = edges[j];
                check(text, 4);
            }
        }
    }
}
END_TEST

START_TEST(a_repaired_text_is_valid_and_a_valid_one_untouched) {
    struct draw d = draw_start("repair");
    char text[40], once[120], twice[360];
    for (int round = 0; round < 10000; round++) {
        size_t n = (size_t)draw_int(&d, 0, 40);
        for (size_t i = 0; i < n; i++)
            text[i] = (char)(draw_int(&d, 0, 1) ? draw_int(&d, 0x80, 0xff) : 'a');
        size_t n_once = utf8_repair(once, text, n);
        ck_assert(utf8_valid(once, n_once));
        ck_assert(utf8_valid(text, n) == (n == n_once && memcmp(text, once, n) == 0));
        ck_assert_uint_eq(utf8_repair(twice, once, n_once), n_once);
        ck_assert(memcmp(once, twice, n_once) == 0);
    }
}
END_TEST

// What a stream does: hold back the cut tail, send the rest. All pieces together are the text.
START_TEST(held_back_tails_lose_nothing_at_any_cut) {
    static const char text[] =
        "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80 \xff\xe2\x82 end";
    enum { N = sizeof(text) - 1 };
    for (size_t a = 0; a <= N; a++) {
        size_t n_sent = utf8_whole(text, a);
        ck_assert_uint_le(a - n_sent, 3);
        size_t n_more = utf8_whole(text + n_sent, N - n_sent);
        ck_assert_uint_eq(n_sent + n_more, N);
        char whole[3 * N], part[3 * N];
        size_t n_whole = utf8_repair(whole, text, N);
        size_t n_part = utf8_repair(part, text, n_sent);
        n_part += utf8_repair(part + n_part, text + n_sent, n_more);
        ck_assert_uint_eq(n_part, n_whole);
        ck_assert(memcmp(part, whole, n_whole) == 0);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("common/utf8");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_character_is_read_or_refused, 0,
                        sizeof(characters) / sizeof(characters[0]));
    tcase_add_loop_test(reference, invalid_bytes_become_replacement_characters, 0,
                        sizeof(repairs) / sizeof(repairs[0]));
    suite_add_tcase(s, reference);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, nothing_is_valid_and_whole);
    tcase_add_test(edges, a_zero_byte_is_a_character);
    tcase_add_test(edges, what_a_terminal_may_act_on_is_a_control);
    suite_add_tcase(s, edges);

    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 60);
    tcase_add_test(property, every_code_point_is_read_back);
    tcase_add_test(property, short_sequences_agree_with_the_oracle);
    tcase_add_test(property, a_repaired_text_is_valid_and_a_valid_one_untouched);
    tcase_add_test(property, held_back_tails_lose_nothing_at_any_cut);
    suite_add_tcase(s, property);
    return s;
}
