// Byte-pair encoding against a list of merges worked out by hand, and against the slow rule itself:
// look through the whole word for the best pair, merge it, start again.
#include "level2-operator/bpe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/suite.h"

enum { MAX_TOKENS = 64, MAX_MERGES = 64, MAX_TEXT = 16 };

// A vocabulary that is built merge by merge. A token's text is its letters.
struct vocabulary {
    struct arena arena;
    struct bpe bpe;
    struct bpe_merge merges[MAX_MERGES];
    char text[MAX_TOKENS][MAX_TEXT];
    int n_tokens;
};

static void vocabulary_open(struct vocabulary *v, const char *letters) {
    memset(v, 0, sizeof(*v));
    arena_init(&v->arena, 1 << 20);
    ck_assert_int_eq(table_init(&v->bpe.pairs, &v->arena, MAX_MERGES, NULL), OK);
    v->bpe.merges = v->merges;
    for (int byte = 0; byte < 256; byte++) v->bpe.byte_token[byte] = -1;
    for (; *letters; letters++) {
        v->text[v->n_tokens][0] = *letters;
        v->bpe.byte_token[(unsigned char)*letters] = v->n_tokens++;
    }
}

static token_id find(const struct vocabulary *v, const char *text) {
    for (int id = 0; id < v->n_tokens; id++)
        if (strcmp(v->text[id], text) == 0) return id;
    return -1;
}

// The next merge of the list. Two merges may make the same token. false: no room, or known.
static bool vocabulary_merge(struct vocabulary *v, const char *left, const char *right) {
    char joined[2 * MAX_TEXT];
    snprintf(joined, sizeof(joined), "%s%s", left, right);
    struct bpe_merge *m = &v->merges[v->bpe.n_merges];
    if (v->bpe.n_merges == MAX_MERGES || strlen(joined) >= MAX_TEXT) return false;
    *m = (struct bpe_merge){find(v, left), find(v, right), find(v, joined)};
    if (m->merged < 0 && v->n_tokens == MAX_TOKENS) return false;
    if (!table_put(&v->bpe.pairs, m, 2 * sizeof(token_id), (uint32_t)v->bpe.n_merges))
        return false;
    if (m->merged < 0) {
        m->merged = v->n_tokens++;
        memcpy(v->text[m->merged], joined, strlen(joined) + 1);
    }
    v->bpe.n_merges++;
    return true;
}

// Work memory of exactly the size asked for, so that a byte too many is seen.
static int encode(const struct bpe *b, const char *word, size_t n_bytes, token_id *ids) {
    struct bpe_work work = {.symbols = malloc(n_bytes * sizeof(struct bpe_symbol) + 1),
                            .candidates = malloc(2 * n_bytes * sizeof(uint64_t) + 1),
                            .max_bytes = n_bytes};
    int n_ids = bpe_encode(b, word, n_bytes, ids, &work);
    free(work.symbols);
    free(work.candidates);
    return n_ids;
}

// "th|e", for a word of at most 64 bytes.
static const char *encoded(struct vocabulary *v, const char *word, char out[256]) {
    token_id ids[64];
    int n_ids = encode(&v->bpe, word, strlen(word), ids);
    out[0] = '\0';
    for (int i = 0; i < n_ids; i++) {
        if (i > 0) strcat(out, "|");
        strcat(out, v->text[ids[i]]);
    }
    return out;
}

// --- worked out by hand --------------------------------------------------------------------------

static const struct {
    const char *name, *merges; // "left right" with commas between, best first
    const char *word, *want;
} cases[] = {
    {"no merge in the list",                "a b",               "acb",     "a|c|b"    },
    {"one pair",                            "a b",               "ab",      "ab"       },
    {"a pair has an order",                 "a b",               "ba",      "b|a"      },
    {"lower rank first",                    "b c,a b",           "abc",     "a|bc"     },
    {"not simply from the left",            "a b,b c",           "abc",     "ab|c"     },
    {"leftmost of equals",                  "a a",               "aaa",     "aa|a"     },
    {"merges of merges",                    "a b,ab c",          "abcab",   "abc|ab"   },
    {"doubling",                            "a a,aa aa",         "aaaaaaa", "aaaa|aa|a"},
    {"a merge can hide a better one later", "b c,a b,bc d",      "abcd",    "a|bcd"    },
    {"a pair that is stale is not merged",  "a b,b c,c d",       "abcd",    "ab|cd"    },
    {"a new pair may be the best of all",   "ab c,a b,c d",      "abcd",    "abc|d"    },
    {"two ways to one token",               "a b,b c,ab c,a bc", "abc",     "abc"      },
    {"a single symbol",                     "a b",               "a",       "a"        },
    {"an empty word",                       "a b",               "",        ""         },
    {"unknown bytes are dropped",           "a b",               "?a??b?",  "ab"       },
    {"nothing but unknown bytes",           "a b",               "???",     ""         },
};

START_TEST(merges_as_worked_out_by_hand) {
    struct vocabulary v;
    char out[256], merges[64], *rest = merges;

    vocabulary_open(&v, "abcd");
    snprintf(merges, sizeof(merges), "%s", cases[_i].merges);
    for (char *merge; (merge = strtok_r(rest, ",", &rest));) {
        char *space = strchr(merge, ' ');
        *space = '\0';
        if (find(&v, merge) < 0 || find(&v, space + 1) < 0) { // "ab c" before "a b"
            char *text = v.text[v.n_tokens++];
            snprintf(text, MAX_TEXT, "%s", find(&v, merge) < 0 ? merge : space + 1);
        }
        ck_assert(vocabulary_merge(&v, merge, space + 1));
    }
    ck_assert_msg(strcmp(encoded(&v, cases[_i].word, out), cases[_i].want) == 0,
                  "%s: %s gives %s, want %s", cases[_i].name, cases[_i].word, out,
                  cases[_i].want);
    arena_free(&v.arena);
}
END_TEST

// --- against the rule ----------------------------------------------------------------------------

static int encode_slowly(const struct bpe *b, const char *word, size_t n_bytes,
                         token_id *ids) {
    int n = 0;
    for (size_t i = 0; i < n_bytes; i++) {
        token_id id = b->byte_token[(unsigned char)word[i]];
        if (id >= 0) ids[n++] = id;
    }
    for (;;) {
        int at = -1, rank = b->n_merges;
        for (int i = 0; i + 1 < n; i++)
            for (int r = 0; r < rank; r++)
                if (b->merges[r].left == ids[i] && b->merges[r].right == ids[i + 1])
                    rank = r, at = i;
        if (at < 0) return n;
        ids[at] = b->merges[rank].merged;
        memmove(ids + at + 1, ids + at + 2, (size_t)(n - at - 2) * sizeof(*ids));
        n--;
    }
}

// Random merges of random tokens over few letters, so that pairs meet often.
static void vocabulary_draw(struct vocabulary *v, struct draw *d) {
    vocabulary_open(v, draw_int(d, 0, 1) ? "ab" : "abc");
    int n_tries = draw_int(d, 0, 40);
    for (int i = 0; i < n_tries; i++) {
        int left = draw_int(d, 0, v->n_tokens - 1), right = draw_int(d, 0, v->n_tokens - 1);
        vocabulary_merge(v, v->text[left], v->text[right]);
    }
}

START_TEST(gives_what_the_slow_rule_gives) {
    static const int lengths[] = {1, 2, 3, 7, 8, 9, 33, 64, 129};
    struct draw d = draw_start("bpe");

    for (int round = 0; round < 2000; round++) {
        struct vocabulary v;
        vocabulary_draw(&v, &d);
        char word[129];
        token_id got[129], want[129];
        int n_bytes = lengths[draw_int(&d, 0, 8)];
        for (int i = 0; i < n_bytes; i++) word[i] = "aabbc?"[draw_int(&d, 0, 5)];

        int n_want = encode_slowly(&v.bpe, word, (size_t)n_bytes, want);
        int n_got = encode(&v.bpe, word, (size_t)n_bytes, got);
        ck_assert_msg(n_got == n_want && !memcmp(got, want, (size_t)n_got * sizeof(*got)),
                      "round %d: %.*s gives other ids than the slow rule", round, n_bytes,
                      word);
        arena_free(&v.arena);
    }
}
END_TEST

START_TEST(loses_no_letter_that_has_a_symbol) {
    struct draw d = draw_start("letters");

    for (int round = 0; round < 500; round++) {
        struct vocabulary v;
        vocabulary_draw(&v, &d);
        char word[34] = "", joined[34] = "";
        token_id ids[33];
        int n_bytes = draw_int(&d, 1, 33);
        for (int i = 0; i < n_bytes; i++) word[i] = "ab"[draw_int(&d, 0, 1)];
        int n_ids = encode(&v.bpe, word, (size_t)n_bytes, ids);
        for (int i = 0; i < n_ids; i++) strcat(joined, v.text[ids[i]]);
        ck_assert_str_eq(joined, word);
        arena_free(&v.arena);
    }
}
END_TEST

// --- long words ----------------------------------------------------------------------------------

// Seconds of this process, the least of five tries.
static double seconds(const struct bpe *b, const char *word, size_t n_bytes,
                      token_id *ids) {
    double least = 1e9;
    for (int i = 0; i < 5; i++) {
        clock_t start = clock();
        encode(b, word, n_bytes, ids);
        double s = (double)(clock() - start) / CLOCKS_PER_SEC;
        if (s < least) least = s;
    }
    return least;
}

// TOK-06. The slow rule would take four times as long for twice the letters.
START_TEST(a_word_twice_as_long_takes_about_twice_as_long) {
    enum { N = 100000 };
    struct vocabulary v;
    char *word = malloc(2 * N);
    token_id *ids = malloc(2 * N * sizeof(*ids));
    double ratio = 1e9;

    vocabulary_open(&v, "a");
    vocabulary_merge(&v, "a", "a");
    vocabulary_merge(&v, "aa", "aa");
    memset(word, 'a', 2 * N);
    for (int try = 0; try < 5 && ratio >= 3; try++)
        ratio = seconds(&v.bpe, word, 2 * N, ids) / seconds(&v.bpe, word, N, ids);
    ck_assert_msg(ratio < 3, "twice the letters took %.1f times as long", ratio);
    ck_assert_int_eq(encode(&v.bpe, word, 2 * N, ids), 2 * N / 4);
    for (int i = 0; i < 2 * N / 4; i++) ck_assert_int_eq(ids[i], find(&v, "aaaa"));
    free(ids);
    free(word);
    arena_free(&v.arena);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/bpe");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, merges_as_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_set_timeout(edges, 120);
    tcase_add_test(edges, a_word_twice_as_long_takes_about_twice_as_long);
    suite_add_tcase(s, edges);
    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 60);
    tcase_add_test(property, gives_what_the_slow_rule_gives);
    tcase_add_test(property, loses_no_letter_that_has_a_symbol);
    suite_add_tcase(s, property);
    return s;
}
