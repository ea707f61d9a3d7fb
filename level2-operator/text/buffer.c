// A buffer doubles, so that n bytes cost O(n) copies however they arrive.
#include "level2-operator/text/buffer.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

static bool make_room(struct buffer *b, size_t needed) {
    if (needed <= b->capacity) return true;
    size_t capacity = b->capacity ? 2 * b->capacity : FIRST_CAPACITY;
    if (capacity < needed) capacity = needed;
    char *grown = realloc(b->bytes, capacity);
    if (!grown) return false;
    b->bytes = grown;
    b->capacity = capacity;
    return true;
}

void buffer_init(struct buffer *b, size_t max_bytes) {
    *b = (struct buffer){.max_bytes = max_bytes};
}

bool buffer_put(struct buffer *b, const void *bytes, size_t n_bytes) {
    if (b->failed || n_bytes > b->max_bytes - b->n_bytes ||
        !make_room(b, b->n_bytes + n_bytes)) {
        b->failed = true;
        return false;
    }
    if (n_bytes) memcpy(b->bytes + b->n_bytes, bytes, n_bytes);
    b->n_bytes += n_bytes;
    return true;
}

bool buffer_put_string(struct buffer *b, const char *string) {
    return buffer_put(b, string, strlen(string));
}

void buffer_clear(struct buffer *b) {
    b->n_bytes = 0;
    b->failed = false;
}

void buffer_free(struct buffer *b) {
    free(b->bytes);
    buffer_init(b, 0);
}
