// Tokenizers read from files: what must be there, and what is refused by name.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"
#include "tests/support/suite.h"
#include "tests/support/vocabulary.h"

#define KEY(name) "tokenizer.ggml." name

START_TEST(reads_ids_and_the_end_set) {
    struct fixture x;
    fixture_open(&x);
    ck_assert_int_eq(x.t.bos, IM_START);
    ck_assert_int_eq(x.t.eos, IM_END);
    ck_assert_int_eq(x.t.unknown, UNKNOWN);
    ck_assert(!x.t.add_bos);
    for (int id = 0; id < x.t.n_vocab; id++)
        ck_assert_int_eq(tokenizer_is_end(&x.t, id), id == IM_END || id == END_OF_TEXT);
    fixture_close(&x);

    fixture_prepare(&x);
    file_drop(&x.file, "tokenizer.ggml.bos_token_id");
    file_drop(&x.file, "tokenizer.ggml.token_type"); // so that no text is a control token
    file_set_u32(&x.file, "tokenizer.ggml.eot_token_id", X);
    ck_assert_int_eq(fixture_init(&x, NULL), OK);
    ck_assert_int_eq(x.t.bos, -1);
    ck_assert_int_eq(x.t.special.n_tokens, 0);
    for (int id = 0; id < x.t.n_vocab; id++)
        ck_assert_int_eq(tokenizer_is_end(&x.t, id), id == IM_END || id == X);
    fixture_close(&x);
}
END_TEST

// A normal token with a character that is no symbol, here a raw space, stands for its own text.
START_TEST(keeps_a_piece_that_is_not_spelled_in_symbols) {
    struct fixture x;
    struct bytes tokens = {0};
    fixture_prepare(&x);
    put_string(&tokens, "Ġa");
    put_string(&tokens, " \xc2\xa1");
    put_string(&tokens, "");
    file_set_array(&x.file, "tokenizer.ggml.tokens", GGUF_STRING, 3, tokens.data, tokens.n);
    file_drop(&x.file, "tokenizer.ggml.token_type");
    set_merges(&x.file, NULL, 0);
    ck_assert_msg(fixture_init(&x, NULL) == ERR_FORMAT, "ids 1 to 3 with three tokens");
    arena_free(&x.arena);
    bytes_free(&x.bytes);
    file_drop(&x.file, "tokenizer.ggml.unknown_token_id");
    ck_assert_int_eq(fixture_init(&x, NULL), OK);
    ck_assert_int_eq(memcmp(x.t.pieces[0].bytes, " a", 2), 0);
    ck_assert_uint_eq(x.t.pieces[1].n_bytes, 3);
    ck_assert_int_eq(memcmp(x.t.pieces[1].bytes, " \xc2\xa1", 3), 0);
    ck_assert_uint_eq(x.t.pieces[2].n_bytes, 0);
    bytes_free(&tokens);
    fixture_close(&x);
}
END_TEST

START_TEST(takes_the_pre_tokenizer_that_the_caller_names) {
    struct fixture x;
    fixture_prepare(&x);
    file_drop(&x.file, "tokenizer.ggml.pre");
    ck_assert_int_eq(fixture_init(&x, "smollm"), OK);
    fixture_close(&x);

    fixture_prepare(&x);
    ck_assert_int_eq(fixture_init(&x, "nosuch"), ERR_UNSUPPORTED);
    fixture_close(&x);
}
END_TEST

// A SentencePiece file; pre is of no interest to it.
static void prepare_spm(struct fixture *x) {
    static const char *const texts[] = {"<unk>", "<s>", "▁a", "a", "▁", "<0x0A>"};
    static const uint32_t kinds[] = {TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_NORMAL,
                                     TOKEN_NORMAL,  TOKEN_NORMAL,  TOKEN_BYTE};
    struct bytes tokens = {0}, scores = {0}, numbers = {0};
    fixture_prepare(x);
    for (uint32_t i = 0; i < ROWS(texts); i++) {
        put_string(&tokens, texts[i]);
        put_f32(&scores, -(float)i);
        put_u32(&numbers, kinds[i]);
    }
    file_set_string(&x->file, KEY("model"), "llama");
    file_set_string(&x->file, KEY("pre"), "nosuch");
    file_set_array(&x->file, KEY("tokens"), GGUF_STRING, ROWS(texts), tokens.data,
                   tokens.n);
    file_set_array(&x->file, KEY("scores"), GGUF_F32, ROWS(texts), scores.data, scores.n);
    file_set_array(&x->file, KEY("token_type"), GGUF_I32, ROWS(texts), numbers.data,
                   numbers.n);
    file_drop(&x->file, KEY("merges"));
    file_set_u32(&x->file, KEY("bos_token_id"), 1);
    file_set_u32(&x->file, KEY("unknown_token_id"), 0);
    bytes_free(&tokens);
    bytes_free(&scores);
    bytes_free(&numbers);
}

START_TEST(reads_sentencepiece_and_what_its_makers_leave_out) {
    struct fixture x;
    prepare_spm(&x);
    ck_assert_msg(fixture_init(&x, "nosuch") == OK, "%s", x.err.text);
    ck_assert_int_eq(x.t.family, FAMILY_SPM);
    ck_assert(x.t.adds_space && x.t.add_bos && !x.t.add_eos && !x.t.trims_spaces);
    ck_assert_int_eq(x.t.spm.byte_token['\n'], 5);
    ck_assert_int_eq(x.t.spm.byte_token['a'], -1);
    ck_assert_int_eq(x.t.spm.unknown, 0);
    ck_assert_int_eq(memcmp(x.t.pieces[2].bytes, " a", x.t.pieces[2].n_bytes), 0);
    fixture_close(&x);

    prepare_spm(&x);
    file_set(&x.file, KEY("add_bos_token"), GGUF_BOOL, "\0", 1);
    file_set(&x.file, KEY("add_eos_token"), GGUF_BOOL, "\1", 1);
    file_set(&x.file, KEY("add_space_prefix"), GGUF_BOOL, "\0", 1);
    file_set(&x.file, KEY("remove_extra_whitespaces"), GGUF_BOOL, "\1", 1);
    ck_assert_int_eq(fixture_init(&x, NULL), OK);
    ck_assert(!x.t.adds_space && !x.t.add_bos && x.t.add_eos && x.t.trims_spaces);
    fixture_close(&x);
}
END_TEST

START_TEST(refuses_sentencepiece_without_scores) {
    struct fixture x;
    unsigned char nan[4 * 6] = {0, 0, 0xc0, 0x7f};
    prepare_spm(&x);
    file_drop(&x.file, KEY("scores"));
    ck_assert_int_eq(fixture_init(&x, NULL), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(x.err.text, KEY("scores")));
    fixture_close(&x);

    prepare_spm(&x);
    file_set_array(&x.file, KEY("scores"), GGUF_F32, 6, nan, sizeof(nan));
    ck_assert_int_eq(fixture_init(&x, NULL), ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(x.err.text, KEY("scores")));
    fixture_close(&x);
}
END_TEST

START_TEST(knows_what_a_word_family_implies) {
    static const struct {
        const char *pre;
        bool add_bos, is_nfc, whole_words_first;
    } rows[] = {
        {"smollm",    false, false, false},
        {"gpt-2",     false, false, false},
        {"default",   false, false, false},
        {"qwen2",     false, true,  false},
        {"llama-bpe", true,  false, true },
    };
    struct fixture x;
    fixture_prepare(&x);
    file_set(&x.file, KEY("add_space_prefix"), GGUF_BOOL, "\1",
             1); // means nothing to bytes
    ck_assert_int_eq(fixture_init(&x, rows[_i].pre), OK);
    ck_assert_int_eq(x.t.add_bos, rows[_i].add_bos);
    ck_assert_int_eq(x.t.is_nfc, rows[_i].is_nfc);
    ck_assert_int_eq(x.t.whole_words_first, rows[_i].whole_words_first);
    ck_assert(!x.t.adds_space);
    fixture_close(&x);
}
END_TEST

// --- one thing wrong ----------------------------------------------------------------------------

static void drop(struct gguf_file *f, const char *key) {
    file_drop(f, key);
}
static void make_number(struct gguf_file *f, const char *key) {
    file_set_u32(f, key, 7);
}
static void make_2_31(struct gguf_file *f, const char *key) {
    file_set_u32(f, key, 1u << 31);
}
static void make_n_vocab(struct gguf_file *f, const char *key) {
    file_set_u32(f, key, N_VOCAB);
}
static void make_minus_1(struct gguf_file *f, const char *key) {
    file_set(f, key, GGUF_I32, "\xff\xff\xff\xff", 4);
}
static void make_float(struct gguf_file *f, const char *key) {
    file_set_f32(f, key, 1.0f);
}
static void make_nosuch(struct gguf_file *f, const char *key) {
    file_set_string(f, key, "nosuch");
}
static void make_empty_strings(struct gguf_file *f, const char *key) {
    file_set_array(f, key, GGUF_STRING, 0, NULL, 0);
}
// One item of one byte per token: the length is right, the type is not.
static void make_u8_column(struct gguf_file *f, const char *key) {
    static const unsigned char ones[N_VOCAB] = {1};
    file_set_array(f, key, GGUF_U8, sizeof(ones), ones, sizeof(ones));
}
static void make_fours(struct gguf_file *f, const char *key) {
    static unsigned char fours[N_VOCAB];
    memset(fours, 4, sizeof(fours));
    file_set_array(f, key, GGUF_U8, sizeof(fours), fours, sizeof(fours));
}
static void make_short_u8(struct gguf_file *f, const char *key) {
    file_set_array(f, key, GGUF_U8, 1, "\1", 1);
}
static void make_short_f32(struct gguf_file *f, const char *key) {
    file_set_array(f, key, GGUF_F32, 1, "\0\0\0\0", 4);
}
static void make_short_i32(struct gguf_file *f, const char *key) {
    file_set_array(f, key, GGUF_I32, 1, "\1\0\0\0", 4);
}
static void make_zero_kinds(struct gguf_file *f, const char *key) {
    static const unsigned char zeros[4 * (N_VOCAB)];
    file_set_array(f, key, GGUF_I32, sizeof(zeros) / 4, zeros, sizeof(zeros));
}
static void make_long_token(struct gguf_file *f, const char *key) {
    struct bytes b = {0};
    char *text = calloc(1, LIMIT_PIECE_BYTES + 2);
    memset(text, 'a', LIMIT_PIECE_BYTES + 1);
    put_string(&b, text);
    file_set_array(f, key, GGUF_STRING, 1, b.data, b.n);
    free(text);
    bytes_free(&b);
}
static void make_one_control_token(struct gguf_file *f, size_t n_bytes) {
    struct bytes token = {0}, kind = {0};
    char *text = calloc(1, n_bytes + 1);
    memset(text, 'a', n_bytes);
    put_string(&token, text);
    put_u32(&kind, TOKEN_CONTROL);
    file_set_array(f, KEY("tokens"), GGUF_STRING, 1, token.data, token.n);
    file_set_array(f, KEY("token_type"), GGUF_I32, 1, kind.data, kind.n);
    set_merges(f, NULL, 0);
    file_drop(f, KEY("bos_token_id")); // there is one id only
    file_drop(f, KEY("eos_token_id"));
    file_drop(f, KEY("unknown_token_id"));
    free(text);
    bytes_free(&token);
    bytes_free(&kind);
}
static void make_long_control_token(struct gguf_file *f, const char *key) {
    (void)key;
    make_one_control_token(f, LIMIT_SPECIAL_BYTES + 1);
}
static void make_merge(struct gguf_file *f, const char *const *last) {
    const char *rows[] = {"h e", *last};
    set_merges(f, rows, 2);
}
static void make_merge_without_left(struct gguf_file *f, const char *key) {
    (void)key;
    make_merge(f, (const char *[]){"hz e"});
}
static void make_merge_without_result(struct gguf_file *f, const char *key) {
    (void)key;
    make_merge(f, (const char *[]){"e h"});
}
static void make_merge_of_one(struct gguf_file *f, const char *key) {
    (void)key;
    make_merge(f, (const char *[]){"hello"});
}
static void make_merge_of_three(struct gguf_file *f, const char *key) {
    (void)key;
    make_merge(f, (const char *[]){"h e ll"});
}
static void make_merge_of_space(struct gguf_file *f, const char *key) {
    (void)key;
    make_merge(f, (const char *[]){" "});
}

static void make_merge_of_nothing(struct gguf_file *f, const char *key) {
    (void)key;
    make_merge(f, (const char *[]){""});
}

static const struct {
    const char *name, *key;
    void (*change)(struct gguf_file *f, const char *key);
    enum status want;
} wrong[] = {
    {"no model",                         KEY("model"),            drop,                      ERR_FORMAT     },
    {"model is a number",                KEY("model"),            make_number,               ERR_FORMAT     },
    {"model is another",                 KEY("model"),            make_nosuch,               ERR_UNSUPPORTED},
    {"no pre",                           KEY("pre"),              drop,                      ERR_UNSUPPORTED},
    {"TOK-10 unknown pre",               KEY("pre"),              make_nosuch,               ERR_UNSUPPORTED},
    {"pre is a number",                  KEY("pre"),              make_number,               ERR_FORMAT     },
    {"no tokens",                        KEY("tokens"),           drop,                      ERR_FORMAT     },
    {"tokens is a number",               KEY("tokens"),           make_number,               ERR_FORMAT     },
    {"tokens are bytes",                 KEY("tokens"),           make_u8_column,            ERR_FORMAT     },
    {"tokens are empty",                 KEY("tokens"),           make_empty_strings,        ERR_FORMAT     },
    {"a token is too long",              KEY("tokens"),           make_long_token,           ERR_LIMIT      },
    {"kinds of the wrong type",          KEY("token_type"),       make_u8_column,            ERR_FORMAT     },
    {"a control token is too long",      KEY("tokens"),           make_long_control_token,   ERR_LIMIT      },
    {"kinds are too few",                KEY("token_type"),       make_short_i32,            ERR_FORMAT     },
    {"spaces taken, too few",            key_takes_spaces,        make_short_u8,             ERR_FORMAT     },
    {"spaces taken, of the wrong type",  key_takes_spaces,        make_short_i32,            ERR_FORMAT     },
    {"spaces taken in a fourth way",     key_takes_spaces,        make_fours,                ERR_FORMAT     },
    {"kinds out of range",               KEY("token_type"),       make_zero_kinds,           ERR_FORMAT     },
    {"LOAD-19 scores of the wrong type", KEY("scores"),           make_u8_column,            ERR_FORMAT     },
    {"scores are too few",               KEY("scores"),           make_short_f32,            ERR_FORMAT     },
    {"scores is a number",               KEY("scores"),           make_number,               ERR_FORMAT     },
    {"no merges",                        KEY("merges"),           drop,                      ERR_FORMAT     },
    {"merges are bytes",                 KEY("merges"),           make_u8_column,            ERR_FORMAT     },
    {"a merge without its left",         KEY("merges"),           make_merge_without_left,   ERR_FORMAT     },
    {"a merge without its result",       KEY("merges"),           make_merge_without_result, ERR_FORMAT     },
    {"a merge of one",                   KEY("merges"),           make_merge_of_one,         ERR_FORMAT     },
    {"a merge of three",                 KEY("merges"),           make_merge_of_three,       ERR_FORMAT     },
    {"a merge of nothing",               KEY("merges"),           make_merge_of_space,       ERR_FORMAT     },
    {"bos of 2^31",                      KEY("bos_token_id"),     make_2_31,                 ERR_FORMAT     },
    {"bos just behind the last",         KEY("bos_token_id"),     make_n_vocab,              ERR_FORMAT     },
    {"eos below zero",                   KEY("eos_token_id"),     make_minus_1,              ERR_FORMAT     },
    {"eot is a float",                   KEY("eot_token_id"),     make_float,                ERR_FORMAT     },
    {"eom is a string",                  KEY("eom_token_id"),     make_nosuch,               ERR_FORMAT     },
    {"unknown of 2^31",                  KEY("unknown_token_id"), make_2_31,                 ERR_FORMAT     },
    {"add_bos is a number",              KEY("add_bos_token"),    make_number,               ERR_FORMAT     },
    {"add_eos is a string",              KEY("add_eos_token"),    make_nosuch,               ERR_FORMAT     },
    {"the space is a number",            KEY("add_space_prefix"), make_number,               ERR_FORMAT     },
    {"a merge of no letters",            KEY("merges"),           make_merge_of_nothing,     ERR_FORMAT     },
};

START_TEST(takes_the_longest_control_token_that_is_allowed) {
    struct fixture x;
    fixture_prepare(&x);
    make_one_control_token(&x.file, LIMIT_SPECIAL_BYTES);
    ck_assert_msg(fixture_init(&x, NULL) == OK, "%s", x.err.text);
    ck_assert_int_eq(x.t.special.n_tokens, 1);
    ck_assert_uint_eq(x.t.special.tokens[0].n_bytes, LIMIT_SPECIAL_BYTES);
    fixture_close(&x);
}
END_TEST

START_TEST(refuses_a_file_and_names_the_key) {
    struct fixture x;
    fixture_prepare(&x);
    wrong[_i].change(&x.file, wrong[_i].key);
    enum status st = fixture_init(&x, NULL);
    ck_assert_msg(st == wrong[_i].want, "%s: %s, want %s", wrong[_i].name, status_name(st),
                  status_name(wrong[_i].want));
    ck_assert_int_eq(x.err.code, st);
    ck_assert_msg(strstr(x.err.text, wrong[_i].key) && strstr(x.err.text, "test.gguf"),
                  "%s: '%s' does not name file and key", wrong[_i].name, x.err.text);
    ck_assert_ptr_null(x.t.pieces);
    fixture_close(&x);
}
END_TEST

START_TEST(says_at_which_byte_a_key_stands) {
    struct fixture x;
    char want[120];
    fixture_prepare(&x);
    make_number(&x.file, KEY("add_bos_token"));
    ck_assert_int_eq(fixture_init(&x, NULL), ERR_FORMAT);
    const struct gguf_value *value = gguf_find(&x.gguf, KEY("add_bos_token"));
    snprintf(want, sizeof(want), "test.gguf: key %s at byte %td: must be true or false",
             KEY("add_bos_token"), value->bytes - x.gguf.bytes);
    assert_text("the refusal", x.err.text, want);
    fixture_close(&x);
}
END_TEST

START_TEST(survives_every_failed_allocation) {
    struct fixture x;
    enum status st = ERR_MEMORY;
    long n = 0;

    fixture_open(&x);
    for (; st != OK; n++) {
        struct arena arena;
        struct tokenizer t;
        arena_init(&arena, 16 << 20);
        arena_fail_after(&arena, n);
        x.err = (struct error){0};
        st = tokenizer_from_gguf(&t, &x.gguf, NULL, "test.gguf", &arena, &x.err);
        ck_assert_msg(st == OK || (st == ERR_MEMORY && x.err.code == ERR_MEMORY &&
                                   x.err.text[0] && !t.pieces),
                      "allocation %ld: %s '%s'", n, status_name(st), x.err.text);
        arena_free(&arena);
        ck_assert_int_lt(n, 100);
    }
    ck_assert_int_gt(n, 5);
    fixture_close(&x);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/tokenizer_gguf");
    TCase *reference = tcase_create("reference");
    tcase_add_test(reference, reads_ids_and_the_end_set);
    tcase_add_test(reference, takes_the_pre_tokenizer_that_the_caller_names);
    tcase_add_test(reference, reads_sentencepiece_and_what_its_makers_leave_out);
    tcase_add_loop_test(reference, knows_what_a_word_family_implies, 0, 5);
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, takes_the_longest_control_token_that_is_allowed);
    tcase_add_test(edges, keeps_a_piece_that_is_not_spelled_in_symbols);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, refuses_a_file_and_names_the_key, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(failures, says_at_which_byte_a_key_stands);
    tcase_add_test(failures, refuses_sentencepiece_without_scores);
    tcase_add_test(failures, survives_every_failed_allocation);
    suite_add_tcase(s, failures);
    return s;
}
