// SentencePiece's merging against the slow rule itself: look through the whole word for the best pair,
// merge it, start again. The `sentencepiece` package judges whole texts in tests/reference.
#include "level2-operator/tokenizer/spm.h"

#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

enum { N_PIECES = 19, UNKNOWN = 100, FIRST_BYTE = 200, MAX_WORD = 64 };

static const struct {
    const char *text;
    float score;
} pieces[N_PIECES] = {
    {"a",   -9   },
    {"b",   -9   },
    {"c",   -9   },
    {" ",   -9   },
    {"é",  -9   },
    {"ab",  -1   },
    {"bc",  -2   },
    {"abc", -3   },
    {" a",  -2   },
    {"  ",  -4   },
    {"aa",  -5   },
    {"bb",  -5   },
    {"éa", -0.5f},
    {"x",   -9   },
    {"y",   -9   },
    {"yy",  -1   },
    {"xy",  -5   },
    {"xyy", -5   },
    {"a b", -8   },
};

struct rig {
    struct arena arena;
    struct spm spm;
    struct spm_work work;
};

static void rig_open(struct rig *r, int n_pieces, bool has_bytes) {
    memset(r, 0, sizeof(*r));
    arena_init(&r->arena, 64 << 20);
    ck_assert_int_eq(table_init(&r->spm.by_text, &r->arena, N_PIECES, NULL), OK);
    r->spm.ranks = ARENA_NEW(&r->arena, uint32_t, N_PIECES);
    for (int id = 0; id < n_pieces; id++) {
        table_put(&r->spm.by_text, pieces[id].text, strlen(pieces[id].text), (uint32_t)id);
        r->spm.ranks[id] = spm_rank(pieces[id].score);
    }
    r->spm.joins_space['a'] = n_pieces == N_PIECES; // "a b"
    r->spm.unknown = UNKNOWN;
    for (int byte = 0; byte < 256; byte++)
        r->spm.byte_token[byte] = has_bytes ? FIRST_BYTE + byte : -1;
}

static int encode(struct rig *r, const char *word, size_t n, token_id *ids) {
    size_t n_symbols = spm_count(word, n); // exactly, so that ASan sees one too many
    struct spm_symbol *symbols = malloc(n_symbols * sizeof(*symbols));
    uint64_t *candidates = malloc(2 * n_symbols * sizeof(*candidates));
    r->work = (struct spm_work){symbols, candidates, n_symbols};
    int n_ids = spm_encode(&r->spm, word, n, ids, &r->work);
    free(symbols);
    free(candidates);
    return n_ids;
}

static const struct {
    const char *name, *word;
    token_id want[8];
    int n_want;
} cases[] = {
    {"nothing",                            "",         {0},              0},
    {"one character",                      "a",        {0},              1},
    {"the better score wins",              "abc",      {7},              1},
    {"and may stand to the right",         "bbc",      {1, 6},           2},
    {"of equals the leftmost",             "aaa",      {10, 0},          2},
    {"equals over a whole run",            "aaaa",     {10, 10},         2},
    {"characters of two bytes",            "éa",      {12},             1},
    {"a space joins what follows",         " ab",      {3, 5},           2},
    {"a merge makes another one possible", " ac",      {8, 2},           2},
    {"what no piece spells is bytes",      "aøb",     {0, 395, 384, 1}, 4},
    {"broken bytes are bytes",             "\xe2\x80", {426, 328},       2},
    {"the same rank twice at one place",   "xyy",      {17},             1},
    {"a zero byte would end nothing",      "a\x01",    {0, 201},         2},
};

START_TEST(merges_as_worked_out_by_hand) {
    struct rig r;
    token_id ids[MAX_WORD];
    rig_open(&r, N_PIECES, true);
    int n = encode(&r, cases[_i].word, strlen(cases[_i].word), ids);
    assert_ids(cases[_i].name, ids, (size_t)n, cases[_i].want, (size_t)cases[_i].n_want);
    arena_free(&r.arena);
}
END_TEST

START_TEST(puts_one_unknown_for_a_run_or_drops_it) {
    struct rig r;
    token_id ids[MAX_WORD];
    rig_open(&r, N_PIECES, false);
    int n = encode(&r, "aøøøbø\xff", 10, ids);
    assert_ids("runs", ids, (size_t)n, (const token_id[]){0, UNKNOWN, 1, UNKNOWN}, 4);
    r.spm.byte_token[0xc3] = FIRST_BYTE; // one byte of two is not enough
    n = encode(&r, "ø", 2, ids);
    assert_ids("half", ids, (size_t)n, (const token_id[]){UNKNOWN}, 1);
    r.spm.unknown = -1;
    n = encode(&r, "aøb", 4, ids);
    assert_ids("dropped", ids, (size_t)n, (const token_id[]){0, 1}, 2);
    arena_free(&r.arena);
}
END_TEST

START_TEST(ranks_scores_in_the_opposite_order) {
    static const float scores[] = {3e38f, 7, 1, 1e-40f, 0, -1e-40f, -1, -7, -3e38f};
    for (int i = 1; i < ROWS(scores); i++)
        ck_assert_uint_lt(spm_rank(scores[i - 1]), spm_rank(scores[i]));
    ck_assert_uint_eq(spm_rank(0.0f), spm_rank(-0.0f));
}
END_TEST

START_TEST(cuts_only_where_no_piece_reaches_over) {
    struct rig r;
    rig_open(&r, N_PIECES - 1, true); // without "a b"
    ck_assert_uint_eq(spm_next(&r.spm, "ab ab", 5), 2);
    ck_assert_uint_eq(spm_next(&r.spm, " ab  b", 6), 3);
    ck_assert_uint_eq(spm_next(&r.spm, "   b", 4), 4);
    ck_assert_uint_eq(spm_next(&r.spm, "ab", 2), 2);
    r.spm.joins_space['b'] = true;
    ck_assert_uint_eq(spm_next(&r.spm, "ab ac a", 7), 5);
    arena_free(&r.arena);
}
END_TEST

// 200,000 letters, of which every second pair merges: chain and heap fit the room that they were given.
START_TEST(takes_a_very_long_word) {
    enum { N = 200000 };
    struct rig r;
    rig_open(&r, N_PIECES, true);
    char *word = malloc(N);
    token_id *ids = malloc(N * sizeof(*ids));
    memset(word, 'a', N);
    ck_assert_int_eq(encode(&r, word, N, ids), N / 2);
    for (int i = 0; i < N / 2; i++) ck_assert_int_eq(ids[i], 10);
    free(word);
    free(ids);
    arena_free(&r.arena);
}
END_TEST

// --- the slow rule -------------------------------------------------------------------------------

static int slow_encode(const struct rig *r, const char *word, size_t n, token_id *ids) {
    size_t begins[MAX_WORD + 1];
    int n_parts = 0, n_ids = 0;
    for (size_t pos = 0, n_used; pos < n; pos += n_used) {
        begins[n_parts++] = pos;
        utf8_next(word + pos, n - pos, &n_used);
    }
    for (;;) {
        int best = -1;
        uint32_t id, best_id = 0;
        begins[n_parts] = n;
        for (int i = 0; i + 1 < n_parts; i++) {
            if (!table_get(&r->spm.by_text, word + begins[i], begins[i + 2] - begins[i],
                           &id))
                continue;
            if (best < 0 || pieces[id].score > pieces[best_id].score)
                best = i, best_id = id;
        }
        if (best < 0) break;
        for (int i = best + 1; i < n_parts; i++) begins[i] = begins[i + 1];
        n_parts--;
    }
    for (int i = 0; i < n_parts; i++) {
        uint32_t id;
        size_t n_part = begins[i + 1] - begins[i];
        if (table_get(&r->spm.by_text, word + begins[i], n_part, &id)) {
            ids[n_ids++] = (token_id)id;
            continue;
        }
        for (size_t k = 0; k < n_part; k++)
            ids[n_ids++] = FIRST_BYTE + (unsigned char)word[begins[i] + k];
    }
    return n_ids;
}

// Cut into words first, as a tokenizer does.
START_TEST(does_as_the_slow_rule_does) {
    static const char *const parts[] = {"a",   "b", "c",    " ", "é", "aa", "ab",
                                        "a b", "ø", "\xff", "x", "y", "yy"};
    struct draw d = draw_start("spm");
    for (int round = 0; round < 3000; round++) {
        struct rig r;
        char word[MAX_WORD];
        token_id ids[MAX_WORD], want[MAX_WORD];
        size_t n = 0;
        int n_ids = 0;
        rig_open(&r, draw_int(&d, 8, N_PIECES), true);
        for (int n_parts = draw_int(&d, 0, 20); n_parts > 0; n_parts--) {
            const char *part = parts[draw_int(&d, 0, ROWS(parts) - 1)];
            memcpy(word + n, part, strlen(part));
            n += strlen(part);
        }
        for (size_t pos = 0, n_word; pos < n; pos += n_word) {
            n_word = spm_next(&r.spm, word + pos, n - pos);
            n_ids += encode(&r, word + pos, n_word, ids + n_ids);
        }
        int n_want = slow_encode(&r, word, n, want);
        assert_ids("a drawn word", ids, (size_t)n_ids, want, (size_t)n_want);
        arena_free(&r.arena);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/spm");
    TCase *reference = tcase_in(s, "reference");
    tcase_add_loop_test(reference, merges_as_worked_out_by_hand, 0, ROWS(cases));
    tcase_add_test(reference, ranks_scores_in_the_opposite_order);
    TCase *edges = tcase_in(s, "edges");
    tcase_add_test(edges, puts_one_unknown_for_a_run_or_drops_it);
    tcase_add_test(edges, cuts_only_where_no_piece_reaches_over);
    tcase_add_test(edges, takes_a_very_long_word);
    TCase *property = tcase_in(s, "property");
    tcase_add_test(property, does_as_the_slow_rule_does);
    return s;
}
