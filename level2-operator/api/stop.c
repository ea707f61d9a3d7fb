// Yours to write. Contract: level2-operator/api/stop.h. Explained: docs/level2/stop.md.
// Red or green: make test EX=stop
//
// Stop strings over pieces. What is shown depends on the bytes alone, never on how they were cut.
// Not here: stop ids and the end-of-generation set, which are the engine's.
#include "level2-operator/api/stop.h"

#include <string.h>

#include "common/exercise.h"

enum { REPLACEMENT_BYTES = 3, CUT_CHARACTER_BYTES = 3 };

enum status stop_init(struct stop *s, const struct stop_string *strings, int n_strings,
                      size_t max_piece, struct arena *arena, struct error *err) {
    memset(s, 0, sizeof(*s));
    if (n_strings < 0 || n_strings > LIMIT_STOP_STRINGS)
        return error_set_param(err, ERR_LIMIT, "stop", "%d stop strings: at most %d",
                               n_strings, LIMIT_STOP_STRINGS);
    size_t longest = 0;
    for (int i = 0; i < n_strings; i++) {
        size_t n_bytes = strings[i].n_bytes;
        if (n_bytes < 1 || n_bytes > LIMIT_STOP_BYTES)
            return error_set_param(err, ERR_LIMIT, "stop",
                                   "a stop string of %zu bytes: it must have 1 to %d",
                                   n_bytes, LIMIT_STOP_BYTES);
        if (n_bytes > longest) longest = n_bytes;
        s->strings[i] = strings[i];
    }
    s->max_held = longest + CUT_CHARACTER_BYTES + max_piece;
    s->held = ARENA_NEW(arena, char, s->max_held);
    s->shown = arena_alloc(arena, s->max_held, REPLACEMENT_BYTES);
    if (!s->held || !s->shown) {
        memset(s, 0, sizeof(*s));
        return error_set(err, ERR_MEMORY, "no memory to look for stop strings");
    }
    s->n_strings = n_strings;
    return OK;
}

bool stop_push(struct stop *s, const char *piece, size_t n_bytes, const char **text,
               size_t *n_text) {
    EXERCISE("stop");
}

void stop_flush(struct stop *s, const char **text, size_t *n_text) {
    EXERCISE("stop");
}
