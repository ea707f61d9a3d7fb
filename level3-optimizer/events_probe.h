// How fast the event stream parser of level 1 reads: a recorded stream, again and again, in reads as
// large as those of a client. The listener only counts, so nothing else is measured.
#ifndef LEVEL3_EVENTS_PROBE_H
#define LEVEL3_EVENTS_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum {
    EVENTS_READ_BYTES = 16 << 10, // what libcurl hands out at once, at the most
    EVENTS_PROBE_BYTES =
        64 << 20, // of one run: a stream is repeated until there are as many
};

struct events_probe {
    // borrowed
    const char *stream; // (n_bytes): ends behind a whole event, so that it can be repeated
    size_t n_bytes;
    // of one run
    int64_t n_repeats, n_events;
};

// Reads the stream once. ERR_INPUT: it holds no event, or ends inside one. Errors of sse_push.
enum status events_probe_init(struct events_probe *p, const char *stream, size_t n_bytes,
                              struct error *err);

double events_probe_run(void *probe); // bytes read

#endif
