// Growing by doubling: n appends copy each byte about once on average.
#include "level1-user/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct text *t, size_t n_bytes) {
    enum { FIRST_BYTES = 64 };
    size_t capacity = t->capacity < FIRST_BYTES ? FIRST_BYTES : t->capacity;

    if (n_bytes <= t->capacity) return true;
    while (capacity < n_bytes) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    char *bytes = realloc(t->bytes, capacity);
    if (!bytes) return false;
    t->bytes = bytes;
    t->capacity = capacity;
    return true;
}

bool text_append(struct text *t, const char *bytes, size_t n_bytes) {
    if (n_bytes > SIZE_MAX - t->n - 1 || !reserve(t, t->n + n_bytes + 1)) return false;
    if (n_bytes > 0) memcpy(t->bytes + t->n, bytes, n_bytes);
    t->n += n_bytes;
    t->bytes[t->n] = '\0';
    return true;
}

const char *text_string(const struct text *t) {
    return t->bytes ? t->bytes : "";
}

void text_free(struct text *t) {
    free(t->bytes);
    *t = (struct text){0};
}
