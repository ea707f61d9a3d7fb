// The event stream, line by line.
// [exercise events drop]
// A line is collected until its end is seen, whatever the pieces it comes in; so there is one place
// that understands a line, and splits cannot matter.
// [end]
#include "level1-user/events.h"

// [exercise events drop]
#include <string.h>
// [end]

// [exercise events drop]
static const char BYTE_ORDER_MARK[] = "\xef\xbb\xbf";

static enum status keep(struct sse_parser *p, struct text *where, const char *bytes,
                        size_t n_bytes, struct error *err) {
    size_t n_held = p->line.n + p->data.n + p->name.n;
    if (n_held > p->max_event_bytes || n_bytes > p->max_event_bytes - n_held) {
        return error_set(err, ERR_LIMIT, "the server sent an event above %zu bytes",
                         p->max_event_bytes);
    }
    if (!text_append(where, bytes, n_bytes)) {
        return error_set(err, ERR_MEMORY, "no memory for an event of the server");
    }
    return OK;
}

// Where the next such byte stands; n_bytes: nowhere.
static size_t find(const char *bytes, size_t n_bytes, size_t at, char byte) {
    const char *found = memchr(bytes + at, byte, n_bytes - at);
    return found ? (size_t)(found - bytes) : n_bytes;
}

static bool is_field(const char *name, const char *line, size_t n_name) {
    return n_name == strlen(name) && memcmp(name, line, n_name) == 0;
}

// An event without any data line is dropped with its name.
static void dispatch(struct sse_parser *p) {
    if (p->has_data) {
        struct sse_event event = {p->name.n > 0 ? p->name.bytes : "message",
                                  text_string(&p->data), p->data.n};
        p->is_stopped = !p->on_event(p->ctx, &event);
    }
    p->data.n = p->name.n = 0;
    p->has_data = false;
}

// One whole line, its end not included: "field: value", "field:value" or "field".
static enum status take_line(struct sse_parser *p, const char *line, size_t n_line,
                             struct error *err) {
    if (n_line == 0) {
        dispatch(p);
        return OK;
    }
    const char *colon = memchr(line, ':', n_line);
    size_t n_name = colon ? (size_t)(colon - line) : n_line;
    size_t value = n_name + (colon != NULL);
    if (value < n_line && line[value] == ' ') value++;

    if (is_field("data", line, n_name)) {
        enum status st = p->has_data ? keep(p, &p->data, "\n", 1, err) : OK;
        p->has_data = true;
        return st != OK ? st : keep(p, &p->data, line + value, n_line - value, err);
    }
    if (is_field("event", line, n_name)) {
        p->name.n = 0; // the last one counts
        return keep(p, &p->name, line + value, n_line - value, err);
    }
    return OK; // a comment (an empty field name), id, retry, or nothing we know
}

static enum status end_line(struct sse_parser *p, struct error *err) {
    const char *line = text_string(&p->line);
    size_t n_line = p->line.n;
    size_t n_mark = sizeof(BYTE_ORDER_MARK) - 1;

    if (!p->is_started && n_line >= n_mark && memcmp(line, BYTE_ORDER_MARK, n_mark) == 0) {
        line += n_mark;
        n_line -= n_mark;
    }
    p->is_started = true;
    p->line.n = 0; // the bytes stay where they are until the next line comes in
    return take_line(p, line, n_line, err);
}
// [end]

void sse_init(struct sse_parser *p, size_t max_event_bytes, sse_event_fn *on_event,
              void *ctx) {
    *p = (struct sse_parser){
        .on_event = on_event, .ctx = ctx, .max_event_bytes = max_event_bytes};
}

enum status sse_push(struct sse_parser *p, const char *bytes, size_t n_bytes,
                     struct error *err) {
    // [exercise events]
    enum status st = OK;
    size_t cr = 0, lf = 0; // the next ones: looked for again only when they are passed

    if (p->is_stopped) return error_set(err, ERR_STATE, "the event stream has stopped");
    for (size_t at = 0, end; at < n_bytes && st == OK && !p->is_stopped;) {
        bool is_rest_of_crlf = p->after_cr && bytes[at] == '\n';
        if (cr <= at) cr = find(bytes, n_bytes, at, '\r');
        if (lf <= at) lf = find(bytes, n_bytes, at, '\n');
        end = cr < lf ? cr : lf;
        bool has_end = end < n_bytes;

        p->after_cr = has_end && end == cr;
        if (end > at) st = keep(p, &p->line, bytes + at, end - at, err);
        if (has_end && !is_rest_of_crlf && st == OK) st = end_line(p, err);
        at = end + has_end;
    }
    if (st != OK) p->is_stopped = true;
    return st;
    // [end]
}

bool sse_is_inside_event(const struct sse_parser *p) {
    // [exercise events]
    return p->line.n > 0 || p->name.n > 0 || p->has_data;
    // [end]
}

void sse_free(struct sse_parser *p) {
    text_free(&p->line);
    text_free(&p->data);
    text_free(&p->name);
    *p = (struct sse_parser){.is_stopped = true};
}
