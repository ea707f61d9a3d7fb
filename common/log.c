// Each line is built on the stack and handed over whole, so that lines of two threads never mix.
#include "common/log.h"

#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/utf8.h"

enum { LINE_BYTES = 2048, MESSAGE_BYTES = 512, ESCAPE_BYTES = 16 };

static const char *level_name(enum log_level level) {
    static const char *const names[] = {"debug", "info", "warn", "error"};
    return (unsigned)level < LOG_OFF ? names[level] : "unknown";
}

// What stands for one character between quotes; NULL: it stands for itself.
static const char *escape_of(char buffer[ESCAPE_BYTES], int32_t code_point) {
    static const char escaped[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
    if (code_point < 0) return "\\ufffd"; // not UTF-8

    const char *at = code_point < 0x80 ? strchr(escaped, code_point) : NULL;
    bool is_control = utf8_is_control(code_point);
    if (at)
        snprintf(buffer, ESCAPE_BYTES, "\\%c", letters[at - escaped]);
    else if (is_control)
        snprintf(buffer, ESCAPE_BYTES, "\\u%04x", (unsigned)code_point);
    return at || is_control ? buffer : NULL;
}

// "2026-02-28T09:00:00.123Z": sorts as text, and needs no time zone.
static void write_time(char out[32]) {
    struct timespec now;
    struct tm utc;
    char seconds[24];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, 32, "%s.%03dZ", seconds, (int)(now.tv_nsec / 1000000));
}

// The caller's fields are his to quote; a line break in them would still forge a line.
static void flatten(char *text) {
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = ' ';
    }
}

// A pipe that poll calls writable has room for PIPE_BUF bytes (4096 on Linux), so for a line; one
// that is full would hold up the thread until somebody reads.
static bool has_room(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

// Past the stream's buffer: it would keep what the disk does not take, and bring it with the next
// line.
static bool write_line(FILE *out, const char *line, size_t n) {
    int fd = fileno(out);
    if (fd < 0) return fwrite(line, 1, n, out) == n && fflush(out) == 0; // memory
    flockfile(out);
    bool is_written = fflush(out) == 0 && has_room(fd) && write(fd, line, n) == (ssize_t)n;
    funlockfile(out);
    return is_written;
}

void log_line(const struct log *log, enum log_level level, const char *msg,
              const char *fields, ...) {
    if (!log || !log->out || level < log->level || level >= LOG_OFF) return;

    char line[LINE_BYTES], time_text[32], quoted[MESSAGE_BYTES];
    write_time(time_text);
    log_quote(quoted, sizeof(quoted), msg);
    size_t n = (size_t)snprintf(line, sizeof(line), "time=%s level=%s msg=%s%s", time_text,
                                level_name(level), quoted, fields ? " " : "");
    if (fields) {
        va_list args;
        va_start(args, fields);
        vsnprintf(line + n, sizeof(line) - 1 - n, fields, args); // 1: the line break
        va_end(args);
        flatten(line + n);
        n = strlen(line);
        n = utf8_whole(line, n); // it may have been cut
    }
    line[n++] = '\n';
    if (!write_line(log->out, line, n) && log->n_lost) atomic_fetch_add(log->n_lost, 1);
}

const char *log_quote(char *out, size_t out_bytes, const char *value) {
    size_t n_left = strlen(value), n_out = 0, n_used;
    if (out_bytes == 0) return "";
    if (out_bytes < 3) { // no room for two quotes and the end
        out[0] = '\0';
        return out;
    }
    out[n_out++] = '"';
    for (; n_left > 0; value += n_used, n_left -= n_used) {
        char buffer[ESCAPE_BYTES];
        const char *piece = escape_of(buffer, utf8_next(value, n_left, &n_used));
        size_t n_piece = piece ? strlen(piece) : n_used;
        if (n_out + n_piece + 2 > out_bytes) break;
        memcpy(out + n_out, piece ? piece : value, n_piece);
        n_out += n_piece;
    }
    out[n_out++] = '"';
    out[n_out] = '\0';
    return out;
}
