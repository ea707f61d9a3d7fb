// Streams in pieces and their transcripts. What a failure prints is built only when there is one.
#include "tests/support/sse_streams.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

static void append_visible(struct text *out, const char *bytes, size_t n_bytes) {
    for (size_t i = 0; i < n_bytes; i++) {
        unsigned char c = (unsigned char)bytes[i];
        char code[8] = {(char)c, '\0'};
        if (c == '\n' || c == '\r' || c == '\0') {
            snprintf(code, sizeof(code), "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : '0');
        } else if (c < ' ' || c > '~') {
            snprintf(code, sizeof(code), "\\x%02x", c);
        }
        text_append(out, code, strlen(code));
    }
}

bool transcript_note(void *ctx, const struct sse_event *event) {
    struct transcript *t = ctx;
    text_append(&t->text, "<", 1);
    append_visible(&t->text, event->name, strlen(event->name));
    text_append(&t->text, ":", 1);
    append_visible(&t->text, event->data, event->n_data);
    text_append(&t->text, ">", 1);
    assert_number("event.data[event.n_data], a NUL", event->data[event->n_data], '\0');
    return ++t->n_events != t->stop_after;
}

static size_t end_of_piece(const struct cut_stream *s, size_t i) {
    return i < s->n_ends ? s->ends[i] : s->n_bytes;
}

enum status cut_stream_push(const struct cut_stream *s, struct sse_parser *p) {
    enum status st = OK;
    for (size_t i = 0, begin = 0; i <= s->n_ends && st == OK; i++) {
        st = sse_push(p, s->bytes + begin, end_of_piece(s, i) - begin, NULL);
        begin = end_of_piece(s, i);
    }
    return st;
}

static void name_pushes(struct text *what, const char *name, const struct cut_stream *s) {
    static const char before[] = ": sse_push(\"", between[] = "\" | \"",
                      behind[] = "\"): events";
    text_append(what, name, strlen(name));
    text_append(what, before, strlen(before));
    for (size_t i = 0, begin = 0; i <= s->n_ends; i++) {
        if (i > 0) text_append(what, between, strlen(between));
        append_visible(what, s->bytes + begin, end_of_piece(s, i) - begin);
        begin = end_of_piece(s, i);
    }
    text_append(what, behind, strlen(behind));
}

void assert_events(const char *name, const struct cut_stream *s, const char *want) {
    struct transcript got = {0};
    struct text what = {0};
    struct sse_parser p;

    sse_init(&p, 4096, transcript_note, &got);
    enum status st = cut_stream_push(s, &p);
    if (st != OK || strcmp(text_string(&got.text), want) != 0) {
        name_pushes(&what, name, s);
        assert_text(text_string(&what), st == OK ? text_string(&got.text) : status_name(st),
                    want);
    }
    text_free(&got.text);
    sse_free(&p);
}
