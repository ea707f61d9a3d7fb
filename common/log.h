// One line per fact, in logfmt: time=... level=info msg="..." key=value key="two words".
// Safe from any thread: one write per line. Never log a key, a prompt or an answer.
//
// A line that cannot be written is lost and counted, and nobody waits: not for a disk that is
// full, not for a pipe that nobody reads.
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_OFF };

struct log {
    FILE *out;                // borrowed; NULL: silent
    enum log_level level;     // lines below it are dropped
    _Atomic uint64_t *n_lost; // borrowed; NULL: not counted
};

// fields: printf format of the rest of the line, already logfmt ("model=%s n=%d"), or NULL.
void log_line(const struct log *log, enum log_level level, const char *msg,
              const char *fields, ...) __attribute__((format(printf, 4, 5)));

// Writes value to out between quotes and escaped, cut at a whole character if it is too long, and
// returns out. Fewer than 3 bytes hold no quotes: then out is empty.
const char *log_quote(char *out, size_t out_bytes, const char *value);

#endif
