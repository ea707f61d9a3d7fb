// UTF-8 at the byte level: what is whole, what is cut, what is wrong.
#ifndef COMMON_UTF8_H
#define COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The first character of text: its code point, and its length in *n_used (1 to 4). A byte that
// starts no valid character gives -1 with *n_used = 1. n_bytes must be above 0.
int32_t utf8_next(const char *text, size_t n_bytes, size_t *n_used);

// A terminal may act on it instead of showing it: below U+0020, and U+007F to U+009F. False for -1.
static inline bool utf8_is_control(int32_t code_point) {
    return (code_point >= 0 && code_point < 0x20) ||
           (code_point >= 0x7f && code_point < 0xa0);
}

// Length of the longest prefix that does not end inside a character that later bytes could still
// complete. At most 3 bytes are held back; bytes that can never become valid are not held.
size_t utf8_whole(const char *text, size_t n_bytes);

bool utf8_valid(const char *text, size_t n_bytes);

// Copies text to out, each invalid byte replaced by U+FFFD (3 bytes). out needs 3 * n_bytes.
// Returns the bytes written.
size_t utf8_repair(char *out, const char *text, size_t n_bytes);

#endif
