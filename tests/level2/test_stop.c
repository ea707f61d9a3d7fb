// Stop strings: what is shown, piece by piece and at the end, and that the cuts change nothing.
#include "level2-operator/api/stop.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "tests/support/suite.h"

#define FFFD "\xEF\xBF\xBD"
enum { MAX_TEXT = 512, MAX_PRINTED = 4 * 3 * MAX_TEXT + 1 };

// A filter, and what a reader has seen since n_text was last 0.
struct seen {
    struct arena arena;
    struct stop stop;
    char text[3 * MAX_TEXT + 1];
    size_t n_text;
};

static void seen_open(struct seen *s, const struct stop_string *strings, int n_strings,
                      bool include_stop, size_t max_piece) {
    arena_init(&s->arena, 1 << 20);
    assert_status("stop_init",
                  stop_init(&s->stop, strings, n_strings, max_piece, &s->arena, NULL), OK);
    s->stop.include_stop = include_stop;
    s->n_text = 0;
}

static void seen_add(struct seen *s, const char *call, const char *text, size_t n_text) {
    ck_assert_msg(text != NULL, "%s: *text is NULL", call);
    ck_assert_msg(n_text <= sizeof(s->text) - 1 - s->n_text, "%s: *n_text is %zu", call,
                  n_text);
    ck_assert_msg(utf8_valid(text, n_text), "%s: what is shown is not valid UTF-8", call);
    memcpy(s->text + s->n_text, text, n_text);
    s->n_text += n_text;
}

// The piece lies in memory that ends with it: one byte too far is seen by the sanitizer.
static bool seen_push(struct seen *s, const char *piece, size_t n_bytes) {
    char *exact = malloc(n_bytes ? n_bytes : 1);
    const char *text = NULL;
    size_t n_text = SIZE_MAX;
    memcpy(exact, piece, n_bytes);
    bool matched = stop_push(&s->stop, exact, n_bytes, &text, &n_text);
    free(exact);
    seen_add(s, "stop_push", text, n_text);
    return matched;
}

static void seen_flush(struct seen *s) {
    const char *text = NULL;
    size_t n_text = SIZE_MAX;
    stop_flush(&s->stop, &text, &n_text);
    seen_add(s, "stop_flush", text, n_text);
}

static void seen_close(struct seen *s) {
    arena_free(&s->arena);
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

// What was seen must be `want`; bytes that are not ASCII are told as \xHH.
static void assert_seen(const char *what, const struct seen *s, const char *want,
                        size_t n_want) {
    char got_text[MAX_PRINTED], want_text[MAX_PRINTED];
    assert_text(what, printable(got_text, sizeof(got_text), s->text, s->n_text),
                printable(want_text, sizeof(want_text), want, n_want));
}

static void assert_seen_text(const char *what, const struct seen *s, const char *want) {
    assert_seen(what, s, want, strlen(want));
}

START_TEST(worked_example) {
    static const struct stop_string stops[] = {
        {"own fox", 7}
    };
    struct seen s;
    seen_open(&s, stops, 1, false, 16);

    assert_number("stop_push(\"The br\")", seen_push(&s, "The br", 6), false);
    assert_seen_text("shown after \"The br\"", &s, "The br");
    assert_number("stop_push(\"own\")", seen_push(&s, "own", 3), false);
    assert_seen_text("shown after \"The br\", \"own\"", &s, "The br");
    assert_number("stop_push(\" dog \\xC3\")", seen_push(&s, " dog \xC3", 6), false);
    assert_seen_text("shown after ... \" dog \\xC3\"", &s, "The brown dog ");
    assert_number("stop_push(\"\\xA9own f\")", seen_push(&s, "\xA9own f", 6), false);
    assert_seen_text("shown after ... \"\\xA9own f\"", &s, "The brown dog \xC3\xA9");
    assert_number("stop_push(\"oxes\")", seen_push(&s, "oxes", 4), true);
    assert_seen_text("shown after ... \"oxes\"", &s, "The brown dog \xC3\xA9");
    assert_number("stop_push(\"!\") after the match", seen_push(&s, "!", 1), true);
    assert_seen_text("shown after ... \"!\"", &s, "The brown dog \xC3\xA9");
    seen_close(&s);
}
END_TEST

// --- pieces, worked out by hand ------------------------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    const char *stops[4];
    bool include_stop;
    const char *pieces[8];
    const char *want[8]; // shown after each piece
    const char *flushed; // shown at the end
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

static int case_stops(struct stop_string *stops, int i) {
    int n = 0;
    for (; n < 4 && cases[i].stops[n]; n++) {
        stops[n] = (struct stop_string){cases[i].stops[n], strlen(cases[i].stops[n])};
    }
    return n;
}

START_TEST(shows_after_each_piece_what_was_worked_out_by_hand) {
    struct stop_string stops[4];
    struct seen s;
    char what[96];
    int n_stops = case_stops(stops, _i);
    seen_open(&s, stops, n_stops, cases[_i].include_stop, 64);
    for (int i = 0; i < 8 && cases[_i].pieces[i]; i++) {
        s.n_text = 0;
        seen_push(&s, cases[_i].pieces[i], strlen(cases[_i].pieces[i]));
        snprintf(what, sizeof(what), "%s: shown by piece %d", cases[_i].name, i);
        assert_seen_text(what, &s, cases[_i].want[i]);
    }
    seen_close(&s);
}
END_TEST

START_TEST(a_zero_byte_is_a_byte_like_others) {
    static const struct stop_string stops[] = {
        {"a\0b", 3}
    };
    struct seen s;
    seen_open(&s, stops, 1, false, 16);
    assert_number("stop_push(\"x\\0a\\0c\"), stop \"a\\0b\"", seen_push(&s, "x\0a\0c", 5),
                  false);
    assert_seen("shown after \"x\\0a\\0c\"", &s, "x\0a\0c", 5);
    assert_number("stop_push(\"a\")", seen_push(&s, "a", 1), false);
    assert_number("stop_push(\"\\0\")", seen_push(&s, "\0", 1), false);
    assert_seen("shown after ... \"a\", \"\\0\"", &s, "x\0a\0c", 5);
    assert_number("stop_push(\"b\")", seen_push(&s, "b", 1), true);
    assert_seen("shown after ... \"b\"", &s, "x\0a\0c", 5);
    seen_close(&s);
}
END_TEST

START_TEST(a_match_is_for_ever) {
    static const struct stop_string stops[] = {
        {"END", 3}
    };
    struct seen s;
    seen_open(&s, stops, 1, true, 16);
    assert_number("stop_push(\"a END E\"), stop \"END\"", seen_push(&s, "a END E", 7),
                  true);
    assert_number("n_held once matched", (int64_t)s.stop.n_held, 0);
    assert_number("stop_push(\"\") after the match", seen_push(&s, "", 0), true);
    assert_number("stop_push(\"ND b\") after the match", seen_push(&s, "ND b", 4), true);
    assert_seen_text("shown, with include_stop", &s, "a END");
    seen_flush(&s);
    assert_seen_text("shown, with include_stop, after stop_flush", &s, "a END");
    seen_close(&s);
}
END_TEST

START_TEST(holds_the_longest_beginning_and_the_longest_piece) {
    static char stop[LIMIT_STOP_BYTES], piece[MAX_TEXT];
    struct seen s;
    memset(stop, 'a', sizeof(stop));
    memset(piece, 'a', sizeof(piece));
    stop[LIMIT_STOP_BYTES - 1] = 'b';
    seen_open(&s, &(struct stop_string){stop, sizeof(stop)}, 1, false, sizeof(piece));
    for (int i = 0; i < 4; i++) {
        size_t n_pushed = (size_t)(i + 1) * sizeof(piece), n_held = LIMIT_STOP_BYTES - 1;
        s.n_text = 0;
        assert_number("stop_push(512 times a), stop 1023 times a and b",
                      seen_push(&s, piece, sizeof(piece)), false);
        size_t n_before = n_pushed - sizeof(piece);
        size_t n_shown = n_pushed > n_held ? n_pushed - n_held : 0;
        if (n_before > n_held) n_shown -= n_before - n_held;
        assert_number("letters shown", (int64_t)s.n_text, (int64_t)n_shown);
    }
    s.n_text = 0;
    assert_number("stop_push(b) after 2048 times a", seen_push(&s, "b", 1), true);
    assert_number("letters shown by the b", (int64_t)s.n_text, 0);
    seen_close(&s);
}
END_TEST

// --- the end -------------------------------------------------------------------------------------

static const struct {
    const char *held, *want;
} ends[] = {
    {"",                     ""                     },
    {"EN",                   "EN"                   },
    {"\xC3\xA9",             "\xC3\xA9"             },
    {"\xC3",                 FFFD                   },
    {"\xF0\x9F\x98",         FFFD                   },
    {"E\xF0\x9F",            "E" FFFD               },
    {"\x80",                 FFFD                   },
    {"\xFF\xFE",             FFFD FFFD              },
    {"\xE2\x82"
     "E",               FFFD FFFD "E"          },
    {"\x80\xF0\x9F\x98\x80", FFFD "\xF0\x9F\x98\x80"},
};

START_TEST(the_end_shows_what_is_held) {
    struct seen s;
    char what[96], text[64];
    size_t n_held = strlen(ends[_i].held);
    seen_open(&s, NULL, 0, false, 16);
    memcpy(s.stop.held, ends[_i].held, n_held);
    s.stop.n_held = n_held;
    seen_flush(&s);
    snprintf(what, sizeof(what), "stop_flush(held \"%s\")",
             printable(text, sizeof(text), ends[_i].held, n_held));
    assert_seen_text(what, &s, ends[_i].want);
    assert_number("n_held afterwards", (int64_t)s.stop.n_held, 0);
    seen_close(&s);
}
END_TEST

START_TEST(the_end_of_each_case_worked_out_by_hand) {
    struct stop_string stops[4];
    struct seen s;
    char what[96];
    int n_stops = case_stops(stops, _i);
    seen_open(&s, stops, n_stops, cases[_i].include_stop, 64);
    for (int i = 0; i < 8 && cases[_i].pieces[i]; i++)
        seen_push(&s, cases[_i].pieces[i], strlen(cases[_i].pieces[i]));
    s.n_text = 0;
    seen_flush(&s);
    snprintf(what, sizeof(what), "%s: shown at the end", cases[_i].name);
    assert_seen_text(what, &s, cases[_i].flushed);
    seen_close(&s);
}
END_TEST

// --- against the whole text at once --------------------------------------------------------------

// Everything about a text that is known so far, looked for in the simplest way.
struct oracle {
    const struct stop_string *stops;
    int n_stops;
    bool include_stop, matched;
    char shown[3 * MAX_TEXT]; // from the beginning on
    size_t n_shown;
};

static bool has_stop(const struct oracle *o, const char *text, size_t n_text) {
    for (int i = 0; i < o->n_stops; i++) {
        if (o->stops[i].n_bytes == n_text && memcmp(text, o->stops[i].bytes, n_text) == 0)
            return true;
    }
    return false;
}

static bool begins_stop(const struct oracle *o, const char *text, size_t n_text) {
    for (int i = 0; i < o->n_stops; i++) {
        if (o->stops[i].n_bytes > n_text && memcmp(text, o->stops[i].bytes, n_text) == 0)
            return true;
    }
    return false;
}

// What must have been shown once all of text, n_text >= 1 bytes, is pushed.
static void oracle_look(struct oracle *o, const char *text, size_t n_text) {
    for (size_t end = 1; end <= n_text && !o->matched; end++) {
        for (size_t begin = 0; begin < end && !o->matched; begin++) {
            if (!has_stop(o, text + begin, end - begin)) continue;
            o->matched = true;
            o->n_shown = utf8_repair(o->shown, text, o->include_stop ? end : begin);
        }
    }
    if (o->matched) return;

    size_t cut = 0, n_whole = utf8_whole(text, n_text), n, used = 0;
    while (cut < n_text && !begins_stop(o, text + cut, n_text - cut)) cut++;
    if (n_whole < cut) cut = n_whole;
    for (; used < cut; used += n) { // characters that begin and end before the cut
        utf8_next(text + used, n_text - used, &n);
        if (used + n > cut) break;
    }
    o->n_shown = utf8_repair(o->shown, text, used);
}

static void oracle_end(struct oracle *o, const char *text, size_t n_text) {
    size_t n_whole = utf8_whole(text, n_text);
    if (o->matched) return;
    o->n_shown = utf8_repair(o->shown, text, n_whole);
    if (n_whole == n_text) return;
    memcpy(o->shown + o->n_shown, FFFD, 3);
    o->n_shown += 3;
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

static const char *describe(char *out, size_t capacity, const char *text, size_t n_text,
                            const struct oracle *o, const char *when) {
    char part[1100];
    int n = snprintf(out, capacity, "shown of \"%s\" %s",
                     printable(part, sizeof(part), text, n_text), when);
    for (int i = 0; i < o->n_stops; i++)
        n +=
            snprintf(out + n, capacity - (size_t)n, ", stop \"%s\"",
                     printable(part, sizeof(part), o->stops[i].bytes, o->stops[i].n_bytes));
    return out;
}

// A text, up to four stop strings, and cuts. With flush the end, too; what is shown on the way is judged
// without.
static bool play(struct draw *d, int round, bool flush) {
    char text[256], bytes[4][64], what[4096];
    struct stop_string stops[4];
    int n_kinds = round % 3 == 0 ? N_LETTERS : N_ATOMS;
    int n_stop_kinds = round % 5 == 0 ? N_ATOMS : round % 3 == 0 ? N_LETTERS : N_CHARACTERS;
    struct oracle o = {stops, draw_int(d, 0, 4), draw_int(d, 0, 3) == 0, false, "", 0};
    for (int i = 0; i < o.n_stops; i++)
        stops[i] = (struct stop_string){
            bytes[i], draw_text(d, bytes[i], draw_int(d, 1, 4), n_stop_kinds)};
    size_t n_text = draw_text(d, text, draw_int(d, 0, 25), n_kinds);
    int longest = draw_int(d, 1, 12);

    struct seen s;
    seen_open(&s, stops, o.n_stops, o.include_stop, 12);
    for (size_t i = 0; i < n_text && !o.matched;) {
        size_t n = (size_t)draw_int(d, 0, longest);
        if (n > n_text - i) n = n_text - i;
        bool matched = seen_push(&s, text + i, n);
        i += n;
        if (i > 0) oracle_look(&o, text, i);
        if (flush) continue;
        assert_number(describe(what, sizeof(what), text, i, &o, "(matched?)"), matched,
                      o.matched);
        assert_seen(describe(what, sizeof(what), text, i, &o, "so far"), &s, o.shown,
                    o.n_shown);
    }
    if (flush) {
        seen_flush(&s);
        oracle_end(&o, text, n_text);
        assert_seen(describe(what, sizeof(what), text, n_text, &o, "in all"), &s, o.shown,
                    o.n_shown);
    }
    seen_close(&s);
    return o.matched;
}

START_TEST(shows_each_byte_as_soon_as_nothing_can_change_it) {
    struct draw d = draw_start("shows_each_byte_as_soon_as_nothing_can_change_it");
    int n_matched = 0;
    for (int round = 0; round < 400; round++) n_matched += play(&d, round, false);
    ck_assert_int_gt(n_matched, 50); // both ends were tried
    ck_assert_int_lt(n_matched, 350);
}
END_TEST

START_TEST(shows_in_all_what_one_piece_would_show) {
    struct draw d = draw_start("shows_in_all_what_one_piece_would_show");
    for (int round = 0; round < 400; round++) play(&d, round, true);
}
END_TEST

START_TEST(cuts_at_every_byte_change_nothing) {
    static const char text[] = "a\xC3\xA9 \xE2\x82\xAC\xF0\x9F\x98\x80 aaab END";
    static const struct stop_string stops[] = {
        {"aab ENX",   7},
        {"\x80 aaa ", 6},
        {" END",      4}
    };
    size_t n_text = sizeof(text) - 1;
    char what[64];
    for (size_t i = 0; i <= n_text; i++) {
        for (size_t k = i; k <= n_text; k++) {
            struct seen s;
            seen_open(&s, stops, 3, false, n_text);
            seen_push(&s, text, i);
            seen_push(&s, text + i, k - i);
            snprintf(what, sizeof(what), "matched, cut at %zu and %zu", i, k);
            assert_number(what, seen_push(&s, text + k, n_text - k), true);
            snprintf(what, sizeof(what), "shown, cut at %zu and %zu", i, k);
            assert_seen(what, &s, text, n_text - 4);
            seen_close(&s);
        }
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level2/stop");
    TCase *worked = tcase_in(s, "worked example");
    tcase_add_test(worked, worked_example);
    TCase *pieces = tcase_in(s, "pieces");
    tcase_add_loop_test(pieces, shows_after_each_piece_what_was_worked_out_by_hand, 0,
                        ROWS(cases));
    tcase_add_test(pieces, a_zero_byte_is_a_byte_like_others);
    tcase_add_test(pieces, a_match_is_for_ever);
    tcase_add_test(pieces, holds_the_longest_beginning_and_the_longest_piece);
    tcase_add_test(pieces, shows_each_byte_as_soon_as_nothing_can_change_it);
    tcase_add_test(pieces, cuts_at_every_byte_change_nothing);
    TCase *end = tcase_in(s, "the end");
    tcase_add_loop_test(end, the_end_shows_what_is_held, 0, ROWS(ends));
    tcase_add_loop_test(end, the_end_of_each_case_worked_out_by_hand, 0, ROWS(cases));
    tcase_add_test(end, shows_in_all_what_one_piece_would_show);
    return s;
}
