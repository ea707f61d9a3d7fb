// Stop strings: what is shown must not depend on how the text was cut into pieces.
#include "level2-operator/stop.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

#define FFFD "\xEF\xBF\xBD"
enum { MAX_TEXT = 4096 };

// What a reader sees, gathered piece by piece.
struct seen {
    struct arena arena;
    struct stop stop;
    char text[3 * MAX_TEXT];
    size_t n_text;
};

static void seen_open(struct seen *s, const struct stop_string *strings, int n_strings,
                      bool include_stop) {
    arena_init(&s->arena, 1 << 20);
    ck_assert_int_eq(stop_init(&s->stop, strings, n_strings, MAX_TEXT, &s->arena, NULL),
                     OK);
    s->stop.include_stop = include_stop;
    s->n_text = 0;
}

static void seen_add(struct seen *s, const char *text, size_t n_text) {
    ck_assert_msg(utf8_valid(text, n_text), "a piece that is not UTF-8 was shown");
    ck_assert_uint_le(s->n_text + n_text, sizeof(s->text));
    memcpy(s->text + s->n_text, text, n_text);
    s->n_text += n_text;
}

// text as it would stand in C source, cut to what out holds.
static const char *printable(char *out, size_t capacity, const char *text, size_t n_text) {
    size_t n = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n_text && n + 5 <= capacity; i++) {
        unsigned char c = (unsigned char)text[i];
        n += (size_t)snprintf(out + n, capacity - n, c < ' ' || c > '~' ? "\\x%02X" : "%c",
                              c);
    }
    return out;
}

static bool seen_push(struct seen *s, const char *piece, size_t n_bytes) {
    const char *text;
    size_t n_text;
    bool matched = stop_push(&s->stop, piece, n_bytes, &text, &n_text);
    seen_add(s, text, n_text);
    return matched;
}

static void seen_close(struct seen *s) {
    const char *text;
    size_t n_text;
    stop_flush(&s->stop, &text, &n_text);
    seen_add(s, text, n_text);
    s->text[s->n_text] = '\0';
    arena_free(&s->arena);
}

// --- cases with answers worked out by hand ------------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    const char *stops[4];
    bool include_stop;
    const char *pieces[8];
    const char *want[8]; // shown after each piece
    const char *flushed;
} cases[] = {
    {"SRV-01 a character in two tokens", {NULL}, false,
     {"\xF0\x9F\x98", "\x80"}, {"", "\xF0\x9F\x98\x80"}, ""},
    {"SRV-02 half a character at the end", {NULL}, false,
     {"ok", "\xF0\x9F\x98"}, {"ok", ""}, FFFD},
    {"SRV-03 stop text over several tokens", {"own fox"}, false,
     {"The quick br", "own", " fox"}, {"The quick br", "", ""}, ""},
    {"SRV-04 a held tail that never matches", {"END"}, false,
     {"THE E", "E"}, {"THE ", "E"}, "E"},
    {"only a true prefix is held", {"END"}, false, {"EN", "D"}, {"", ""}, ""},
    {"a prefix that breaks is shown", {"END"}, false, {"EN", "E", "X"}, {"", "EN", "EX"}, ""},
    {"aab in aaab", {"aab"}, false, {"a", "a", "a", "b"}, {"", "", "a", ""}, ""},
    {"the first match counts", {"late", "so"}, false, {"xsolate"}, {"x"}, ""},
    {"complete first, though it begins later", {"abcd", "bc"}, false, {"xabcd"}, {"xa"}, ""},
    {"of two that end together the longer", {"b", "ab"}, false, {"xab"}, {"x"}, ""},
    {"nothing after the match", {"."}, false, {"a.b", "c"}, {"a", ""}, ""},
    {"the stop string itself", {"own fox"}, true,
     {"br", "own", " fox!"}, {"br", "", "own fox"}, ""},
    {"a stop string that begins inside another", {"abcd", "bx"}, false,
     {"ab", "x"}, {"", "a"}, ""},
    {"invalid bytes one by one", {NULL}, false,
     {"a\xFFz\xC0\x80"}, {"a" FFFD "z" FFFD FFFD}, ""},
    {"half a character before a stop prefix", {"END"}, false,
     {"\xF0\x9F" "E", "ND"}, {FFFD FFFD, ""}, ""},
    {"half a character, then a letter", {NULL}, false,
     {"\xE2\x82", "x"}, {"", FFFD FFFD "x"}, ""},
    {"half a stop character is held whole", {"\xC3\xA9"}, false,
     {"\xC3", "\xA8"}, {"", "\xC3\xA8"}, ""},
    {"a stop string that begins inside a character", {"\x80x"}, false,
     {"\xF0\x9F\x98\x80", "x"}, {"", FFFD FFFD FFFD}, ""},
    {"empty pieces", {"x"}, false, {"", "a", ""}, {"", "a", ""}, ""},
};
// clang-format on

// Fails unless what was seen is `want`; other bytes than ASCII are printed as \xHH.
static void assert_seen(const char *what, const struct seen *s, const char *want,
                        size_t n_want) {
    char got_text[4 * 3 * 256 + 1], want_text[4 * 3 * 256 + 1];
    if (s->n_text == n_want && memcmp(s->text, want, n_want) == 0) return;
    ck_abort_msg("%s: shown '%s', want '%s'", what,
                 printable(got_text, sizeof(got_text), s->text, s->n_text),
                 printable(want_text, sizeof(want_text), want, n_want));
}

START_TEST(shows_what_was_worked_out_by_hand) {
    struct stop_string stops[4];
    struct seen s;
    char what[96];
    int n_stops = 0;
    for (; n_stops < 4 && cases[_i].stops[n_stops]; n_stops++) {
        const char *bytes = cases[_i].stops[n_stops];
        stops[n_stops] = (struct stop_string){bytes, strlen(bytes)};
    }
    seen_open(&s, stops, n_stops, cases[_i].include_stop);
    for (int i = 0; i < 8 && cases[_i].pieces[i]; i++) {
        s.n_text = 0;
        seen_push(&s, cases[_i].pieces[i], strlen(cases[_i].pieces[i]));
        snprintf(what, sizeof(what), "%s, after piece %d", cases[_i].name, i);
        assert_seen(what, &s, cases[_i].want[i], strlen(cases[_i].want[i]));
    }
    s.n_text = 0;
    seen_close(&s);
    snprintf(what, sizeof(what), "%s, at the end", cases[_i].name);
    assert_seen(what, &s, cases[_i].flushed, strlen(cases[_i].flushed));
}
END_TEST

// --- edges and failures -------------------------------------------------------------------------

START_TEST(refuses_stop_strings_out_of_range) {
    static char longest[LIMIT_STOP_BYTES + 1];
    struct stop_string stops[LIMIT_STOP_STRINGS + 1] = {
        {"a", 1},
        {"a", 1},
        {"a", 1},
        {"a", 1},
        {"a", 1}
    };
    struct arena arena;
    struct stop s;
    struct error err;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(stop_init(&s, stops, LIMIT_STOP_STRINGS + 1, 8, &arena, &err),
                     ERR_LIMIT);
    ck_assert_str_eq(err.param, "stop");
    stops[1].n_bytes = 0;
    ck_assert_int_eq(stop_init(&s, stops, 2, 8, &arena, &err), ERR_LIMIT);
    stops[1] = (struct stop_string){longest, sizeof(longest)};
    ck_assert_int_eq(stop_init(&s, stops, 2, 8, &arena, &err), ERR_LIMIT);
    stops[1].n_bytes--;
    ck_assert_int_eq(stop_init(&s, stops, 2, 8, &arena, &err), OK);
    arena_free(&arena);
}
END_TEST

START_TEST(says_so_when_memory_is_short) {
    for (long n = 0;; n++) {
        struct arena arena;
        struct stop s;
        struct error err = {0};
        arena_init(&arena, 1 << 20);
        arena_fail_after(&arena, n);
        enum status st = stop_init(&s, NULL, 0, 8, &arena, &err);
        arena_free(&arena);
        if (st == OK) {
            ck_assert_msg(n > 0, "nothing was taken from the arena");
            return;
        }
        ck_assert_int_eq(st, ERR_MEMORY);
        ck_assert_int_eq(err.code, ERR_MEMORY);
        ck_assert_msg(!s.held && !s.shown, "allocation %ld fails: *s is not all zero", n);
    }
}
END_TEST

START_TEST(holds_the_longest_prefix_and_the_longest_piece) {
    static char stop[LIMIT_STOP_BYTES], piece[MAX_TEXT];
    struct seen s;
    memset(stop, 'a', sizeof(stop));
    memset(piece, 'a', sizeof(piece));
    stop[LIMIT_STOP_BYTES - 1] = 'b';
    seen_open(&s, &(struct stop_string){stop, sizeof(stop)}, 1, false);
    for (int i = 0; i < 3; i++) {
        s.n_text = 0;
        ck_assert(!seen_push(&s, piece, sizeof(piece)));
        ck_assert_uint_eq(s.stop.n_held, LIMIT_STOP_BYTES - 1);
    }
    s.n_text = 0;
    ck_assert(seen_push(&s, "b", 1));
    ck_assert_uint_eq(s.n_text, 0);
    seen_close(&s);
}
END_TEST

// --- against the whole text at once -------------------------------------------------------------

// The stop string that is complete first, looked for in the simplest way. Returns the end of what
// may be shown; *matched says whether a stop string was found.
static size_t oracle_end(const char *text, size_t n_text, const struct stop_string *stops,
                         int n_stops, bool include_stop, bool *matched) {
    for (size_t end = 1; end <= n_text; end++) {
        for (size_t begin = 0; begin < end; begin++) {
            for (int i = 0; i < n_stops; i++) {
                if (stops[i].n_bytes != end - begin) continue;
                if (memcmp(text + begin, stops[i].bytes, end - begin) != 0) continue;
                *matched = true;
                return include_stop ? end : begin;
            }
        }
    }
    *matched = false;
    return n_text;
}

static size_t oracle_show(char *out, const char *text, size_t n_text, bool matched) {
    size_t n_whole = matched ? n_text : utf8_whole(text, n_text);
    size_t n_out = utf8_repair(out, text, n_whole);
    if (n_whole < n_text) {
        memcpy(out + n_out, FFFD, 3);
        n_out += 3;
    }
    return n_out;
}

static bool is_held_rightly(const struct stop *s) {
    if (s->n_held == 0 || utf8_whole(s->held, s->n_held) == 0) return true;
    for (int i = 0; i < s->n_strings; i++) {
        if (s->n_held < s->strings[i].n_bytes &&
            memcmp(s->held, s->strings[i].bytes, s->n_held) == 0)
            return true;
    }
    return false;
}

// Letters, whole characters and broken ones.
static const char *const atoms[] = {
    "a",        "b",    "aab", "ab", "E", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
    "\xF0\x9F", "\xFF", "\x80"};
enum { N_LETTERS = 5, N_CHARACTERS = 8, N_ATOMS = sizeof(atoms) / sizeof(atoms[0]) };

static size_t draw_text(struct draw *d, char *out, int n_atoms, int n_kinds) {
    size_t n = 0;
    for (int i = 0; i < n_atoms; i++) {
        const char *atom = atoms[draw_int(d, 0, n_kinds - 1)];
        memcpy(out + n, atom, strlen(atom));
        n += strlen(atom);
    }
    return n;
}

static void describe(char *out, size_t capacity, int round, const char *text, size_t n_text,
                     const struct stop_string *stops, int n_stops) {
    char part[1100];
    int n = snprintf(out, capacity, "round %d, the text '%s'", round,
                     printable(part, sizeof(part), text, n_text));
    for (int i = 0; i < n_stops; i++)
        n += snprintf(out + n, capacity - (size_t)n, ", stop '%s'",
                      printable(part, sizeof(part), stops[i].bytes, stops[i].n_bytes));
}

START_TEST(shows_the_same_however_the_text_is_cut) {
    struct draw d = draw_start("shows_the_same_however_the_text_is_cut");
    int n_matched = 0;

    for (int round = 0; round < 6000; round++) {
        char text[256], bytes[4][64], want[3 * 256], what[4096];
        struct stop_string stops[4];
        int n_kinds = round % 3 == 0 ? N_LETTERS : N_ATOMS;
        bool has_broken_stops = round % 5 == 0, include_stop = draw_int(&d, 0, 3) == 0;
        int n_stops = draw_int(&d, 0, 4);
        for (int i = 0; i < n_stops; i++)
            stops[i] = (struct stop_string){
                bytes[i], draw_text(&d, bytes[i], draw_int(&d, 1, 4),
                                    has_broken_stops       ? N_ATOMS
                                    : n_kinds == N_LETTERS ? N_LETTERS
                                                           : N_CHARACTERS)};
        size_t n_text = draw_text(&d, text, draw_int(&d, 0, 40), n_kinds);

        bool want_match, matched = false;
        size_t end = oracle_end(text, n_text, stops, n_stops, include_stop, &want_match);
        size_t n_want = oracle_show(want, text, end, want_match);

        struct seen s;
        int longest = draw_int(&d, 1, 12);
        seen_open(&s, stops, n_stops, include_stop);
        for (size_t i = 0; i < n_text;) {
            size_t n = (size_t)draw_int(&d, 0, longest);
            if (n > n_text - i) n = n_text - i;
            matched = seen_push(&s, text + i, n);
            if (!has_broken_stops) ck_assert(is_held_rightly(&s.stop));
            i += n;
        }
        seen_close(&s);
        n_matched += matched;
        if (matched == want_match && s.n_text == n_want &&
            memcmp(s.text, want, n_want) == 0)
            continue;
        describe(what, sizeof(what), round, text, n_text, stops, n_stops);
        assert_seen(what, &s, want, n_want);
        ck_abort_msg("%s: %s", what,
                     matched ? "stopped without a stop string" : "did not stop");
    }
    ck_assert_int_gt(n_matched, 1000); // both ends were tried
    ck_assert_int_lt(n_matched, 5000);
}
END_TEST

START_TEST(cuts_at_every_byte_change_nothing) {
    static const char text[] = "a\xC3\xA9 \xE2\x82\xAC\xF0\x9F\x98\x80 aaab END";
    struct stop_string stops[] = {
        {"aab ENX",   7},
        {"\x80 aaa ", 6},
        {" END",      4}
    };
    size_t n_text = sizeof(text) - 1;
    for (size_t i = 0; i <= n_text; i++) {
        for (size_t k = i; k <= n_text; k++) {
            struct seen s;
            seen_open(&s, stops, 3, false);
            seen_push(&s, text, i);
            seen_push(&s, text + i, k - i);
            ck_assert(seen_push(&s, text + k, n_text - k));
            seen_close(&s);
            ck_assert_str_eq(s.text, "a\xC3\xA9 \xE2\x82\xAC\xF0\x9F\x98\x80 aaab");
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/stop");
    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, shows_what_was_worked_out_by_hand, 0,
                        sizeof(cases) / sizeof(cases[0]));
    suite_add_tcase(s, reference);
    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, holds_the_longest_prefix_and_the_longest_piece);
    suite_add_tcase(s, edges);
    TCase *failures = tcase_create("failures");
    tcase_add_test(failures, refuses_stop_strings_out_of_range);
    tcase_add_test(failures, says_so_when_memory_is_short);
    suite_add_tcase(s, failures);
    TCase *property = tcase_create("property");
    tcase_set_timeout(property, 60);
    tcase_add_test(property, shows_the_same_however_the_text_is_cut);
    tcase_add_test(property, cuts_at_every_byte_change_nothing);
    suite_add_tcase(s, property);
    return s;
}
