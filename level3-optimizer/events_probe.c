// One parser for all repeats, as for one long answer.
#include "level3-optimizer/events_probe.h"

#include "common/limits.h"
#include "level1-user/events.h"

static bool count_event(void *n_events, const struct sse_event *event) {
    (void)event;
    ++*(int64_t *)n_events;
    return true;
}

static enum status push_all(struct sse_parser *parser, const struct events_probe *p,
                            struct error *err) {
    enum status st = OK;
    for (size_t at = 0, n; at < p->n_bytes && st == OK; at += n) {
        n = p->n_bytes - at < EVENTS_READ_BYTES ? p->n_bytes - at : EVENTS_READ_BYTES;
        st = sse_push(parser, p->stream + at, n, err);
    }
    return st;
}

enum status events_probe_init(struct events_probe *p, const char *stream, size_t n_bytes,
                              struct error *err) {
    struct sse_parser parser;
    int64_t n_events = 0;

    *p = (struct events_probe){.stream = stream, .n_bytes = n_bytes};
    sse_init(&parser, LIMIT_EVENT_BYTES, count_event, &n_events);
    enum status st = push_all(&parser, p, err);
    if (st == OK && (n_events == 0 || sse_is_inside_event(&parser)))
        st = error_set(err, ERR_INPUT,
                       n_events == 0 ? "no event in it" : "its last event has no end");
    sse_free(&parser);
    if (st != OK) return st;
    p->n_repeats = 1 + (int64_t)((EVENTS_PROBE_BYTES - 1) / n_bytes);
    p->n_events = p->n_repeats * n_events;
    return OK;
}

double events_probe_run(void *probe) {
    const struct events_probe *p = probe;
    struct sse_parser parser;
    int64_t n_events = 0;

    sse_init(&parser, LIMIT_EVENT_BYTES, count_event, &n_events);
    for (int64_t i = 0; i < p->n_repeats; i++) MUST(push_all(&parser, p, NULL) == OK);
    sse_free(&parser);
    MUST(n_events == p->n_events);
    return (double)p->n_repeats * (double)p->n_bytes;
}
