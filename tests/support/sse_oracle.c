// The standard in its own words: first all line ends become LF, then comes line after line.
#include "tests/support/sse_oracle.h"

#include <string.h>

// A literal and its bytes, NUL bytes inside it as well.
#define BYTES(literal) literal, sizeof(literal) - 1

void random_stream(struct draw *d, int round, struct text *out) {
    static const struct {
        const char *bytes;
        size_t n;
    } pieces[] = {
        {BYTES("data")}, {BYTES("event")}, {BYTES(":")},        {BYTES(" ")},
        {BYTES("a")},    {BYTES("\0")},    {BYTES("\xc3\xa9")}, {BYTES("id")},
        {BYTES("\n")},   {BYTES("\n")},    {BYTES("\r")},       {BYTES("\r\n")},
        {BYTES("\n:")},  {BYTES("data:")}, {BYTES("event: b")}, {BYTES("data: x\n\n")},
    };
    char letters[4] = {(char)draw_int(d, 'a', 'z'), (char)draw_int(d, 'a', 'z'), '\r',
                       '\n'};

    out->n = 0;
    if (draw_int(d, 0, 9) == 0) text_append(out, BYTES("\xef\xbb\xbf"));
    text_append(out, BYTES("data: "));
    text_append(out, letters, 4);
    for (int n = draw_int(d, 0, 2 + round / 50); n > 0; n--) {
        int i = draw_int(d, 0, 15);
        text_append(out, pieces[i].bytes, pieces[i].n);
    }
}

static void normalise(const struct text *stream, struct text *lines) {
    bool has_mark = stream->n >= 3 && memcmp(stream->bytes, "\xef\xbb\xbf", 3) == 0;
    lines->n = 0;
    for (size_t i = has_mark ? 3 : 0; i < stream->n; i++) {
        char c = stream->bytes[i];
        if (c == '\n' && i > 0 && stream->bytes[i - 1] == '\r') continue;
        text_append(lines, c == '\r' ? "\n" : &c, 1);
    }
}

struct heard {
    struct text data, name; // data with a LF behind each value
};

static void hear_line(struct heard *h, struct transcript *said, const char *line,
                      size_t n) {
    const char *colon = memchr(line, ':', n);
    size_t n_field = colon ? (size_t)(colon - line) : n;
    size_t value = !colon ? n : n_field + (n_field + 1 < n && colon[1] == ' ' ? 2 : 1);

    if (n == 0 && h->data.n > 0) {
        h->data.bytes[--h->data.n] = '\0';
        const char *name = h->name.n > 0 ? h->name.bytes : "message";
        transcript_note(said, &(struct sse_event){name, h->data.bytes, h->data.n});
    }
    if (n == 0) h->data.n = h->name.n = 0;
    if (n_field == 4 && memcmp(line, "data", 4) == 0) {
        text_append(&h->data, line + value, n - value);
        text_append(&h->data, "\n", 1);
    }
    if (n_field == 5 && memcmp(line, "event", 5) == 0) {
        h->name.n = 0;
        text_append(&h->name, line + value, n - value);
    }
}

void hear_slowly(const struct text *stream, struct transcript *said) {
    struct text lines = {0};
    struct heard h = {0};

    normalise(stream, &lines);
    for (size_t begin = 0, i = 0; i < lines.n; i++) {
        if (lines.bytes[i] != '\n') continue;
        hear_line(&h, said, lines.bytes + begin, i - begin);
        begin = i + 1;
    }
    text_free(&lines);
    text_free(&h.data);
    text_free(&h.name);
}
