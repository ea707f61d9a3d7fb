// Byte-pair encoding against lists of merges worked out by hand, and against the slow rule itself:
// look through the whole word for the best pair, merge it, start again. Only the last test asks how
// the time grows.
#include "level2-operator/tokenizer/bpe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/support/suite.h"

enum { MAX_TOKENS = 64, MAX_MERGES = 64, MAX_TEXT = 16, WHAT_BYTES = 256 };

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

static token_id find_or_add(struct vocabulary *v, const char *text) {
    token_id id = find(v, text);
    if (id >= 0) return id;
    ck_assert(v->n_tokens < MAX_TOKENS && strlen(text) < MAX_TEXT);
    snprintf(v->text[v->n_tokens], MAX_TEXT, "%s", text);
    return v->n_tokens++;
}

// The next merge of the list. Nothing when the pair is known or there is no room.
static void vocabulary_merge(struct vocabulary *v, const char *left, const char *right) {
    char joined[2 * MAX_TEXT];
    snprintf(joined, sizeof(joined), "%s%s", left, right);
    struct bpe_merge *m = &v->merges[v->bpe.n_merges];
    if (v->bpe.n_merges == MAX_MERGES || strlen(joined) >= MAX_TEXT ||
        v->n_tokens + 3 > MAX_TOKENS)
        return;
    *m = (struct bpe_merge){.left = find_or_add(v, left), .right = find_or_add(v, right)};
    if (!table_put(&v->bpe.pairs, m, 2 * sizeof(token_id), (uint32_t)v->bpe.n_merges))
        return;
    m->merged = find_or_add(v, joined);
    v->bpe.n_merges++;
}

// "a b,ab c": two merges, the first one merged first.
static void vocabulary_merges(struct vocabulary *v, const char *list) {
    char copy[64], *rest = copy;
    snprintf(copy, sizeof(copy), "%s", list);
    for (char *merge; (merge = strtok_r(rest, ",", &rest));) {
        char *space = strchr(merge, ' ');
        *space = '\0';
        vocabulary_merge(v, merge, space + 1);
    }
}

// All memory is of exactly the size promised, so that a byte too many is seen.
static int encode(const struct bpe *b, const char *word, size_t n_bytes, token_id *ids) {
    struct bpe_work work = {.symbols = malloc(n_bytes * sizeof(struct bpe_symbol)),
                            .candidates = malloc(2 * n_bytes * sizeof(uint64_t)),
                            .max_bytes = n_bytes};
    token_id *exact = malloc(n_bytes * sizeof(*exact));
    int n_ids = bpe_encode(b, word, n_bytes, exact, &work);
    ck_assert_msg(n_ids >= 0 && (size_t)n_ids <= n_bytes, "%d ids from %zu bytes", n_ids,
                  n_bytes);
    if (n_ids > 0) memcpy(ids, exact, (size_t)n_ids * sizeof(*ids));
    free(exact);
    free(work.symbols);
    free(work.candidates);
    return n_ids;
}

// --- worked out by hand --------------------------------------------------------------------------

START_TEST(worked_example) {
    enum { L, O, W, E, R, LO, LOW, ER, WE };
    static const token_id want[] = {LOW, ER};
    struct vocabulary v;
    token_id ids[5];

    vocabulary_open(&v, "lower");
    ck_assert_int_eq(v.n_tokens, 5);
    vocabulary_merges(&v, "l o,lo w,e r,w e"); // ids in the order above
    int n_ids = encode(&v.bpe, "lower", 5, ids);
    assert_ids("bpe_encode(\"lower\"; merges l o, lo w, e r, w e) ids", ids, (size_t)n_ids,
               want, 2);
    arena_free(&v.arena);
}
END_TEST

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
    {"a new pair on the left",              "b c,a bc",          "aabc",    "a|abc"    },
    {"two ways to one token",               "a b,b c,ab c,a bc", "abc",     "abc"      },
    {"a single symbol",                     "a b",               "a",       "a"        },
    {"an empty word",                       "a b",               "",        ""         },
    {"unknown bytes are dropped",           "a b",               "?a??b?",  "ab"       },
    {"nothing but unknown bytes",           "a b",               "???",     ""         },
};

START_TEST(merges_as_worked_out_by_hand) {
    struct vocabulary v;
    char what[WHAT_BYTES], got[256] = "";
    token_id ids[64];

    vocabulary_open(&v, "abcd");
    vocabulary_merges(&v, cases[_i].merges);
    int n_ids = encode(&v.bpe, cases[_i].word, strlen(cases[_i].word), ids);
    for (int i = 0; i < n_ids; i++) {
        bool is_known = ids[i] >= 0 && ids[i] < v.n_tokens;
        if (i > 0) strcat(got, "|");
        strcat(got, is_known ? v.text[ids[i]] : "(no token)");
    }
    snprintf(what, sizeof(what), "bpe_encode(\"%s\"; merges %s; %s)", cases[_i].word,
             cases[_i].merges, cases[_i].name);
    assert_text(what, got, cases[_i].want);
    arena_free(&v.arena);
}
END_TEST

START_TEST(bytes_are_no_letters) { // zero does not end a word, and none is negative
    static const token_id want[] = {0, 2, 3, 1};
    struct vocabulary v;
    token_id ids[4];
    vocabulary_open(&v, "ab");
    v.bpe.byte_token[0] = 2;
    v.bpe.byte_token[0xc3] = 3;
    int n_ids = encode(&v.bpe,
                       "a\0\xc3"
                       "b",
                       4, ids);
    assert_ids("bpe_encode(bytes 61 00 C3 62; no merges) ids", ids, (size_t)n_ids, want, 4);
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
static void vocabulary_draw(struct vocabulary *v, struct draw *d, int n_tries) {
    vocabulary_open(v, draw_int(d, 0, 1) ? "ab" : "abc");
    for (int i = 0; i < n_tries; i++) {
        int left = draw_int(d, 0, v->n_tokens - 1), right = draw_int(d, 0, v->n_tokens - 1);
        vocabulary_merge(v, v->text[left], v->text[right]);
    }
}

// The merges as text, "a b,ab c", as far as there is room.
static const char *merges_text(const struct vocabulary *v, char *out, size_t n_bytes) {
    size_t n = 0;
    out[0] = '\0';
    for (int r = 0; r < v->bpe.n_merges && n < n_bytes; r++) {
        const struct bpe_merge *m = &v->merges[r];
        n += (size_t)snprintf(out + n, n_bytes - n, "%s%s %s", r > 0 ? "," : "",
                              v->text[m->left], v->text[m->right]);
    }
    return out;
}

static const int lengths[] = {1, 2, 3,  5,  7,
                              8, 9, 33, 64, 129}; // the shortest that differs is told
enum { N_LENGTHS = sizeof(lengths) / sizeof(lengths[0]), MAX_LENGTH = 129 };

START_TEST(gives_what_the_slow_rule_gives) {
    struct draw d = draw_start("bpe");
    int n_bytes = lengths[_i];
    char word[MAX_LENGTH], list[150], what[2 * WHAT_BYTES];
    token_id got[MAX_LENGTH], want[MAX_LENGTH];

    for (int round = 0; round < 40; round++) {
        struct vocabulary v;
        vocabulary_draw(&v, &d, round);
        for (int i = 0; i < n_bytes; i++) word[i] = "aabbc?"[draw_int(&d, 0, 5)];
        int n_want = encode_slowly(&v.bpe, word, (size_t)n_bytes, want);
        int n_got = encode(&v.bpe, word, (size_t)n_bytes, got);
        snprintf(what, sizeof(what), "bpe_encode(\"%.*s\"; merges %s) ids", n_bytes, word,
                 merges_text(&v, list, sizeof(list)));
        assert_ids(what, got, (size_t)n_got, want, (size_t)n_want);
        arena_free(&v.arena);
    }
}
END_TEST

// --- growth --------------------------------------------------------------------------------------

// Seconds of the processor that this process took, the least of a few tries: another process that
// runs at the same time does not count.
static double seconds(const struct bpe *b, const char *word, size_t n_bytes, int n_tries) {
    token_id *ids = malloc(n_bytes * sizeof(*ids));
    double least = INFINITY;
    for (int i = 0; i < n_tries; i++) {
        struct timespec start, end;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &start);
        encode(b, word, n_bytes, ids);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
        least = fmin(least, (double)(end.tv_sec - start.tv_sec) +
                                1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    }
    free(ids);
    return least;
}

// TOK-06. 32 times as many letters: n log n takes about 50 times as long, n squared 1,000 times.
START_TEST(time_grows_little_faster_than_the_word) {
    enum { SHORT = 250, LONG = 32 * SHORT, LIMIT = 150 };
    static char word[LONG];
    struct draw d = draw_start("growth");
    struct vocabulary v;
    double ratio = INFINITY, spent = 0;

    vocabulary_open(&v, "ab");
    vocabulary_merges(&v, "a a,a b,aa aa,b a,ab b,aa ab");
    for (int i = 0; i < LONG; i++) word[i] = _i == 0 || draw_int(&d, 0, 1) ? 'a' : 'b';
    for (int try = 0; try < 5 && ratio > LIMIT && spent < 0.2; try++) {
        double once = seconds(&v.bpe, word, SHORT, 20);
        double many = seconds(&v.bpe, word, LONG, 1);
        ratio = fmin(ratio, many / once);
        spent += many;
    }
    if (ratio > LIMIT)
        report_differs_text("time of bpe_encode(8,000 letters) over that of 250 letters", 0,
                            "more than 150", "about 50");
    ck_assert_msg(ratio <= LIMIT,
                  "8,000 letters take %.0f times as long as 250, at most %d are allowed: "
                  "n log n is about 50, n squared 1,000",
                  ratio, LIMIT);
    arena_free(&v.arena);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/bpe");
    TCase *worked = tcase_create("worked example");
    tcase_add_test(worked, worked_example);
    suite_add_tcase(s, worked);

    TCase *hand = tcase_create("by hand");
    tcase_add_loop_test(hand, merges_as_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    tcase_add_test(hand, bytes_are_no_letters);
    suite_add_tcase(s, hand);

    TCase *rule = tcase_create("slow rule");
    tcase_add_loop_test(rule, gives_what_the_slow_rule_gives, 0, N_LENGTHS);
    suite_add_tcase(s, rule);

    TCase *growth = tcase_create("growth");
    tcase_add_loop_test(growth, time_grows_little_faster_than_the_word, 0, 2);
    suite_add_tcase(s, growth);
    return s;
}
