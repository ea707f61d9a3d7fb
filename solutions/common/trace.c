// Spans in lanes, and the Chrome trace JSON they become. Recording writes one array element of the
// caller's own lane, so it needs no lock; writing happens when all is quiet.
// Format: "Trace Event Format", complete events (ph = X), times in microseconds.
#include "common/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"

enum status trace_init(struct trace *t, struct arena *arena, int n_lanes,
                       struct clock *clock, struct error *err) {
    memset(t, 0, sizeof(*t));
    struct trace_lane *lanes = ARENA_NEW(arena, struct trace_lane, n_lanes);
    if (!lanes) return error_set(err, ERR_MEMORY, "no memory for %d trace lanes", n_lanes);

    for (int i = 0; i < n_lanes; i++) {
        lanes[i].spans = ARENA_NEW(arena, struct trace_span, LIMIT_TRACE_SPANS);
        if (!lanes[i].spans) {
            return error_set(err, ERR_MEMORY, "no memory for trace lane %d of %d", i,
                             n_lanes);
        }
    }
    *t = (struct trace){.lanes = lanes, .n_lanes = n_lanes, .clock = clock};
    return OK;
}

void trace_end(struct trace *t, int lane, const char *name, int64_t begin_ns, int64_t arg) {
    if (!t) return;
    struct trace_lane *to = &t->lanes[lane];
    if (to->n_spans == LIMIT_TRACE_SPANS) {
        to->n_dropped++;
        return;
    }
    to->spans[to->n_spans++] =
        (struct trace_span){name, begin_ns, clock_now(t->clock), arg};
}

static void write_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') fputc('\\', out);
        if ((unsigned char)*c < 0x20) {
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        } else {
            fputc(*c, out);
        }
    }
    fputc('"', out);
}

// Nanoseconds as microseconds with three decimals: exact, where a double would round.
static void write_us(FILE *out, int64_t n_ns) {
    fprintf(out, "%" PRId64 ".%03d", n_ns / 1000, (int)(n_ns % 1000));
}

static void write_lane_name(FILE *out, int lane) {
    fprintf(out,
            "{\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"name\":\"thread_name\","
            "\"args\":{\"name\":\"lane %d\"}}",
            lane, lane);
}

static void write_span(FILE *out, int lane, const struct trace_span *span,
                       int64_t zero_ns) {
    fprintf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"name\":", lane);
    write_string(out, span->name);
    fputs(",\"ts\":", out);
    write_us(out, span->begin_ns - zero_ns);
    fputs(",\"dur\":", out);
    write_us(out, span->end_ns - span->begin_ns);
    if (span->arg != -1) fprintf(out, ",\"args\":{\"n\":%" PRId64 "}", span->arg);
    fputc('}', out);
}

// The earliest begin of all: the viewer's zero.
static int64_t first_begin(const struct trace *t) {
    int64_t first_ns = INT64_MAX;
    for (int lane = 0; lane < t->n_lanes; lane++) {
        for (int i = 0; i < t->lanes[lane].n_spans; i++) {
            int64_t begin_ns = t->lanes[lane].spans[i].begin_ns;
            if (begin_ns < first_ns) first_ns = begin_ns;
        }
    }
    return first_ns;
}

static void write_all(FILE *out, const struct trace *t) {
    int64_t zero_ns = first_begin(t);
    long n_dropped = 0;

    fputs("{\"traceEvents\":[\n", out);
    for (int lane = 0; lane < t->n_lanes; lane++) {
        if (lane > 0) fputs(",\n", out);
        write_lane_name(out, lane);
        for (int i = 0; i < t->lanes[lane].n_spans; i++) {
            write_span(out, lane, &t->lanes[lane].spans[i], zero_ns);
        }
        n_dropped += t->lanes[lane].n_dropped;
    }
    fprintf(out, "\n],\"otherData\":{\"dropped_spans\":%ld}}\n", n_dropped);
}

enum status trace_write(const struct trace *t, const char *path, struct error *err) {
    FILE *out = fopen(path, "w");
    if (!out) return error_set(err, ERR_IO, "%s: %s", path, strerror(errno));

    write_all(out, t);
    bool is_whole = !ferror(out);
    if (fclose(out) != 0 || !is_whole) {
        return error_set(err, ERR_IO, "%s: cannot write the whole trace: %s", path,
                         strerror(errno));
    }
    return OK;
}
