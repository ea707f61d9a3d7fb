// Texts to ids and back in the SentencePiece family, from facts that are filled in here: as a reader of
// another container would do it.
#include "level2-operator/tokenizer/tokenizer.h"

#include <string.h>

#include "tests/support/suite.h"

enum { MAX_IDS = 256 };
enum {
    UNK,
    BOS,
    EOS,
    TABLE,
    WIDE,
    TWO_SPACES,
    BYTE_0A,
    BYTE_C3,
    BYTE_B8,
    SPACE,
    H,
    I,
    SPACE_HI,
    HI,
    UNUSED
};

#define TOKEN(text, kind_, score_)                                                         \
    { .bytes = (text), .n_bytes = sizeof(text) - 1, .kind = (kind_), .score = (score_) }

static const struct token_fact tokens[] = {
    [UNK] = TOKEN("<unk>", TOKEN_UNKNOWN, 0),
    [BOS] = TOKEN("<s>", TOKEN_CONTROL, 0),
    [EOS] = TOKEN("</s>", TOKEN_CONTROL, 0),
    [TABLE] = TOKEN("<t>", TOKEN_USER_DEFINED, 0),
    [WIDE] = TOKEN("<X>", TOKEN_USER_DEFINED, 0),
    [TWO_SPACES] = TOKEN("▁▁", TOKEN_USER_DEFINED, 0),
    [BYTE_0A] = TOKEN("<0x0A>", TOKEN_BYTE, 0),
    [BYTE_C3] = TOKEN("<0xC3>", TOKEN_BYTE, 0),
    [BYTE_B8] = TOKEN("<0xB8>", TOKEN_BYTE, 0),
    [SPACE] = TOKEN("▁", TOKEN_NORMAL, -9),
    [H] = TOKEN("h", TOKEN_NORMAL, -9),
    [I] = TOKEN("i", TOKEN_NORMAL, -9),
    [SPACE_HI] = TOKEN("▁hi", TOKEN_NORMAL, -2),
    [HI] = TOKEN("hi", TOKEN_NORMAL, -1),
    [UNUSED] = TOKEN("hih", TOKEN_UNUSED, 0),
};
enum { N_TOKENS = sizeof(tokens) / sizeof(*tokens) };

struct rig {
    struct arena arena, scratch;
    struct token_fact tokens[N_TOKENS];
    struct tokenizer_facts facts;
    struct tokenizer t;
    struct error err;
    token_id ids[MAX_IDS];
    int n_ids;
};

static void rig_prepare(struct rig *r) {
    *r = (struct rig){0};
    arena_init(&r->arena, 1 << 20);
    arena_init(&r->scratch, 1 << 20);
    memcpy(r->tokens, tokens, sizeof(tokens));
    r->facts = (struct tokenizer_facts){.name = "test",
                                        .tokens_key = "vocab",
                                        .merges_key = "merges",
                                        .family = FAMILY_SPM,
                                        .tokens = r->tokens,
                                        .n_vocab = N_TOKENS,
                                        .bos = BOS,
                                        .eos = EOS,
                                        .unknown = UNK,
                                        .adds_space = true};
}

static void rig_build(struct rig *r) {
    assert_status("tokenizer_init",
                  tokenizer_init(&r->t, &r->facts, &r->arena, &r->scratch, &r->err), OK);
}

static void rig_close(struct rig *r) {
    arena_free(&r->arena);
    arena_free(&r->scratch);
}

static void encode(struct rig *r, const char *text, bool is_markup, int add) {
    struct markup all = {0, strlen(text)};
    ck_assert_uint_le(tokenizer_max_ids(&r->t, all.end), MAX_IDS);
    assert_status("tokenizer_encode",
                  tokenizer_encode(&r->t, text, all.end, &all, is_markup, add, r->ids,
                                   &r->n_ids, &r->scratch, &r->err),
                  OK);
    arena_reset(&r->scratch);
}

static const char *text_of(const struct rig *r, const token_id *ids, int n_ids,
                           bool with_special, char *out) {
    struct decoding d = decoding_start(&r->t, with_special);
    size_t n = 0;
    for (int i = 0; i < n_ids; i++) {
        struct token_piece piece = decoding_next(&d, ids[i]);
        memcpy(out + n, piece.bytes, piece.n_bytes);
        n += piece.n_bytes;
    }
    out[n] = '\0';
    return out;
}

// --- worked out by hand --------------------------------------------------------------------------

static const struct {
    const char *name, *text;
    bool adds_space, trims, is_markup;
    token_id want[10];
    int n_want;
} cases[] = {
    {"nothing",                                 "",         true,  false, false, {0},                   0},
    {"a space in front",                        "hi",       true,  false, false, {SPACE_HI},            1},
    {"no space in front",                       "hi",       false, false, false, {HI},                  1},
    {"a space of the text",                     "hi hi",    false, false, false, {HI, SPACE_HI},        2},
    {"two spaces are a token",                  "hi  hi",   false, false, false, {HI, TWO_SPACES, HI},  3},
    {"three are two and one",
     "hi   hi",                                             false,
     false,                                                               false,
     {HI, TWO_SPACES, SPACE_HI},
     3                                                                                                   },
    {"a line end is a byte",                    "hi\n",     false, false, false, {HI, BYTE_0A},         2},
    {"a letter is two bytes",                   "hø",      false, false, false, {H, BYTE_C3, BYTE_B8}, 3},
    {"a letter without its bytes is unknown",   "h狐i",    false, false, false, {H, UNK, I},           3},
    {"an unused token is not made",             "hih",      false, false, false, {HI, H},               2},
    {"user-defined tokens in plain text",       "h<t>i",    false, false, false, {H, TABLE, I},         3},
    {"no space behind a token at the start",    "<t>hi",    true,  false, false, {TABLE, HI},           2},
    {"TOK-07: none behind markup",              "hi</s>hi", true,  false, true,  {SPACE_HI, EOS, HI},   3},
    {"TOK-07: none behind markup at the start", "<s>hi",    true,  false, true,  {BOS, HI},             2},
    {"markup as text",                          "<",        false, false, false, {UNK},                 1},
    {"a literal block is a space",              "hi▁hi",  false, false, false, {HI, SPACE_HI},        2},
    {"spaces are trimmed",                      " hi ",     true,  true,  false, {SPACE_HI},            1},
    {"and nothing is left of spaces",           " ",        true,  true,  false, {0},                   0},
    {"trimmed at the text's ends only",
     " hi <t> hi",                                          false,
     true,                                                                false,
     {HI, SPACE, TABLE, SPACE_HI},
     4                                                                                                   },
};

START_TEST(encodes_as_worked_out_by_hand) {
    struct rig r;
    rig_prepare(&r);
    r.facts.adds_space = cases[_i].adds_space;
    r.facts.trims_spaces = cases[_i].trims;
    rig_build(&r);
    encode(&r, cases[_i].text, cases[_i].is_markup, 0);
    assert_ids(cases[_i].name, r.ids, (size_t)r.n_ids, cases[_i].want,
               (size_t)cases[_i].n_want);
    rig_close(&r);
}
END_TEST

// "hi hi" could be cut before its space, if no token had one behind an i.
START_TEST(merges_over_a_space_where_a_token_does) {
    struct rig r;
    rig_prepare(&r);
    r.facts.adds_space = false;
    r.tokens[UNUSED] = (struct token_fact)TOKEN("i▁", TOKEN_NORMAL, 5);
    rig_build(&r);
    encode(&r, "hi hi", false, 0);
    assert_ids("over", r.ids, (size_t)r.n_ids, (const token_id[]){H, UNUSED, HI}, 3);
    rig_close(&r);
}
END_TEST

START_TEST(takes_the_lowest_of_equal_byte_tokens) {
    struct rig r;
    rig_prepare(&r);
    r.facts.adds_space = false;
    r.tokens[UNUSED] = (struct token_fact)TOKEN("<0x0A>", TOKEN_BYTE, 0);
    rig_build(&r);
    encode(&r, "\n", false, 0);
    assert_ids("lowest", r.ids, (size_t)r.n_ids, (const token_id[]){BYTE_0A}, 1);
    rig_close(&r);
}
END_TEST

// TOK-08, from a file that calls what opens a turn user-defined: no user can start a system turn.
START_TEST(what_looks_like_markup_is_markup_whatever_its_kind) {
    static const char *const texts[] = {"<start_of_turn>", "[INST]", "[/INST]",
                                        "<|im_start|>", "<|start_header_id|>"};
    struct rig r;
    for (int i = 0; i < ROWS(texts); i++) {
        rig_prepare(&r);
        r.tokens[WIDE].bytes = texts[i];
        r.tokens[WIDE].n_bytes = (uint32_t)strlen(texts[i]);
        rig_build(&r);
        encode(&r, texts[i], false, 0);
        for (int j = 0; j < r.n_ids; j++) ck_assert_int_ne(r.ids[j], WIDE);
        encode(&r, texts[i], true, 0);
        assert_ids(texts[i], r.ids, (size_t)r.n_ids, (const token_id[]){WIDE}, 1);
        rig_close(&r);
    }
}
END_TEST

// TOK-09: added token <X> with both flags set, then with both off.
START_TEST(takes_spaces_with_a_token_that_asks_for_them) {
    struct rig r;
    rig_prepare(&r);
    r.facts.adds_space = false;
    r.tokens[WIDE].takes_before = r.tokens[WIDE].takes_after = true;
    rig_build(&r);
    encode(&r, "  <X>  ", false, 0);
    assert_ids("both", r.ids, (size_t)r.n_ids, (const token_id[]){TWO_SPACES, WIDE}, 2);
    encode(&r, " <X> \n ", false, 0);
    assert_ids("single ones", r.ids, (size_t)r.n_ids, (const token_id[]){WIDE}, 1);
    encode(&r, "hi <X> <X>hi", false, 0);
    assert_ids("in a row", r.ids, (size_t)r.n_ids, (const token_id[]){HI, WIDE, WIDE, HI},
               4);
    arena_reset(&r.arena);
    r.tokens[WIDE].takes_before = r.tokens[WIDE].takes_after = false;
    rig_build(&r);
    encode(&r, " <X>  ", false, 0);
    assert_ids("off", r.ids, (size_t)r.n_ids, (const token_id[]){SPACE, WIDE, TWO_SPACES},
               3);
    rig_close(&r);
}
END_TEST

// White space is Unicode's, whole characters, and nothing else: U+200B is none, half a character neither.
START_TEST(takes_white_space_of_all_kinds) {
    struct rig r;
    rig_prepare(&r);
    r.facts.adds_space = false;
    r.tokens[WIDE].takes_before = r.tokens[WIDE].takes_after = true;
    rig_build(&r);
    encode(&r, "hi\xc2\xa0\xe3\x80\x80\v\f\r\n<X>\xc2\x85\xe2\x80\xa8hi", false, 0);
    assert_ids("wide", r.ids, (size_t)r.n_ids, (const token_id[]){HI, WIDE, HI}, 3);
    static const char *const kept[] = {"\xe2\x80\x8b<X>", "<X>\xe2\x80\x8b", "<X>\xe3\x80",
                                       "\x80\x80<X>", "<X>\x1c"};
    for (int i = 0; i < ROWS(kept); i++) {
        encode(&r, kept[i], false, 0);
        ck_assert_msg(r.n_ids > 1, "row %d: %d ids", i, r.n_ids);
    }
    rig_close(&r);
}
END_TEST

START_TEST(puts_a_space_behind_special_tokens_or_only_where_it_is_missing) {
    struct rig r;
    rig_prepare(&r);
    r.facts.adds_space = r.facts.adds_space_everywhere = true;
    rig_build(&r);
    encode(&r, "hi<X>hi<X>", false, 0);
    assert_ids("everywhere", r.ids, (size_t)r.n_ids,
               (const token_id[]){SPACE_HI, WIDE, SPACE_HI, WIDE}, 4);
    arena_reset(&r.arena);
    r.facts.adds_missing_space = true;
    rig_build(&r);
    encode(&r, " hi<X> hi<X>hi", false, 0);
    assert_ids("missing", r.ids, (size_t)r.n_ids,
               (const token_id[]){SPACE_HI, WIDE, SPACE_HI, WIDE, SPACE_HI}, 5);
    encode(&r, "\xe2\x96\x81hi", false, 0); // a block is a space
    assert_ids("block", r.ids, (size_t)r.n_ids, (const token_id[]){SPACE_HI}, 1);
    rig_close(&r);
}
END_TEST

START_TEST(puts_bos_and_eos_around_once_and_only_if_the_file_asks) {
    struct rig r;
    rig_prepare(&r);
    rig_build(&r);
    encode(&r, "hi", false, ADD_BOS | ADD_EOS);
    assert_ids("not asked for", r.ids, (size_t)r.n_ids, (const token_id[]){SPACE_HI}, 1);
    r.t.add_bos = r.t.add_eos = true;
    encode(&r, "hi", false, ADD_BOS | ADD_EOS);
    assert_ids("both", r.ids, (size_t)r.n_ids, (const token_id[]){BOS, SPACE_HI, EOS}, 3);
    encode(&r, "hi", false, ADD_BOS);
    assert_ids("a prompt", r.ids, (size_t)r.n_ids, (const token_id[]){BOS, SPACE_HI}, 2);
    encode(&r, "<s>hi</s>", true, ADD_BOS | ADD_EOS);
    assert_ids("there already", r.ids, (size_t)r.n_ids, (const token_id[]){BOS, HI, EOS},
               3);
    encode(&r, "", false, ADD_BOS | ADD_EOS);
    assert_ids("an empty text", r.ids, (size_t)r.n_ids, (const token_id[]){BOS, EOS}, 2);
    r.t.bos = r.t.eos = -1;
    encode(&r, "", false, ADD_BOS | ADD_EOS);
    ck_assert_int_eq(r.n_ids, 0);
    rig_close(&r);
}
END_TEST

// TOK-11
START_TEST(drops_the_first_space_of_a_text_and_no_other) {
    static const token_id ids[] = {BOS, SPACE_HI, SPACE_HI, BYTE_C3, BYTE_B8, TWO_SPACES};
    struct rig r;
    char out[MAX_IDS];
    rig_prepare(&r);
    rig_build(&r);
    assert_text("behind bos", text_of(&r, ids, 6, false, out), "hi hiø  ");
    assert_text("behind what is shown", text_of(&r, ids, 3, true, out), "<s> hi hi");
    assert_number("in mid-text", tokenizer_piece(&r.t, SPACE_HI, false).n_bytes, 3);
    assert_text("one of two", text_of(&r, ids + 5, 1, false, out), " ");
    r.t.trims_spaces = true;
    assert_text("all of them",
                text_of(&r, (const token_id[]){SPACE, SPACE_HI}, 2, false, out), "hi");
    r.t.trims_spaces = r.t.adds_space = false;
    assert_text("where none was added", text_of(&r, ids, 2, false, out), " hi");
    rig_close(&r);
}
END_TEST

// --- failures ------------------------------------------------------------------------------------

START_TEST(survives_every_failed_allocation) {
    struct rig r;
    enum status st = ERR_MEMORY;
    int n = 0;
    for (; st != OK; n++) {
        rig_prepare(&r);
        arena_fail_after(&r.arena, n);
        st = tokenizer_init(&r.t, &r.facts, &r.arena, &r.scratch, &r.err);
        ck_assert(st == OK || (st == ERR_MEMORY && r.err.text[0] && !r.t.pieces));
        if (st != OK) rig_close(&r);
    }
    ck_assert_int_gt(n, 5);
    for (st = ERR_MEMORY, n = 0; st != OK; n++) {
        arena_fail_after(&r.scratch, n);
        st = tokenizer_encode(&r.t, "hi", 2, NULL, 0, 0, r.ids, &r.n_ids, &r.scratch,
                              &r.err);
        ck_assert(st == OK || (st == ERR_MEMORY && r.err.text[0] && r.n_ids == 0));
        arena_reset(&r.scratch);
    }
    ck_assert_int_eq(n, 4); // the text as it is merged, symbols, candidates
    rig_close(&r);
}
END_TEST

// Stretches between tokens of the text, each just beyond the room for the last; the first gets a space.
START_TEST(takes_no_more_memory_than_it_says) {
    static char text[200 << 10];
    struct arena arena;
    struct rig r;
    size_t n = 0;
    int n_ids;
    for (size_t room = 258, word = 257; n + word + 3 <= sizeof(text); room *= 2) {
        memset(text + n, 'h', word);
        memcpy(text + n + word, "<t>", 3);
        n += word + 3;
        word = room + 1;
    }
    rig_prepare(&r);
    rig_build(&r);
    arena_init(&arena, tokenizer_work_bytes(&r.t, n));
    token_id *ids = ARENA_NEW(&arena, token_id, tokenizer_max_ids(&r.t, n));
    assert_status("encode",
                  tokenizer_encode(&r.t, text, n, NULL, 0, 0, ids, &n_ids, &arena, &r.err),
                  OK);
    arena_free(&arena);
    rig_close(&r);
}
END_TEST

// --- property ------------------------------------------------------------------------------------

// What only has characters with a spelling comes back, whatever is cached on the way.
START_TEST(gives_back_the_text_that_went_in) {
    static const char *const parts[] = {"h",  "i", "hi",  " ",   "  ",
                                        "\n", "ø", "<t>", "<X>", " hi"};
    struct draw d = draw_start("tokenizer_spm");
    for (int round = 0; round < 300; round++) {
        struct rig r;
        static char text[8192], out[8192];
        static token_id ids[8192];
        size_t n = 0;
        int n_ids;
        rig_prepare(&r);
        r.facts.adds_space = draw_int(&d, 0, 1);
        rig_build(&r);
        for (int i = draw_int(&d, 0, 2000); i > 0; i--) {
            const char *part = parts[draw_int(&d, 0, ROWS(parts) - 1)];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        text[n] = '\0';
        assert_status(
            "encode",
            tokenizer_encode(&r.t, text, n, NULL, 0, 0, ids, &n_ids, &r.scratch, &r.err),
            OK);
        // where a token is first, no space was added, and the first of the text's own goes with decoding
        bool has_own = text[0] == '<' || (text[0] == ' ' && text[1] == ' ');
        if (!r.facts.adds_space || !has_own)
            assert_text("text", text_of(&r, ids, n_ids, true, out), text);
        rig_close(&r);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/tokenizer_spm");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_loop_test(reference, encodes_as_worked_out_by_hand, 0, ROWS(cases));
    tcase_add_test(reference, drops_the_first_space_of_a_text_and_no_other);
    TCase *edges = tcase_in(s, "edges");
    tcase_add_test(edges, merges_over_a_space_where_a_token_does);
    tcase_add_test(edges, takes_the_lowest_of_equal_byte_tokens);
    tcase_add_test(edges, what_looks_like_markup_is_markup_whatever_its_kind);
    tcase_add_test(edges, takes_spaces_with_a_token_that_asks_for_them);
    tcase_add_test(edges, takes_white_space_of_all_kinds);
    tcase_add_test(edges, puts_a_space_behind_special_tokens_or_only_where_it_is_missing);
    tcase_add_test(edges, puts_bos_and_eos_around_once_and_only_if_the_file_asks);
    TCase *failures = tcase_in(s, "failures");
    tcase_add_test(failures, survives_every_failed_allocation);
    tcase_add_test(failures, takes_no_more_memory_than_it_says);
    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, gives_back_the_text_that_went_in);
    return s;
}
