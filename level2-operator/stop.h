// What may be shown of an answer, and when it ends. Pieces go in as the model draws them; text
// comes out that is whole UTF-8 and can no longer become part of a stop string.
// An exercise: solutions/level2-operator/stop.c.
//
//   "The quick br" "own" " fox"   stop "own fox"   ──▶  "The quick br"   then matched
#ifndef LEVEL2_STOP_H
#define LEVEL2_STOP_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/limits.h"
#include "common/status.h"

struct stop_string {
    const char *bytes; // borrowed
    size_t n_bytes;    // 1 .. LIMIT_STOP_BYTES
};

struct stop {
    struct stop_string strings[LIMIT_STOP_STRINGS];
    int n_strings;
    bool include_stop; // the stop string itself is shown
    bool matched;
    char *held;  // (max_held): bytes not shown yet; owned by the arena
    char *shown; // (3 * max_held): what the last call showed; owned by the arena
    size_t n_held, max_held;
};

// max_piece: bytes of the longest piece that will come. Strings are borrowed. ERR_LIMIT (param
// "stop"): too many strings, or one that is empty or too long.
enum status stop_init(struct stop *s, const struct stop_string *strings, int n_strings,
                      size_t max_piece, struct arena *arena, struct error *err);

// Takes a piece in. *text and *n_text are what may be shown now: valid until the next call, always
// valid UTF-8 (a byte that can belong to no character is shown as U+FFFD). true: a stop string is
// complete; nothing after it is ever shown. The stop string that is complete first counts; of two
// that end at the same byte, the longer.
bool stop_push(struct stop *s, const char *piece, size_t n_bytes, const char **text,
               size_t *n_text);

// The end came by itself: the rest that was held, a cut character as one U+FFFD.
void stop_flush(struct stop *s, const char **text, size_t *n_text);

#endif
