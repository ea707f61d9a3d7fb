// Server-sent events from bytes that arrive in any pieces. CR, LF and CRLF end a line; comments
// are skipped; data lines of one event are joined by LF; a byte order mark at the start is skipped.
// WHATWG HTML, section 9.2.6. An exercise: solutions/level1-user/events.c.
//
//   bytes ──sse_push──▶ [ line | data and name so far ] ──sse_event_fn──▶ {name, data}
#ifndef LEVEL1_EVENTS_H
#define LEVEL1_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"
#include "level1-user/text.h"

struct sse_event {
    const char *name; // NUL-terminated; "message" if the stream gave none
    const char *data; // NUL-terminated, may hold NUL bytes itself
    size_t n_data;
};

// Returning false stops the parser: the rest of the push is ignored.
typedef bool sse_event_fn(void *ctx, const struct sse_event *event);

struct sse_parser {
    // owned
    struct text line, data, name; // of the event under way
    // borrowed
    sse_event_fn *on_event;
    void *ctx;
    // state
    bool has_data;   // a data line came, perhaps an empty one
    bool after_cr;   // the last byte was CR: a LF now belongs to it
    bool is_started; // the first line, which may begin with a byte order mark, is over
    bool is_stopped;
    // limit, fixed at init
    size_t max_event_bytes; // line, data and name together
};

void sse_init(struct sse_parser *p, size_t max_event_bytes, sse_event_fn *on_event,
              void *ctx);

// Takes bytes in; calls on_event for each event that became complete. ERR_LIMIT: an event larger
// than max_event_bytes; ERR_MEMORY. After an error or a stop nothing more is accepted: ERR_STATE.
enum status sse_push(struct sse_parser *p, const char *bytes, size_t n_bytes,
                     struct error *err);

// True when the stream ended inside an event: what was not dispatched is dropped, as the standard
// says, and the caller reports a cut stream.
bool sse_is_inside_event(const struct sse_parser *p);

void sse_free(struct sse_parser *p); // safe on a zeroed parser

#endif
