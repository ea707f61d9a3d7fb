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
    bool include_stop; // the stop string itself is shown; set by the caller after stop_init
    bool matched;      // a stop string was complete: there is nothing more to show
    char *held;        // (max_held): bytes not shown yet; owned by the arena
    char *shown;       // (3 * max_held): what the last call showed; owned by the arena
    size_t n_held, max_held; // the longest stop string, 3 bytes of a cut character, a piece
};

// max_piece: bytes of the longest piece that will come. Strings are borrowed. ERR_LIMIT (param
// "stop"): too many strings, or one that is empty or too long. After ERR_MEMORY *s is all zero.
enum status stop_init(struct stop *s, const struct stop_string *strings, int n_strings,
                      size_t max_piece, struct arena *arena, struct error *err);

// Takes a piece in. *text and *n_text are what may be shown now: valid until the next call, always
// valid UTF-8. Only two things are held back: the longest tail that begins a stop string, and
// half a character that the next byte may still complete. Half a character that was followed by
// anything else, and a byte that belongs to no character, show as one U+FFFD per byte.
// true, also for every later call: a stop string is complete; nothing after it is ever shown. The
// one that is complete first counts, wherever it begins; of two that end together, the longer.
bool stop_push(struct stop *s, const char *piece, size_t n_bytes, const char **text,
               size_t *n_text);

// The end came by itself: the rest that was held. A character cut by the end, up to 3 bytes, shows as
// one U+FFFD.
void stop_flush(struct stop *s, const char **text, size_t *n_text);

#endif
