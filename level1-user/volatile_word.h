// A word near the front of a prompt that looks as if it were another one in the next request: a date, a
// time of day, a UUID. A guess from its shape alone; two requests say more (prompt.h, audit.h).
#ifndef LEVEL1_VOLATILE_WORD_H
#define LEVEL1_VOLATILE_WORD_H

#include <stdbool.h>
#include <stddef.h>

struct volatile_word {
    size_t at, n_bytes; // from its first byte to the next space, at most 40 bytes
    size_t n_behind;    // bytes of the text behind it
};

// The first one with more of the text behind it than in front. Known are 2026-11-30, 30.11.2026,
// 11/30/2026, 10:05 and whatever follows them without a space, and UUIDs in five groups.
// false: none, and *w is not written.
bool volatile_word_find(struct volatile_word *w, const char *text);

#endif
