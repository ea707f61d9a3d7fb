// The event stream parser: the cases of the field, and that no split of the bytes can matter.
#include "level1-user/events.h"

#include <stdio.h>
#include <string.h>

#include "level1-user/text.h"
#include "tests/support/memory.h"
#include "tests/support/suite.h"

// What a parser said, as text: "<name:data>" for each event.
struct transcript {
    struct text text;
    int stop_after; // events; 0: never
    int n_events;
};

static bool note_event(void *ctx, const struct sse_event *event) {
    struct transcript *t = ctx;
    text_append(&t->text, "<", 1);
    text_append(&t->text, event->name, strlen(event->name));
    text_append(&t->text, ":", 1);
    text_append(&t->text, event->data, event->n_data);
    text_append(&t->text, ">", 1);
    ck_assert_int_eq(event->data[event->n_data], '\0');
    return ++t->n_events != t->stop_after;
}

static void assert_text(const struct text *got, const char *want, size_t n_want,
                        const char *what) {
    ck_assert_msg(got->n == n_want && memcmp(text_string(got), want, n_want) == 0,
                  "%s: got %s, want %s", what, text_string(got), want);
}

// ---- reference: streams in the pieces they came in ---------------------------------------------

#define BYTES(literal) literal, sizeof(literal) - 1

// clang-format off
static const struct {
    const char *name;
    const char *bytes;
    size_t n_bytes;
    const char *want;
    size_t n_want;
    bool ends_inside;
} streams[] = {
    {"CLI-01 event name and data", BYTES("event: completion\ndata: {\"foo\":true}\n\n"),
     BYTES("<completion:{\"foo\":true}>"), false},
    {"CLI-02 data over several lines", BYTES("data: {\ndata: \"foo\":\ndata: true}\n\n\n"),
     BYTES("<message:{\n\"foo\":\ntrue}>"), false},
    {"CLI-03 a character cut between reads",
     BYTES("data: {\"content\":\"\xd0\xb8\xd0\xb7\xd0\xb2\xd0\xb5\xd1\x81\xd1\x82\"}\n\n"),
     BYTES("<message:{\"content\":\"\xd0\xb8\xd0\xb7\xd0\xb2\xd0\xb5\xd1\x81\xd1\x82\"}>"),
     false},
    {"CLI-05 mixed line ends", BYTES("data: A\r\ndata: B\rdata: C\r\n\n"),
     BYTES("<message:A\nB\nC>"), false},
    {"CLI-05 the LF of a CRLF in a read of its own",
     BYTES("data: A\r\ndata: B\r\ndata: C\r\n\n"), BYTES("<message:A\nB\nC>"), false},
    {"CLI-06 a comment", BYTES(": ping\n\ndata: {\"a\":1}\n\n"),
     BYTES("<message:{\"a\":1}>"), false},
    {"a comment inside an event", BYTES("data: a\n:\n: x: y\ndata: b\n\n"),
     BYTES("<message:a\nb>"), false},
    {"only one space is taken away", BYTES("data:a\ndata: b\ndata:  c\ndata:\td\n\n"),
     BYTES("<message:a\nb\n c\n\td>"), false},
    {"an empty data line is an event", BYTES("data\n\ndata:\n\ndata: \ndata\n\n"),
     BYTES("<message:><message:><message:\n>"), false},
    {"an event without data is none, and its name is forgotten",
     BYTES("event: x\n\ndata: a\n\n"), BYTES("<message:a>"), false},
    {"the last name counts, an empty one is none",
     BYTES("event: x\nevent: yy\ndata: a\n\nevent: x\nevent\ndata: b\n\n"),
     BYTES("<yy:a><message:b>"), false},
    {"id, retry and unknown fields are skipped",
     BYTES("id: 7\nretry: 10\nnonsense\ndatum: 1\ndat: 2\ndata : 3\ndata: a\n\n"),
     BYTES("<message:a>"), false},
    {"a byte order mark at the start", BYTES("\xef\xbb\xbf" "data: a\n\n"),
     BYTES("<message:a>"), false},
    {"a byte order mark later is part of a field name",
     BYTES("data: a\n\xef\xbb\xbf" "data: b\n\n"), BYTES("<message:a>"), false},
    {"a NUL is a byte of the data", BYTES("data: a\0b\n\n"), BYTES("<message:a\0b>"),
     false},
    {"CR alone ends lines", BYTES("data: a\r\rdata: b\r\r"),
     BYTES("<message:a><message:b>"), false},
    {"nothing", BYTES(""), BYTES(""), false},
    {"blank lines", BYTES("\n\r\n\r\r\n"), BYTES(""), false},
    {"cut before the blank line", BYTES("data: a\n\ndata: b\n"), BYTES("<message:a>"),
     true},
    {"cut inside a line", BYTES("data: a\n\nda"), BYTES("<message:a>"), true},
    {"cut after a name", BYTES("event: a\n"), BYTES(""), true},
};
// clang-format on
enum { N_STREAMS = sizeof(streams) / sizeof(streams[0]) };

// Pushes stream i cut at the given places, and compares.
static void check_cut(int i, const size_t *cuts, int n_cuts) {
    struct transcript got = {0};
    struct sse_parser p;
    size_t begin = 0;

    sse_init(&p, 4096, note_event, &got);
    for (int c = 0; c <= n_cuts; c++) {
        size_t end = c < n_cuts ? cuts[c] : streams[i].n_bytes;
        if (sse_push(&p, streams[i].bytes + begin, end - begin, NULL) != OK) {
            ck_abort_msg("%s: refused", streams[i].name);
        }
        begin = end;
    }
    if (sse_is_inside_event(&p) != streams[i].ends_inside) {
        ck_abort_msg("%s: %s an event", streams[i].name,
                     streams[i].ends_inside ? "not inside" : "inside");
    }
    if (got.text.n != streams[i].n_want ||
        memcmp(text_string(&got.text), streams[i].want, got.text.n) != 0) {
        ck_abort_msg("%s (first cut at %zu): got %s, want %s", streams[i].name,
                     n_cuts ? cuts[0] : 0, text_string(&got.text), streams[i].want);
    }
    text_free(&got.text);
    sse_free(&p);
}

START_TEST(a_stream_in_one_piece_gives_its_events) {
    check_cut(_i, NULL, 0);
}
END_TEST

START_TEST(every_cut_into_three_pieces_gives_the_same_events) {
    for (size_t a = 0; a <= streams[_i].n_bytes; a++) {
        for (size_t b = a; b <= streams[_i].n_bytes; b++) {
            check_cut(_i, (size_t[]){a, b}, 2);
        }
    }
}
END_TEST

START_TEST(byte_by_byte_gives_the_same_events) {
    size_t cuts[256];
    for (size_t c = 0; c < streams[_i].n_bytes; c++) cuts[c] = c;
    check_cut(_i, cuts, (int)streams[_i].n_bytes);
}
END_TEST

// ---- property: random streams against a parser that has all bytes at once ----------------------

// Lines made of pieces that matter; the oracle below never sees a split.
static void random_stream(struct draw *d, struct text *out) {
    static const char *const pieces[] = {"data", "event",    ":",    " ",
                                         "a",    "\xc3\xa9", "id",   "\n",
                                         "\n",   "\r",       "\r\n", "data: x\n\n"};
    out->n = 0;
    text_append(out, "", 0);
    for (int n = draw_int(d, 0, 30); n > 0; n--) {
        const char *piece = pieces[draw_int(d, 0, 11)];
        text_append(out, piece, strlen(piece));
    }
}

// The standard in its own words: normalise line ends, then take line after line.
static void oracle(const struct text *stream, struct text *said) {
    char lines[1024], data[1024], name[1024] = "";
    size_t n = 0, n_data = 0;
    for (size_t i = 0; i < stream->n; i++) {
        char c = stream->bytes[i];
        if (c == '\n' && i > 0 && stream->bytes[i - 1] == '\r') continue;
        lines[n++] = c == '\r' ? '\n' : c;
    }
    lines[n] = '\0';
    for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        char *colon, *value;
        *end = '\0';
        if (line == end) {
            if (n_data > 0) {
                struct transcript t = {.text = *said};
                data[--n_data] = '\0';
                note_event(&t, &(struct sse_event){*name ? name : "message", data, n_data});
                *said = t.text;
            }
            n_data = 0;
            name[0] = '\0';
            continue;
        }
        colon = strchr(line, ':');
        value = colon ? colon + 1 + (colon[1] == ' ') : end;
        if (colon) *colon = '\0';
        if (strcmp(line, "data") == 0) {
            n_data += (size_t)snprintf(data + n_data, sizeof(data) - n_data, "%s\n", value);
        } else if (strcmp(line, "event") == 0) {
            snprintf(name, sizeof(name), "%s", value);
        }
    }
}

START_TEST(random_streams_in_random_pieces_agree_with_the_standard) {
    struct draw d = draw_start("random_streams_in_random_pieces");
    struct text stream = {0}, want = {0};
    for (int round = 0; round < 3000; round++) {
        struct transcript got = {0};
        struct sse_parser p;

        random_stream(&d, &stream);
        want.n = 0;
        oracle(&stream, &want);
        sse_init(&p, 4096, note_event, &got);
        for (size_t at = 0, n; at < stream.n; at += n) {
            n = (size_t)draw_int(&d, 1, 9);
            if (n > stream.n - at) n = stream.n - at;
            sse_push(&p, stream.bytes + at, n, NULL);
        }
        assert_text(&got.text, text_string(&want), want.n, text_string(&stream));
        text_free(&got.text);
        sse_free(&p);
    }
    text_free(&stream);
    text_free(&want);
}
END_TEST

// ---- edges and failures ------------------------------------------------------------------------

START_TEST(a_listener_that_says_stop_hears_nothing_more) {
    struct transcript got = {.stop_after = 2};
    struct sse_parser p;
    struct error err = {0};

    sse_init(&p, 100, note_event, &got);
    ck_assert_int_eq(sse_push(&p, BYTES("data: a\n\ndata: b\n\ndata: c\n\n"), &err), OK);
    assert_text(&got.text, BYTES("<message:a><message:b>"), "stopped");
    ck_assert_int_eq(sse_push(&p, BYTES("data: d\n\n"), &err), ERR_STATE);
    ck_assert_int_eq(got.n_events, 2);
    text_free(&got.text);
    sse_free(&p);
}
END_TEST

// An event of exactly the limit passes, one byte more does not, in one piece or in many.
static enum status push_event_of(size_t n_line, size_t limit, bool byte_by_byte,
                                 struct transcript *got) {
    char line[64] = "data:";
    struct sse_parser p;
    enum status st = OK;

    memset(line + 5, 'x', n_line - 5);
    memcpy(line + n_line, "\n\n", 2);
    sse_init(&p, limit, note_event, got);
    size_t step = byte_by_byte ? 1 : n_line + 2;
    for (size_t at = 0; at < n_line + 2 && st == OK; at += step) {
        st = sse_push(&p, line + at, step, NULL);
    }
    ck_assert_uint_le(p.line.capacity + p.data.capacity + p.name.capacity, 2 * limit + 192);
    if (st != OK) ck_assert_int_eq(sse_push(&p, BYTES("data: later\n\n"), NULL), ERR_STATE);
    sse_free(&p);
    return st;
}

START_TEST(an_event_above_the_limit_is_refused_and_ends_the_stream) {
    struct transcript got = {0};
    ck_assert_int_eq(push_event_of(40, 40, _i, &got), OK);
    ck_assert_int_eq(got.n_events, 1);
    ck_assert_int_eq(push_event_of(41, 40, _i, &got), ERR_LIMIT);
    ck_assert_int_eq(got.n_events, 1);
    text_free(&got.text);
}
END_TEST

START_TEST(many_small_lines_of_one_event_count_together) {
    struct transcript got = {0};
    struct sse_parser p;
    struct error err = {0};
    enum status st = OK;
    int n = 0;

    sse_init(&p, 1000, note_event, &got);
    for (; st == OK; n++) st = sse_push(&p, BYTES("data: 123456789\n"), &err);
    ck_assert_int_eq(st, ERR_LIMIT);
    ck_assert_str_eq(err.text, "the server sent an event above 1000 bytes");
    ck_assert_int_eq(n, 100); // 99 lines of 9 and 98 joints: 989 bytes; the next line is 15
    sse_free(&p);

    // ... but many events do not.
    sse_init(&p, 50, note_event, &got);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(
            sse_push(&p, BYTES("event: e\n: comment\ndata: 123456789\n\n"), NULL), OK);
    }
    ck_assert_int_eq(got.n_events, 1000);
    sse_free(&p);
    text_free(&got.text);
}
END_TEST

START_TEST(freeing_a_zeroed_or_freed_parser_does_nothing) {
    struct sse_parser p = {0};
    sse_free(&p);
    sse_free(&p);
    ck_assert_int_eq(sse_push(&p, BYTES("data: a\n\n"), NULL), ERR_STATE);
}
END_TEST

static bool count_event(void *ctx, const struct sse_event *event) {
    (void)event;
    ++*(int *)ctx;
    return true;
}

// A line, a name and data: each is memory of its own.
START_TEST(every_failed_allocation_is_an_error_and_stops_the_stream) {
    int n = 0;
    for (;; n++) {
        struct sse_parser p;
        struct error err = {0};
        int n_events = 0;
        sse_init(&p, 1000, count_event, &n_events);
        memory_fail_after(n);
        enum status st = sse_push(&p, BYTES("event: a\ndata: b\n\n"), &err);
        memory_fail_after(-1);
        ck_assert_int_eq(n_events, st == OK);
        if (st != OK) {
            ck_assert_int_eq(st, ERR_MEMORY);
            ck_assert_str_ne(err.text, "");
            ck_assert_int_eq(sse_push(&p, BYTES("data: c\n\n"), NULL), ERR_STATE);
        }
        sse_free(&p);
        if (st == OK) break;
    }
    ck_assert_int_eq(n, 3);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/events");

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_stream_in_one_piece_gives_its_events, 0, N_STREAMS);
    suite_add_tcase(s, reference);

    TCase *property = tcase_create("property");
    tcase_add_loop_test(property, every_cut_into_three_pieces_gives_the_same_events, 0,
                        N_STREAMS);
    tcase_add_loop_test(property, byte_by_byte_gives_the_same_events, 0, N_STREAMS);
    tcase_add_test(property, random_streams_in_random_pieces_agree_with_the_standard);
    suite_add_tcase(s, property);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, a_listener_that_says_stop_hears_nothing_more);
    tcase_add_test(edges, freeing_a_zeroed_or_freed_parser_does_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(failures, an_event_above_the_limit_is_refused_and_ends_the_stream,
                        0, 2);
    tcase_add_test(failures, many_small_lines_of_one_event_count_together);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_stops_the_stream);
    suite_add_tcase(s, failures);
    return s;
}
