// Texts to ids and back, with a vocabulary made by hand. The `tokenizers` package judges real ones in
// tests/reference/tokenizer.py; how files are read is in test_tokenizer_gguf.c.
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/vocabulary.h"

static void encode(struct fixture *x, const char *text, size_t n_bytes,
                   const struct markup *markup, int n_markup) {
    ck_assert_uint_le(tokenizer_max_ids(&x->t, n_bytes), MAX_IDS);
    ck_assert_int_eq(tokenizer_encode(&x->t, text, n_bytes, markup, n_markup, 0, x->ids,
                                      &x->n_ids, &x->scratch, &x->err),
                     OK);
    arena_reset(&x->scratch);
}

// Pieces with '|' between. A control token is shown as it is.
static const char *shown(const struct fixture *x, char out[MAX_IDS]) {
    size_t n = 0;
    for (int i = 0; i < x->n_ids; i++) {
        struct token_piece piece = tokenizer_piece(&x->t, x->ids[i], true);
        if (i > 0) out[n++] = '|';
        memcpy(out + n, piece.bytes, piece.n_bytes);
        n += piece.n_bytes;
    }
    out[n] = '\0';
    return out;
}

// --- worked out by hand --------------------------------------------------------------------------

static const struct {
    const char *name, *text;
    bool special; // all of text is markup
    const char *want;
} cases[] = {
    {"merges of a word",                                        "hello",                  false, "hello"                  },
    {"a space joins the next word",                             "hello world",            false, "hello| w|o|r|l|d"       },
    {"two bytes of one character merge",                        "h\xc3\xa9",              false, "h|\xc3\xa9"             },
    {"merges do not reach over words",                          "he ll",                  false, "he| |ll"                },
    {"digits alone",                                            "he12",                   false, "he|1|2"                 },
    {"a byte without a symbol is dropped: its neighbours meet", "hezllo",                 false, "hello"                  },
    {"an empty text",                                           "",                       false, ""                       },
    {"a control token as text",                                 "<|im_end|>",             false, "<|||i|m|_|e|n|d|||>"    },
    {"a control token as markup",                               "<|im_end|>",             true,  "<|im_end|>"             },
    {"between words",                                           "he<|im_end|>llo",        true,  "he|<|im_end|>|ll|o"     },
    {"no space is added or taken",                              "he <|im_end|> w",        true,  "he| |<|im_end|>| w"     },
    {"words begin anew behind it",                              "h<|im_end|>e",           true,  "h|<|im_end|>|e"         },
    {"one after the other",                                     "<|im_start|><|im_end|>", true,  "<|im_start|>|<|im_end|>"},
    {"one inside the start of another",                         "<|im_<|im_end|>",        true,  "<|||i|m|_|<|im_end|>"   },
    {"cut short",                                               "<|im_end|",              true,  "<|||i|m|_|e|n|d||"      },
    {"the longest is taken",                                    "<x><y>",                 true,  "<x><y>"                 },
    {"the shorter where the longer fails",                      "<x><z",                  true,  "<x>|<"                  },
    {"user-defined tokens even in plain text",                  "he<think>he",            false, "he|<think>|he"          },
    {"user-defined tokens in markup",                           "<think><x>",             true,  "<think>|<x>"            },
    {"an unknown token is never markup",                        "<unk>",                  true,  "<|u|n|k|>"              },
};

START_TEST(encodes_as_worked_out_by_hand) {
    struct fixture x;
    char out[MAX_IDS];
    fixture_open(&x);
    struct markup all = {0, strlen(cases[_i].text)};
    encode(&x, cases[_i].text, all.end, &all, cases[_i].special);
    ck_assert_msg(strcmp(shown(&x, out), cases[_i].want) == 0, "%s: got %s, want %s",
                  cases[_i].name, out, cases[_i].want);
    fixture_close(&x);
}
END_TEST

// TOK-08: a user writes markup, and it stays text.
START_TEST(finds_control_tokens_only_inside_their_stretch) {
    static const char text[] = "<|im_start|>h<|im_end|><|im_end|><|im_start|>";
    //                          0           12 13         23        33
    struct fixture x;
    char out[MAX_IDS];

    fixture_open(&x);
    struct markup around[] = {
        {0,  12},
        {23, 33}
    };
    encode(&x, text, strlen(text), around, 2);
    ck_assert_str_eq(shown(&x, out), "<|im_start|>|h|<|||i|m|_|e|n|d|||>|<|im_end|>"
                                     "|<|||i|m|_|s|t|a|r|t|||>");
    struct markup short_by_one[] = {
        {0,  11},
        {24, 33}
    };
    encode(&x, text, strlen(text), short_by_one, 2);
    for (int i = 0; i < x.n_ids; i++)
        ck_assert_int_ne(x.t.pieces[x.ids[i]].kind, TOKEN_CONTROL);
    fixture_close(&x);
}
END_TEST

// The same from a file that is wrong: its merges make a control token, or a byte is one.
START_TEST(merges_make_no_control_token) {
    struct fixture x;
    char out[MAX_IDS];
    fixture_prepare(&x);
    set_kind(&x.file, N_VOCAB - N_MERGES, TOKEN_CONTROL); // he
    set_kind(&x.file, N_FIRST + 'w', TOKEN_CONTROL);
    ck_assert_msg(fixture_init(&x, NULL) == OK, "%s", x.err.text);
    encode(&x, "hellow", 6, NULL, 0);
    ck_assert_str_eq(shown(&x, out), "h|e|ll|o");
    struct markup all = {0, 6};
    encode(&x, "hellow", 6, &all, 1);
    ck_assert_str_eq(shown(&x, out), "he|ll|o|w");
    fixture_close(&x);
}
END_TEST

// A file that calls its end token, or another that ends a turn, user-defined: it is markup all the same.
START_TEST(what_ends_a_text_is_markup_whatever_its_kind) {
    static const token_id ends[] = {END_OF_TEXT, IM_START, IM_END};
    struct fixture x;
    fixture_prepare(&x);
    for (int i = 0; i < ROWS(ends); i++) set_kind(&x.file, ends[i], TOKEN_USER_DEFINED);
    ck_assert_msg(fixture_init(&x, NULL) == OK, "%s", x.err.text);
    encode(&x, "<|endoftext|><|im_start|><|im_end|>", 35, NULL, 0);
    for (int i = 0; i < x.n_ids; i++) ck_assert_int_gt(x.ids[i], THINK);
    fixture_close(&x);
}
END_TEST

// A stretch without a token in it changes nothing.
START_TEST(does_not_cut_words_at_a_stretch) {
    struct fixture x;
    char out[MAX_IDS];
    fixture_open(&x);
    struct markup middle = {2, 4};
    encode(&x, "hello", 5, &middle, 1);
    ck_assert_str_eq(shown(&x, out), "hello");
    fixture_close(&x);
}
END_TEST

// TOK-01: a word that is a token, but that its merges do not reach.
START_TEST(looks_for_whole_words_first_where_the_family_does) {
    static const char *const rows[] = {"h e"};
    static const struct {
        const char *pre, *want;
    } families[] = {
        {"llama-bpe", "hello"   },
        {"smollm",    "he|l|l|o"},
    };
    struct fixture x;
    char out[MAX_IDS];
    for (int i = 0; i < ROWS(families); i++) {
        fixture_prepare(&x);
        set_merges(&x.file, rows, 1);
        ck_assert_int_eq(fixture_init(&x, families[i].pre), OK);
        encode(&x, "hello", 5, NULL, 0);
        ck_assert_str_eq(shown(&x, out), families[i].want);
        encode(&x, "helloh", 6, NULL, 0);
        ck_assert_str_eq(shown(&x, out), "he|l|l|o|h"); // longer than the token: merged
        fixture_close(&x);
    }
}
END_TEST

START_TEST(composes_characters_where_the_family_does) {
    struct fixture x;
    char out[MAX_IDS];
    fixture_prepare(&x);
    ck_assert_int_eq(fixture_init(&x, "qwen2"), OK);
    encode(&x, "he\xcc\x81 <x>e\xcc\x81\xff", 12, &(struct markup){0, 12}, 1);
    ck_assert_str_eq(shown(&x, out), "h|\xc3\xa9| |<x>|\xc3\xa9"); // FF has no symbol
    fixture_close(&x);
    fixture_open(&x);
    encode(&x, "he\xcc\x81", 4, NULL, 0);
    ck_assert_str_eq(shown(&x, out), "he|\xcc|\x81");
    fixture_close(&x);
}
END_TEST

// The text is long enough for the cache, and has words that it cannot hold.
START_TEST(gives_the_same_ids_for_a_word_that_came_before) {
    static char text[40 * 256];
    struct fixture x;
    token_id first[40];
    fixture_open(&x);
    memset(text, 'h', sizeof(text));
    for (int i = 0; i < 256; i++)
        memcpy(text + 40 * i, "hello he\xc3\xa9 w12 aaaaaaaaaaaaaaaaaa   ", 37);
    encode(&x, text, 40, NULL, 0);
    int n = x.n_ids;
    memcpy(first, x.ids, sizeof(first));
    token_id *ids = malloc(tokenizer_max_ids(&x.t, sizeof(text)) * sizeof(*ids));
    ck_assert_int_eq(tokenizer_encode(&x.t, text, sizeof(text), NULL, 0, 0, ids, &x.n_ids,
                                      &x.scratch, &x.err),
                     OK);
    ck_assert_int_eq(x.n_ids, 256 * n);
    for (int i = 0; i < 256; i++)
        assert_ids("a repeated line", ids + n * i, (size_t)n, first, (size_t)n);
    free(ids);
    fixture_close(&x);
}
END_TEST

START_TEST(shows_special_tokens_only_when_asked) {
    struct fixture x;
    fixture_open(&x);
    ck_assert_uint_eq(tokenizer_piece(&x.t, IM_END, false).n_bytes, 0);
    ck_assert_uint_eq(tokenizer_piece(&x.t, IM_END, true).n_bytes, 10);
    ck_assert_uint_eq(tokenizer_piece(&x.t, UNKNOWN, false).n_bytes, 0);
    ck_assert_uint_eq(tokenizer_piece(&x.t, THINK, false).n_bytes, 7);
    ck_assert_int_eq(tokenizer_piece(&x.t, THINK, false).kind, TOKEN_USER_DEFINED);
    fixture_close(&x);
}
END_TEST

// --- edges ---------------------------------------------------------------------------------------

static int count_bos(struct fixture *x, const char *text, int add) {
    struct markup all = {0, strlen(text)};
    int n = 0;
    ck_assert_int_eq(tokenizer_encode(&x->t, text, all.end, &all, 1, add, x->ids, &x->n_ids,
                                      &x->scratch, &x->err),
                     OK);
    for (int i = 0; i < x->n_ids; i++) n += x->ids[i] == x->t.bos;
    ck_assert_msg(n == 0 || x->ids[0] == x->t.bos, "bos is not first");
    return n;
}

START_TEST(puts_bos_first_once_and_only_if_the_file_asks) {
    struct fixture x;
    fixture_open(&x);
    ck_assert_int_eq(count_bos(&x, "hello", ADD_BOS), 0);
    fixture_close(&x);

    fixture_prepare(&x);
    file_set(&x.file, "tokenizer.ggml.add_bos_token", GGUF_BOOL, "\1", 1);
    ck_assert_int_eq(fixture_init(&x, NULL), OK);
    ck_assert_int_eq(count_bos(&x, "hello", 0), 0);
    ck_assert_int_eq(count_bos(&x, "hello", ADD_BOS), 1);
    ck_assert_int_eq(x.n_ids, 2);
    ck_assert_int_eq(count_bos(&x, "", ADD_BOS), 1);
    ck_assert_int_eq(x.n_ids, 1);
    ck_assert_int_eq(count_bos(&x, "<|im_start|>hello", ADD_BOS), 1); // TPL-01
    ck_assert_int_eq(x.n_ids, 2);
    fixture_close(&x);
}
END_TEST

// TOK-05. The rule: broken bytes are kept and stand alone; only bytes without a symbol are dropped.
START_TEST(keeps_broken_utf8_byte_by_byte) {
    static const char *const texts[] = {"\xe2\x80", "\xe6\xad",   "\xed\xa0\x80",
                                        "\xc0\xaf", "h\xe2\x80h", "\xf0\x9f\x99",
                                        "\x80 \x80"};
    struct fixture x;
    fixture_open(&x);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        encode(&x, texts[i], strlen(texts[i]), NULL, 0);
        ck_assert_int_eq(x.n_ids, (int)strlen(texts[i]));
        for (int k = 0; k < x.n_ids; k++)
            ck_assert_int_eq(x.t.pieces[x.ids[k]].bytes[0], texts[i][k]);
    }
    encode(&x, "\xff", 1, NULL, 0);
    ck_assert_int_eq(x.n_ids, 0);
    fixture_close(&x);
}
END_TEST

// --- failures ------------------------------------------------------------------------------------

// What takes the most: one word, words that grow just beyond the room for the last, and characters that
// NFC makes three times as long (U+1D160).
static size_t write_hungry(char *text, size_t n_room, int kind) {
    size_t n = 0;
    for (size_t room = 257, word = room; kind == 1 && n + word < n_room; room *= 2) {
        memset(text + n, 'h', word);
        text[n + word] = ' ';
        n += word + 1;
        word = room + 1;
    }
    if (kind == 1) return n;
    for (; n + 4 <= n_room; n += 4)
        memcpy(text + n, kind == 2 ? "\xf0\x9d\x85\xa0" : "hell", 4);
    return n;
}

START_TEST(takes_no_more_memory_than_it_says) {
    static const char *const families[] = {"smollm", "qwen2"};
    static char text[200 << 10];
    for (int i = 0; i < 3 * ROWS(families); i++) {
        struct fixture x;
        struct arena arena;
        int n_ids;
        fixture_prepare(&x);
        ck_assert_int_eq(fixture_init(&x, families[i / 3]), OK);
        size_t n = write_hungry(text, sizeof(text), i % 3);
        arena_init(&arena, tokenizer_work_bytes(&x.t, n));
        token_id *ids = ARENA_NEW(&arena, token_id, tokenizer_max_ids(&x.t, n));
        ck_assert_msg(
            tokenizer_encode(&x.t, text, n, NULL, 0, 0, ids, &n_ids, &arena, &x.err) == OK,
            "%s, text %d: %s", families[i / 3], i % 3, x.err.text);
        arena_free(&arena);
        fixture_close(&x);
    }
}
END_TEST

// Two words: one fits the first work memory, one makes it grow.
START_TEST(says_so_when_scratch_runs_out) {
    struct fixture x;
    char text[600];
    enum status st = ERR_MEMORY;
    long n = 0;

    fixture_open(&x);
    memset(text, 'h', sizeof(text));
    text[3] = ' ';
    for (; st != OK; n++) {
        arena_fail_after(&x.scratch, n);
        x.err = (struct error){0};
        st = tokenizer_encode(&x.t, text, sizeof(text), NULL, 0, 0, x.ids, &x.n_ids,
                              &x.scratch, &x.err);
        ck_assert(st == OK || (st == ERR_MEMORY && x.err.text[0] && x.n_ids == 0));
        arena_reset(&x.scratch);
    }
    ck_assert_int_eq(n, 5);
    ck_assert_int_eq(x.n_ids, (int)sizeof(text));
    fixture_close(&x);
}
END_TEST

// --- property ------------------------------------------------------------------------------------

// The pieces of the ids, one after the other, are the text without the bytes that have no symbol.
static void check_conserved(struct fixture *x, const char *text, size_t n_bytes) {
    size_t pos = 0;
    for (int i = 0; i < x->n_ids; i++) {
        ck_assert(x->ids[i] >= 0 && x->ids[i] < x->t.n_vocab);
        struct token_piece piece = tokenizer_piece(&x->t, x->ids[i], true);
        for (uint32_t k = 0; k < piece.n_bytes; k++, pos++) {
            while (pos < n_bytes && x->t.bpe.byte_token[(unsigned char)text[pos]] < 0)
                pos++;
            ck_assert_msg(pos < n_bytes && text[pos] == piece.bytes[k],
                          "byte %zu is not the one that went in", pos);
        }
    }
    while (pos < n_bytes && x->t.bpe.byte_token[(unsigned char)text[pos]] < 0) pos++;
    ck_assert_uint_eq(pos, n_bytes);
}

START_TEST(gives_back_the_bytes_that_went_in) {
    static const char *const parts[] = {
        "hello", " w", "<|im_end|>", "<x>",      "<x><y>", "<think>", "<|im_",
        "12",    "\n", "\xc3\xa9",   "\xe2\x80", "\xff",   "y"};
    struct draw d = draw_start("tokenizer");
    struct fixture x;

    fixture_open(&x);
    for (int round = 0; round < 3000; round++) {
        char text[256];
        size_t n = 0;
        int n_parts = draw_int(&d, 0, 20);
        for (int i = 0; i < n_parts; i++) {
            const char *part = parts[draw_int(&d, 0, 12)];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        struct markup some = {.begin = (size_t)draw_int(&d, 0, (int)n)};
        some.end = some.begin + (size_t)draw_int(&d, 0, (int)(n - some.begin));
        encode(&x, text, n, &some, draw_int(&d, 0, 1));
        check_conserved(&x, text, n);
        encode(&x, text, n, NULL, 0);
        check_conserved(&x, text, n);
        for (int i = 0; i < x.n_ids; i++)
            ck_assert_int_ne(x.t.pieces[x.ids[i]].kind, TOKEN_CONTROL);
    }
    fixture_close(&x);
}
END_TEST

START_TEST(reads_the_tiny_model_and_loses_nothing) {
    struct draw d = draw_start("tiny");
    struct fixture x = {0};

    file_load(&x.file, tiny_model_path());
    ck_assert_msg(fixture_init(&x, NULL) == OK, "%s", x.err.text);
    ck_assert(tokenizer_is_end(&x.t, x.t.eos));
    for (int round = 0; round < 300; round++) {
        char text[200];
        size_t n = (size_t)draw_int(&d, 0, 200);
        for (size_t i = 0; i < n; i++) text[i] = (char)draw_int(&d, 1, 255);
        encode(&x, text, n, NULL, 0);
        check_conserved(&x, text, n);
    }
    encode(&x, "The capital of France is", 24, NULL, 0);
    ck_assert_int_lt(x.n_ids, 12); // merges do merge
    fixture_close(&x);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/tokenizer");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, encodes_as_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(reference, finds_control_tokens_only_inside_their_stretch);
    tcase_add_test(reference, merges_make_no_control_token);
    tcase_add_test(reference, what_ends_a_text_is_markup_whatever_its_kind);
    tcase_add_test(reference, does_not_cut_words_at_a_stretch);
    tcase_add_test(reference, looks_for_whole_words_first_where_the_family_does);
    tcase_add_test(reference, composes_characters_where_the_family_does);
    tcase_add_test(reference, gives_the_same_ids_for_a_word_that_came_before);
    tcase_add_test(reference, shows_special_tokens_only_when_asked);
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, puts_bos_first_once_and_only_if_the_file_asks);
    tcase_add_test(edges, keeps_broken_utf8_byte_by_byte);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, takes_no_more_memory_than_it_says);
    tcase_add_test(failures, says_so_when_scratch_runs_out);
    suite_add_tcase(s, failures);
    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 60);
    tcase_add_test(property, gives_back_the_bytes_that_went_in);
    tcase_add_test(property, reads_the_tiny_model_and_loses_nothing);
    suite_add_tcase(s, property);
    return s;
}
