// How an error is written down: code, one sentence, the field at fault.
#include "common/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"

// Errors quote bytes of strangers: whatever is no character, starts a new line or moves the cursor
// becomes '?'. So the text is also fit for JSON.
static void make_printable(char *text, size_t capacity) {
    size_t n = strlen(text), n_used;
    if (n == capacity - 1) n = utf8_whole(text, n); // it may have been cut
    text[n] = '\0';
    for (size_t i = 0; i < n; i += n_used) {
        int32_t c = utf8_next(text + i, n - i, &n_used);
        if (c < 0 || utf8_is_control(c)) memset(text + i, '?', n_used);
    }
}

static enum status error_write(struct error *err, enum status code, const char *param,
                               const char *format, va_list args)
    __attribute__((format(printf, 4, 0)));

static enum status error_write(struct error *err, enum status code, const char *param,
                               const char *format, va_list args) {
    MUST(code != OK);
    if (!err) return code;
    struct error e = {.code = code}; // apart: args may point into *err ("layer 3: " + text)
    vsnprintf(e.text, sizeof(e.text), format, args);
    make_printable(e.text, sizeof(e.text));
    snprintf(e.param, sizeof(e.param), "%s", param);
    make_printable(e.param, sizeof(e.param));
    *err = e;
    return code;
}

enum status error_set(struct error *err, enum status code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_write(err, code, "", format, args);
    va_end(args);
    return code;
}

enum status error_set_param(struct error *err, enum status code, const char *param,
                            const char *format, ...) {
    va_list args;
    va_start(args, format);
    error_write(err, code, param, format, args);
    va_end(args);
    return code;
}

const char *error_path(const char *path) {
    enum { SHOWN_BYTES = 100 };
    size_t n = strlen(path);
    if (n <= SHOWN_BYTES) return path;
    const char *end = path + n - SHOWN_BYTES, *slash = strchr(end, '/');
    if (slash && slash[1]) return slash + 1;            // whole names, if there is one
    while (((unsigned char)*end & 0xc0) == 0x80) end++; // and whole characters
    return end;
}

const char *status_name(enum status st) {
    static const char *const names[STATUS_COUNT] = {
        "ok",          "io",      "format", "memory", "limit",   "input",
        "unsupported", "context", "busy",   "state",  "numeric",
    };
    return (unsigned)st < STATUS_COUNT ? names[st] : "unknown";
}

void must_fail(const char *condition, const char *file, int line) {
    fprintf(stderr, "%s:%d: broken invariant: %s\n", file, line, condition);
    fflush(stderr);
    abort();
}
