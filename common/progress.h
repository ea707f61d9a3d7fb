// A progress bar for what takes longer than two seconds, on a terminal only.
//
//   loading  [#############.............]  48 %  47.2 of 98.4 MB
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/clock.h"

struct progress {
    // borrowed
    FILE *out; // NULL: silent
    const char *what;
    struct clock *clock;
    // state
    uint64_t total;
    int64_t start_ns, drawn_ns; // drawn_ns: when the bar was last drawn
    bool is_drawn;
    // fixed at start
    bool in_bytes; // total counts bytes: shown as MB
};

// total: what counts as all; above 0. Silent unless out is a terminal.
void progress_start(struct progress *p, FILE *out, struct clock *clock, const char *what,
                    uint64_t total, bool in_bytes);

// Cheap enough to call often: draws at most ten times a second, and nothing in the first two.
void progress_update(struct progress *p, uint64_t done);

// Takes the bar away, so that the next line starts clean.
void progress_end(struct progress *p);

#endif
