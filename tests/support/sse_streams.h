// Event streams cut into pieces, and what a listener heard of them, both as text that one can read.
#ifndef TESTS_SUPPORT_SSE_STREAMS_H
#define TESTS_SUPPORT_SSE_STREAMS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/status.h"
#include "level1-user/events.h"
#include "level1-user/text.h"

// "<name:data>" for each event. Control characters and bytes above ASCII stand there as C writes
// them: \n, \r, \0, \xd0.
struct transcript {
    struct text text; // owned
    int n_events;
    int stop_after; // events; 0: never
};

// The sse_event_fn of a struct transcript.
bool transcript_note(void *t, const struct sse_event *event);

// Piece i ends before ends[i]; the last one at the end of the stream.
struct cut_stream {
    const char *bytes;
    size_t n_bytes;
    const size_t *ends; // (n_ends)
    size_t n_ends;
};

// All pieces, until one is refused.
enum status cut_stream_push(const struct cut_stream *s, struct sse_parser *p);

// A new parser hears exactly this: `name: sse_push("data: A\r" | "\n\n"): events` is judged.
void assert_events(const char *name, const struct cut_stream *s, const char *want);

#endif
