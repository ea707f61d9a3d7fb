// What may be shown of an answer, and when it ends. Pieces go in as the model draws them;
// text comes out that is whole UTF-8 and can no longer become part of a stop string. Where
// the pieces were cut changes nothing.
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
    size_t n_held;     // of held in use; 0 once matched and after stop_flush
    size_t max_held;   // the longest stop string, 3 bytes of a cut character, and a piece
};

// max_piece: bytes of the longest piece that will come. Strings are borrowed. ERR_LIMIT
// (param "stop"): too many strings, or one that is empty or too long. After ERR_MEMORY *s
// is all zero.
enum status stop_init(struct stop *s, const struct stop_string *strings, int n_strings,
                      size_t max_piece, struct arena *arena, struct error *err);

// Takes a piece in: n_bytes <= max_piece, any bytes, zero among them; 0 bytes change
// nothing. *text and *n_text are what may be shown now: in s->shown, valid until the next
// call, always valid UTF-8.
//
// Held back is only what a later byte may change, and it is shown as soon as none can:
// - the longest tail that is a proper beginning of a stop string, and the whole character
//   that it begins in the middle of, if it does;
// - half a character at the end that the next bytes may still complete (utf8_whole in
//   common/utf8.h).
// Bytes that are no valid character (utf8_next) show as one U+FFFD each. So does each byte
// of half a character that something else follows, or that a stop string cuts.
//
// true, also for every later call: a stop string is complete. What stands before it is
// shown, with include_stop the stop string too, and nothing after it, ever. The one that is
// complete first counts, wherever it begins; of two that end at the same byte, the longer.
bool stop_push(struct stop *s, const char *piece, size_t n_bytes, const char **text,
               size_t *n_text);

// The end came by itself: the rest that is held, in the same way. Half a character at the
// very end that could still have been completed, up to 3 bytes, shows as one U+FFFD in all.
// Nothing after a match. *text is never NULL, in both functions.
void stop_flush(struct stop *s, const char **text, size_t *n_text);

#endif
