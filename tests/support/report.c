// One file, opened for appending before any child is forked, so that all of them write to its end.
// Each line goes out by one write: lines of two processes never mix.
#include "tests/support/report.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NO_FILE = -1, MAX_LINE = 4096, MAX_TEXT = 1000, ANY_INDEX = -1 };

static struct {
    int fd;
    char nonce[64];
    char only[128]; // "": every test
    int only_index;
} report = {.fd = NO_FILE, .only_index = ANY_INDEX};

static void write_line(char *line, size_t n) {
    if (n >= MAX_LINE) n = MAX_LINE - 1;
    line[n++] = '\n';
    // A lost line makes the harness say "ended early": never a pass that was none.
    if (write(report.fd, line, n) != (ssize_t)n) _exit(EXIT_FAILURE);
}

// As JSON does it: quotes, backslashes and control characters escaped; bytes from 0x80 on as they are.
static size_t put_string(char *out, const char *text) {
    size_t n = 0;
    out[n++] = '"';
    for (size_t i = 0; text[i] && i < MAX_TEXT; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\') out[n++] = '\\';
        if (c >= ' ')
            out[n++] = (char)c;
        else
            n += (size_t)snprintf(out + n, 8, "\\u%04x", c);
        if (n > MAX_TEXT) break;
    }
    out[n++] = '"';
    out[n] = '\0';
    return n;
}

void report_choose(const char *only) {
    snprintf(report.only, sizeof(report.only), "%s", only);
    char *bracket = strchr(report.only, '[');
    if (bracket) {
        report.only_index = atoi(bracket + 1);
        *bracket = '\0';
    }
}

bool report_open(const char *path, const char *only) {
    if (only) report_choose(only);
    report.fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ssize_t n = read(STDIN_FILENO, report.nonce, sizeof(report.nonce) - 1);
    report.nonce[n > 0 ? n : 0] = '\0';
    report.nonce[strcspn(report.nonce, "\n")] = '\0';
    return report.fd != NO_FILE && report.nonce[0];
}

bool report_begin(const char *test_name, int index) {
    char line[MAX_LINE];
    if (report.only[0] && strcmp(report.only, test_name) != 0) return false;
    if (report.only_index != ANY_INDEX && report.only_index != index) return false;
    if (report.fd != NO_FILE)
        write_line(line, (size_t)snprintf(line, sizeof(line), "%ld begin %s %d",
                                          (long)getpid(), test_name, index));
    return true;
}

void report_end(void) {
    char line[MAX_LINE];
    if (report.fd != NO_FILE)
        write_line(line, (size_t)snprintf(line, sizeof(line), "%ld end %s", (long)getpid(),
                                          report.nonce));
}

static void differs(const char *what, size_t index, const char *got, const char *want,
                    double used) {
    char line[MAX_LINE], quoted[3][MAX_TEXT + 16], share[32] = "null";

    if (report.fd == NO_FILE) return;
    put_string(quoted[0], what);
    put_string(quoted[1], got);
    put_string(quoted[2], want);
    if (isfinite(used)) snprintf(share, sizeof(share), "%.4g", used);
    write_line(line, (size_t)snprintf(line, sizeof(line),
                                      "%ld differs {\"what\": %s, \"index\": %zu, \"got\": "
                                      "%s, \"want\": %s, \"used\": %s}",
                                      (long)getpid(), quoted[0], index, quoted[1],
                                      quoted[2], share));
}

void report_differs_text(const char *what, size_t index, const char *got,
                         const char *want) {
    differs(what, index, got, want, INFINITY);
}

// clang does not see that the callers' formats are literals, which report.h lets the compiler check.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void report_differs(const char *what, size_t index, const char *format, double got,
                    double want, double used) {
    char got_text[64], want_text[64];
    snprintf(got_text, sizeof(got_text), format, got);
    snprintf(want_text, sizeof(want_text), format, want);
    differs(what, index, got_text, want_text, used);
}
#pragma GCC diagnostic pop
