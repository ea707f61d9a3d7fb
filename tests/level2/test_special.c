// Special tokens at the start of a text, against a look at each of them.
#include "level2-operator/tokenizer/special.h"

#include <string.h>

#include "tests/support/suite.h"

enum { N_TOKENS = 9, EVERYWHERE = 1000 };

static const struct special_token list[N_TOKENS] = {
    {.bytes = "<x>",     .n_bytes = 3, .id = 3,          .is_markup = true},
    {.bytes = "\n\n\n",                  .n_bytes = 3,              .id = 1},
    {.bytes = "<x><y>",                  .n_bytes = 6,              .id = 7, .is_markup = true},
    {.bytes = "\n", .n_bytes = 1,             .id = 2                },
    {.bytes = "<x>",           .n_bytes = 3,           .id = 5},
    {.bytes = "<b>",           .n_bytes = 3,             .id = 0                  },
    {.bytes = "\xff\xfe",           .n_bytes = 2,           .id = 8},
    {.bytes = "<",           .n_bytes = 1,             .id = 4,                            .is_markup = true},
    {.bytes = "<x><y",           .n_bytes = 5,.id = 6},
};

static const struct {
    const char *name, *text;
    size_t n_markup;
    token_id want; // -1: none
} cases[] = {
    {"the longest",                                   "<x><y>",   EVERYWHERE, 7 },
    {"the longest that is allowed",                   "<x><y>",   5,          6 },
    {"the lowest id of equals",                       "<x>",      EVERYWHERE, 3 },
    {"a user-defined token where markup is not",      "<x>",      0,          5 },
    {"a shorter one where the longer one breaks off", "<x><z",    EVERYWHERE, 3 },
    {"the first byte alone",                          "<q",       EVERYWHERE, 4 },
    {"markup that ends too late",                     "<q",       0,          -1},
    {"three of three",                                "\n\n\n\n", 0,          1 },
    {"one of two",                                    "\n\n",     0,          2 },
    {"bytes above 127 in order",                      "\xff\xfe", 0,          8 },
    {"a text that ends too early",                    "\xff",     0,          -1},
    {"another text",                                  "x",        EVERYWHERE, -1},
};

START_TEST(finds_the_longest_allowed) {
    struct special_token tokens[N_TOKENS];
    struct special s;
    memcpy(tokens, list, sizeof(list));
    special_init(&s, tokens, N_TOKENS);
    const struct special_token *found =
        special_find(&s, cases[_i].text, strlen(cases[_i].text), cases[_i].n_markup);
    assert_number(cases[_i].name, found ? found->id : -1, cases[_i].want);
}
END_TEST

START_TEST(finds_markup_by_its_whole_text) {
    struct special_token tokens[N_TOKENS];
    struct special s;
    memcpy(tokens, list, sizeof(list));
    special_init(&s, tokens, N_TOKENS);
    assert_number("<x><y>", special_markup(&s, "<x><y>", 6), 7);
    assert_number("a part", special_markup(&s, "<x><", 4), -1);
    assert_number("user-defined", special_markup(&s, "<b>", 3), -1);
    special_init(&s, tokens, 0);
    ck_assert_ptr_null(special_find(&s, "<x>", 3, 3));
}
END_TEST

static token_id slow_find(const struct special_token *tokens, int n, const char *text,
                          size_t n_bytes, size_t n_markup) {
    const struct special_token *best = NULL;
    for (int i = 0; i < n; i++) {
        const struct special_token *t = &tokens[i];
        if (t->n_bytes > n_bytes || memcmp(t->bytes, text, t->n_bytes) != 0) continue;
        if (t->is_markup && t->n_bytes > n_markup) continue;
        if (!best || t->n_bytes > best->n_bytes ||
            (t->n_bytes == best->n_bytes && t->id < best->id))
            best = t;
    }
    return best ? best->id : -1;
}

START_TEST(finds_what_a_look_at_each_finds) {
    struct draw d = draw_start("special");
    for (int round = 0; round < 2000; round++) {
        struct special_token tokens[40];
        char texts[40][6], text[12];
        struct special s;
        int n = draw_int(&d, 0, 40);
        for (int i = 0; i < n; i++) {
            uint32_t n_bytes = (uint32_t)draw_int(&d, 1, 6);
            for (uint32_t k = 0; k < n_bytes; k++)
                texts[i][k] = (char)draw_int(&d, 127, 129);
            tokens[i] = (struct special_token){.bytes = texts[i],
                                               .n_bytes = n_bytes,
                                               .id = i,
                                               .is_markup = draw_int(&d, 0, 1)};
        }
        special_init(&s, tokens, n);
        for (int k = 0; k < 20; k++) {
            size_t n_bytes = (size_t)draw_int(&d, 1, 12),
                   n_markup = (size_t)draw_int(&d, 0, 8);
            for (size_t i = 0; i < n_bytes; i++) text[i] = (char)draw_int(&d, 127, 129);
            const struct special_token *found = special_find(&s, text, n_bytes, n_markup);
            assert_number("id", found ? found->id : -1,
                          slow_find(tokens, n, text, n_bytes, n_markup));
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/special");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_loop_test(reference, finds_the_longest_allowed, 0, ROWS(cases));
    tcase_add_test(reference, finds_markup_by_its_whole_text);
    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, finds_what_a_look_at_each_finds);
    return s;
}
