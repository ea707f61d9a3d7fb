// Server-sent events from bytes that arrive in any pieces: WHATWG HTML, section 9.2.6.
// What comes out depends on the bytes alone, never on where one piece ends and the next
// begins.
//
//   bytes ──sse_push──▶ [ line under way | name and data so far ] ──sse_event_fn──▶ event
//
//   line end     LF, CR or CRLF, also mixed. A CR ends its line at once; a LF right
//                behind it belongs to it, even when it comes with the next piece.
//   field line   "name: value". The name ends at the first colon; one space behind the
//                colon is not part of the value, a second one is. Without a colon the
//                whole line is the name and the value is empty.
//   data         adds its value to the data of the event; between two values stands one
//                LF. An empty value counts: "data" alone makes an event with data "".
//   event        its value is the name of the event; the last one counts, an empty one is
//                none.
//   other names  do nothing: id, retry, unknown ones, and comments, whose name is empty
//                (": ping").
//   empty line   ends the event: on_event is called if a data line came, and is not if
//                none came. Either way name and data are then forgotten.
//   EF BB BF     a byte order mark: skipped at the start of the stream, a part of the
//                line elsewhere.
//   NUL          a byte like any other.
#ifndef LEVEL1_EVENTS_H
#define LEVEL1_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"
#include "level1-user/text.h"

// Valid during the call of sse_event_fn only.
struct sse_event {
    const char *name; // NUL-terminated; "message" if the stream gave none
    const char *data; // n_data bytes and a NUL behind them; may hold NUL bytes itself
    size_t n_data;
};

// Returning false stops the parser: the rest of the push is ignored.
typedef bool sse_event_fn(void *ctx, const struct sse_event *event);

struct sse_parser {
    // owned
    struct text line;       // what has come of the line under way, its end not included
    struct text data, name; // of the event under way
    // borrowed
    sse_event_fn *on_event;
    void *ctx;
    // state
    bool has_data;   // a data line came, perhaps an empty one
    bool after_cr;   // the last byte was CR: a LF now belongs to it
    bool is_started; // the first line, which may begin with a byte order mark, is over
    bool is_stopped; // by the listener, by an error, or by sse_free
    // limit, fixed at init
    size_t max_event_bytes; // line, data and name together
};

void sse_init(struct sse_parser *p, size_t max_event_bytes, sse_event_fn *on_event,
              void *ctx);

// Takes n_bytes more of the stream, 0 or any number, and calls on_event for each event
// that they complete, in order. OK also when the listener stops.
// ERR_LIMIT: line, data and name together came above max_event_bytes while a line was
// collected; any line counts, comments too, its end does not. Exactly max_event_bytes
// pass. Events that were complete before have been handed out.
// ERR_MEMORY: no memory. After a stop or an error: ERR_STATE, and nothing is called.
enum status sse_push(struct sse_parser *p, const char *bytes, size_t n_bytes,
                     struct error *err);

// For the end of the stream: true if something was left unfinished, which is never handed
// out: line or name hold a byte, or has_data. After a stop or an error it means nothing.
bool sse_is_inside_event(const struct sse_parser *p);

void sse_free(struct sse_parser *p); // safe on a zeroed parser, and twice

#endif
