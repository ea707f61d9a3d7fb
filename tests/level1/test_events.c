// The event stream parser: the cases of the field, and that no split of the bytes can matter.
#include "level1-user/events.h"

#include <stdio.h>
#include <string.h>

#include "level1-user/text.h"
#include "tests/support/memory.h"
#include "tests/support/sse_oracle.h"
#include "tests/support/sse_streams.h"
#include "tests/support/suite.h"

#define BYTES(literal) literal, sizeof(literal) - 1

// ---- worked example -----------------------------------------------------------------------------

START_TEST(worked_example) {
    static const struct {
        const char *bytes, *want; // what the listener has heard so far
    } pieces[] = {
        {"event: note\r\ndata: Hel",       ""                               },
        {"lo\r",                           ""                               },
        {"\ndata:you\r\n",                 ""                               },
        {"\r",                             "<note:Hello\\nyou>"             },
        {"\n: ping\n\ndata: bye\n\ndata:", "<note:Hello\\nyou><message:bye>"},
    };
    struct transcript got = {0};
    struct sse_parser p;

    sse_init(&p, 100, transcript_note, &got);
    for (int i = 0; i < 5; i++) {
        char what[80];
        enum status st = sse_push(&p, pieces[i].bytes, strlen(pieces[i].bytes), NULL);
        snprintf(what, sizeof(what), "sse_push(piece %d of the worked example)", i + 1);
        assert_status(what, st, OK);
        snprintf(what, sizeof(what),
                 "sse_push(piece %d of the worked example): events so far", i + 1);
        assert_text(what, text_string(&got.text), pieces[i].want);
    }
    text_free(&got.text);
    sse_free(&p);
}
END_TEST

// ---- streams of the field, whole and in pieces --------------------------------------------------

// clang-format off
static const struct {
    const char *name;
    const char *bytes;
    size_t n_bytes;
    const char *want;
    bool ends_inside;
} streams[] = {
    {"CLI-01 event name and data", BYTES("event: completion\ndata: {\"foo\":true}\n\n"),
     "<completion:{\"foo\":true}>", false},
    {"CLI-02 data over several lines", BYTES("data: {\ndata: \"foo\":\ndata: true}\n\n\n"),
     "<message:{\\n\"foo\":\\ntrue}>", false},
    {"CLI-03 characters cut between reads",
     BYTES("data: {\"content\":\"\xd0\xb8\xd0\xb7\xd0\xb2\xd0\xb5\xd1\x81\xd1\x82\xd0\xbd"
           "\xd0\xb8\"}\n\n"),
     "<message:{\"content\":\"\\xd0\\xb8\\xd0\\xb7\\xd0\\xb2\\xd0\\xb5\\xd1\\x81\\xd1\\x82"
     "\\xd0\\xbd\\xd0\\xb8\"}>", false},
    {"CLI-05 mixed line ends", BYTES("data: A\r\ndata: B\rdata: C\r\n\n"),
     "<message:A\\nB\\nC>", false},
    {"CLI-05 the LF of a CRLF in a read of its own",
     BYTES("data: A\r\ndata: B\r\ndata: C\r\n\n"), "<message:A\\nB\\nC>", false},
    {"CLI-06 a comment", BYTES(": ping\n\ndata: {\"a\":1}\n\n"), "<message:{\"a\":1}>", false},
    {"a comment inside an event", BYTES("data: a\n:\n: x: y\ndata: b\n\n"),
     "<message:a\\nb>", false},
    {"one space is taken away", BYTES("data:a\ndata: b\ndata:  c\ndata:\td\n\n"),
     "<message:a\\nb\\n c\\n\\x09d>", false},
    {"an empty data line counts", BYTES("data: a\n\ndata\n\ndata:\n\ndata: \ndata\n\n"),
     "<message:a><message:><message:><message:\\n>", false},
    {"no data, no event", BYTES("event: x\n\ndata: a\n\n"), "<message:a>", false},
    {"the last name counts, an empty one is none",
     BYTES("event: x\nevent: yy\ndata: a\n\nevent: x\nevent\ndata: b\n\n"),
     "<yy:a><message:b>", false},
    {"a name holds for one event", BYTES("event: x\ndata: a\n\ndata: b\n\n"),
     "<x:a><message:b>", false},
    {"other fields are skipped",
     BYTES("id: 7\nretry: 10\nnonsense\ndatum: 1\ndat: 2\ndata : 3\ndata: a\n\n"),
     "<message:a>", false},
    {"a byte order mark at the start", BYTES("\xef\xbb\xbf" "data: a\n\n"),
     "<message:a>", false},
    {"a byte order mark later", BYTES("data: a\n\xef\xbb\xbf" "data: b\n\n"),
     "<message:a>", false},
    {"a NUL in the data", BYTES("data: a\0b\n\n"), "<message:a\\0b>", false},
    {"CR alone ends lines", BYTES("data: a\r\rdata: b\r\r"), "<message:a><message:b>", false},
    {"a CR, and a LF one line later", BYTES("data: a\rdata: b\n\n"), "<message:a\\nb>", false},
    {"nothing", BYTES(""), "", false},
    {"empty lines", BYTES("\n\r\n\r\r\n"), "", false},
    {"cut before the empty line", BYTES("data: a\n\ndata: b\n"), "<message:a>", true},
    {"cut inside a line", BYTES("data: a\n\nda"), "<message:a>", true},
    {"cut after a name", BYTES("event: a\n"), "", true},
    {"cut after an empty data line", BYTES("data\n"), "", true},
};
// clang-format on
enum { N_STREAMS = sizeof(streams) / sizeof(streams[0]) };

START_TEST(a_stream_in_one_piece_gives_its_events) {
    struct cut_stream whole = {streams[_i].bytes, streams[_i].n_bytes, NULL, 0};
    assert_events(streams[_i].name, &whole, streams[_i].want);
}
END_TEST

static void assert_events_in_any_pieces(int i) {
    size_t n = streams[i].n_bytes, ends[256];
    struct cut_stream pieces = {streams[i].bytes, n, ends, n};

    for (size_t e = 0; e < n; e++) ends[e] = e; // byte by byte
    assert_events(streams[i].name, &pieces, streams[i].want);
    pieces.n_ends = 2; // three pieces, some of no byte
    for (ends[0] = 0; ends[0] <= n; ends[0]++) {
        for (ends[1] = ends[0]; ends[1] <= n; ends[1]++) {
            assert_events(streams[i].name, &pieces, streams[i].want);
        }
    }
}

START_TEST(a_stream_in_any_pieces_gives_the_same_events) {
    for (int i = 0; i < N_STREAMS; i++) assert_events_in_any_pieces(i);
}
END_TEST

// ---- property: random streams against a parser that has all bytes at once -----------------------

START_TEST(random_streams_in_random_pieces_agree_with_the_standard) {
    struct draw d = draw_start("random_streams_in_random_pieces");
    struct text stream = {0};

    for (int round = 0; round < 1000; round++) {
        struct transcript want = {0};
        size_t ends[512], n_ends = 0;

        random_stream(&d, round, &stream);
        hear_slowly(&stream, &want);
        for (size_t at = 0; (at += (size_t)draw_int(&d, 1, 9)) < stream.n;) {
            ends[n_ends++] = at;
        }
        struct cut_stream pieces = {stream.bytes, stream.n, ends, n_ends};
        assert_events("random stream", &pieces, text_string(&want.text));
        text_free(&want.text);
    }
    text_free(&stream);
}
END_TEST

// ---- the end of a stream ------------------------------------------------------------------------

START_TEST(what_the_end_of_a_stream_leaves_unfinished_is_seen) {
    for (int i = 0; i < N_STREAMS; i++) {
        struct cut_stream whole = {streams[i].bytes, streams[i].n_bytes, NULL, 0};
        struct transcript heard = {0};
        struct sse_parser p;
        char what[120];

        sse_init(&p, 4096, transcript_note, &heard);
        cut_stream_push(&whole, &p);
        snprintf(what, sizeof(what), "sse_is_inside_event(after \"%s\")", streams[i].name);
        assert_number(what, sse_is_inside_event(&p), streams[i].ends_inside);
        text_free(&heard.text);
        sse_free(&p);
    }
}
END_TEST

START_TEST(each_thing_that_is_held_is_the_inside_of_an_event) {
    struct sse_parser line = {0}, name = {0}, data = {.has_data = true}, none = {0};
    struct sse_parser cr = {.after_cr = true, .is_started = true};

    text_append(&line.line, "d", 1);
    text_append(&name.name, "n", 1);
    text_append(&none.line, "old", 3);
    none.line.n = 0; // bytes of a line that is over
    assert_number("sse_is_inside_event({.line = \"d\"})", sse_is_inside_event(&line), 1);
    assert_number("sse_is_inside_event({.name = \"n\"})", sse_is_inside_event(&name), 1);
    assert_number("sse_is_inside_event({.has_data})", sse_is_inside_event(&data), 1);
    assert_number("sse_is_inside_event({nothing held})", sse_is_inside_event(&none), 0);
    assert_number("sse_is_inside_event({.after_cr})", sse_is_inside_event(&cr), 0);
    sse_free(&line);
    sse_free(&name);
    sse_free(&none);
}
END_TEST

// ---- a stop, limits, memory ---------------------------------------------------------------------

START_TEST(a_listener_that_says_stop_hears_nothing_more) {
    struct transcript got = {.stop_after = 2};
    struct sse_parser p;
    struct error err = {0};

    sse_init(&p, 100, transcript_note, &got);
    enum status st = sse_push(&p, BYTES("data: a\n\ndata: b\n\ndata: c\n\n"), &err);
    assert_status("sse_push(three events, stopped at the second)", st, OK);
    assert_text("events until the stop", text_string(&got.text), "<message:a><message:b>");
    st = sse_push(&p, BYTES("data: d\n\n"), &err);
    assert_status("sse_push(after a stop)", st, ERR_STATE);
    assert_text("err.code after a stop", status_name(err.code), "state");
    assert_number("events after the stop", got.n_events, 2);
    text_free(&got.text);
    sse_free(&p);
}
END_TEST

START_TEST(a_freed_parser_takes_nothing) {
    struct sse_parser p = {0};
    sse_free(&p);
    sse_free(&p);
    assert_status("sse_push(after sse_free)", sse_push(&p, BYTES("data: a\n\n"), NULL),
                  ERR_STATE);
}
END_TEST

// "event: NAME" and "data: VALUE" are held when the line "data:xxx" of n_line bytes is collected;
// before them a whole event passed. Returns what came of it.
static enum status push_event_of(size_t limit, size_t n_line, bool byte_by_byte,
                                 struct transcript *got) {
    char bytes[256] = "data: first\n\nevent: name\ndata: value\ndata:";
    size_t n_before = strlen(bytes) - 5, n_bytes = n_before + n_line + 2, ends[256];
    struct sse_parser p;

    memset(bytes + n_before + 5, 'x', n_line - 5);
    memcpy(bytes + n_before + n_line, "\n\n", 2);
    for (size_t i = 0; i < n_bytes; i++) ends[i] = i;
    struct cut_stream s = {bytes, n_bytes, ends, byte_by_byte ? n_bytes : 0};

    sse_init(&p, limit, transcript_note, got);
    enum status st = cut_stream_push(&s, &p);
    if (st != OK) {
        assert_status("sse_push(after an event above the limit)",
                      sse_push(&p, BYTES("data: later\n\n"), NULL), ERR_STATE);
    }
    sse_free(&p);
    return st;
}

START_TEST(an_event_of_exactly_the_limit_passes_and_one_byte_more_does_not) {
    struct draw d = draw_start("an_event_of_exactly_the_limit");
    for (int round = 0; round < 20; round++) {
        struct transcript got = {0};
        char what[120];
        size_t limit = (size_t)draw_int(&d, 20, 120); // name and value are 9 bytes of it
        for (size_t above = 0; above < 2; above++) {
            enum status st = push_event_of(limit, limit - 9 + above, _i, &got);
            snprintf(what, sizeof(what), "sse_push(%zu bytes, max_event_bytes %zu, %s)",
                     limit + above, limit, _i ? "byte by byte" : "one piece");
            assert_status(what, st, above ? ERR_LIMIT : OK);
        }
        assert_number("events: two, and one before the limit", got.n_events, 3);
        text_free(&got.text);
    }
}
END_TEST

START_TEST(a_comment_above_the_limit_is_refused) {
    struct transcript got = {0};
    struct sse_parser p;
    struct error err = {0};

    sse_init(&p, 8, transcript_note, &got);
    assert_status("sse_push(\": 345678\\n\", max_event_bytes 8)",
                  sse_push(&p, BYTES(": 345678\n"), &err), OK);
    assert_status("sse_push(\": 3456789\", max_event_bytes 8)",
                  sse_push(&p, BYTES(": 3456789"), &err), ERR_LIMIT);
    assert_text("err.code", status_name(err.code), "limit");
    assert_number("err.text is a sentence", err.text[0] != '\0', 1);
    sse_free(&p);
}
END_TEST

START_TEST(many_small_lines_of_one_event_count_together) {
    struct transcript got = {0};
    struct sse_parser p;
    enum status st = OK;
    int n = 0;

    sse_init(&p, 1000, transcript_note, &got);
    for (; st == OK && n < 1000; n++) st = sse_push(&p, BYTES("data: 123456789\n"), NULL);
    assert_status("sse_push(\"data: 123456789\\n\"), again and again", st, ERR_LIMIT);
    // 99 values of 9 and 98 LFs are 989 bytes; the next line is 15
    assert_number("sse_push(\"data: 123456789\\n\"), max_event_bytes 1000: pushes", n, 100);
    sse_free(&p);
}
END_TEST

START_TEST(many_events_do_not_count_together) {
    struct transcript got = {0};
    struct sse_parser p;

    sse_init(&p, 50, transcript_note, &got);
    for (int i = 0; i < 200; i++) {
        assert_status("sse_push(one more small event)",
                      sse_push(&p, BYTES("event: e\n: comment\ndata: 123456789\n\n"), NULL),
                      OK);
    }
    assert_number("events", got.n_events, 200);
    sse_free(&p);
    text_free(&got.text);
}
END_TEST

static bool count_event(void *ctx, const struct sse_event *event) {
    (void)event;
    ++*(int *)ctx;
    return true;
}

START_TEST(every_failed_allocation_is_an_error_and_stops_the_stream) {
    enum status st = ERR_MEMORY;
    int n = 0;
    for (; st != OK && n < 100; n++) {
        struct sse_parser p;
        struct error err = {0};
        int n_events = 0;
        char what[80];

        sse_init(&p, 1000, count_event, &n_events);
        memory_fail_after(n);
        st = sse_push(&p, BYTES("event: a\ndata: b\n\n"), &err);
        memory_fail_after(-1);
        snprintf(what, sizeof(what), "sse_push = %s, allocation %d failing: events",
                 status_name(st), n + 1);
        assert_number(what, n_events, st == OK);
        if (st != OK) {
            snprintf(what, sizeof(what), "sse_push, when allocation %d fails", n + 1);
            assert_status(what, st, ERR_MEMORY);
            assert_number("err.text is a sentence", err.text[0] != '\0', 1);
            assert_status("sse_push(after ERR_MEMORY)",
                          sse_push(&p, BYTES("data: c\n\n"), NULL), ERR_STATE);
        }
        sse_free(&p);
    }
    assert_status("sse_push, when no allocation fails", st, OK);
    assert_number("an allocation failed at all", n > 1, 1);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("level1/events");

    TCase *example = tcase_create("worked example");
    tcase_add_test(example, worked_example);
    suite_add_tcase(s, example);

    TCase *reference = tcase_create("reference");
    tcase_add_loop_test(reference, a_stream_in_one_piece_gives_its_events, 0, N_STREAMS);
    tcase_add_test(reference, a_stream_in_any_pieces_gives_the_same_events);
    suite_add_tcase(s, reference);

    TCase *property = tcase_create("property");
    tcase_add_test(property, random_streams_in_random_pieces_agree_with_the_standard);
    suite_add_tcase(s, property);

    TCase *edges = tcase_create("edges");
    tcase_add_test(edges, what_the_end_of_a_stream_leaves_unfinished_is_seen);
    tcase_add_test(edges, each_thing_that_is_held_is_the_inside_of_an_event);
    tcase_add_test(edges, a_listener_that_says_stop_hears_nothing_more);
    tcase_add_test(edges, a_freed_parser_takes_nothing);
    suite_add_tcase(s, edges);

    TCase *failures = tcase_create("failures");
    tcase_add_loop_test(
        failures, an_event_of_exactly_the_limit_passes_and_one_byte_more_does_not, 0, 2);
    tcase_add_test(failures, a_comment_above_the_limit_is_refused);
    tcase_add_test(failures, many_small_lines_of_one_event_count_together);
    tcase_add_test(failures, many_events_do_not_count_together);
    tcase_add_test(failures, every_failed_allocation_is_an_error_and_stops_the_stream);
    suite_add_tcase(s, failures);
    return s;
}
