// How things fail. Bad input, the system, memory and limits give a status and one sentence;
// a broken invariant of our own gives MUST. Nothing below main ever calls exit.
#ifndef COMMON_STATUS_H
#define COMMON_STATUS_H

#include <stdbool.h>

enum status {
    OK = 0,
    ERR_IO,          // the system refused: open, read, bind, thread
    ERR_FORMAT,      // bytes from outside are not what their format promises
    ERR_MEMORY,      // no memory, or more than was allowed
    ERR_LIMIT,       // above a limit of common/limits.h
    ERR_INPUT,       // an argument or field has a wrong type, range or value
    ERR_UNSUPPORTED, // well formed, but not built here
    ERR_CONTEXT,     // more tokens than the context holds
    ERR_BUSY,        // a bounded queue is full; try again later
    ERR_STATE,       // not now: loading, draining, stopped
    ERR_NUMERIC,     // a result is not a number
    STATUS_COUNT
};

// Caller-owned. Written only on failure. May be NULL when nobody will read it.
struct error {
    enum status code;
    char text[240]; // one line: what, where, what to do
    char param[64]; // the request field or file field at fault, "" if none
};

// Fills err (if not NULL) and returns code, so that `return error_set(...)` reads well.
// Text that does not fit is cut at a whole UTF-8 character; control characters and invalid bytes
// become '?'. The arguments may point into *err, so that a caller can say where it happened.
enum status error_set(struct error *err, enum status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// The same, and names the field at fault.
enum status error_set_param(struct error *err, enum status code, const char *param,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

// What of a path goes into a message: its end, if all of it would leave no room for the reason. Points
// into path.
const char *error_path(const char *path);

// "ok", "io", "format", ...: for logs and tests.
const char *status_name(enum status st);

// For broken invariants only: prints file, line and the condition, then aborts.
_Noreturn void must_fail(const char *condition, const char *file, int line);
#define MUST(condition) ((condition) ? (void)0 : must_fail(#condition, __FILE__, __LINE__))

#endif
