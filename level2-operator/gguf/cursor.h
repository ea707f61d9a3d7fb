// A place in bytes that come to an end. Every read asks first whether enough is left, by comparing
// and never by adding: a length of 2^64-1 from a hostile file has nothing to wrap around.
#ifndef LEVEL2_CURSOR_H
#define LEVEL2_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cursor {
    const unsigned char *bytes; // borrowed
    size_t n_bytes;
    size_t pos; // <= n_bytes
};

static inline size_t cursor_left(const struct cursor *c) {
    return c->n_bytes - c->pos;
}

// A little-endian number of 1 to 8 bytes.
static inline uint64_t load_le(const unsigned char *bytes, int n_bytes) {
    uint64_t x = 0;
    for (int i = 0; i < n_bytes; i++) x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

// Each moves on by what it took. false, and nothing moves or is written, when too little is left.
static inline bool cursor_take(struct cursor *c, uint64_t n, const unsigned char **taken) {
    if (n > cursor_left(c)) return false;
    *taken = c->bytes + c->pos;
    c->pos += (size_t)n;
    return true;
}

static inline bool cursor_u32(struct cursor *c, uint32_t *out) {
    const unsigned char *bytes;
    if (!cursor_take(c, 4, &bytes)) return false;
    *out = (uint32_t)load_le(bytes, 4);
    return true;
}

static inline bool cursor_u64(struct cursor *c, uint64_t *out) {
    const unsigned char *bytes;
    if (!cursor_take(c, 8, &bytes)) return false;
    *out = load_le(bytes, 8);
    return true;
}

#endif
