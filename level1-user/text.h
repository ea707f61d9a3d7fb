// Bytes that grow at the end. Always NUL-terminated once something was appended; NUL bytes inside are
// bytes like any other.
#ifndef LEVEL1_TEXT_H
#define LEVEL1_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes; // owned; NULL while nothing was ever appended
    size_t n, capacity;
};

// false when there is no memory: nothing changed. bytes must not point into t.
bool text_append(struct text *t, const char *bytes, size_t n_bytes);

// The bytes, "" for a text without any.
const char *text_string(const struct text *t);

void text_free(struct text *t); // safe on a zeroed or already freed text

#endif
