// Bytes that arrive piece by piece. The only thing of a request that grows; its limit says how far.
//
// do:    put as often as you like and look at failed once, at the end: after a failure nothing more
//        is taken, so what is there is a clean beginning
#ifndef LEVEL2_BUFFER_H
#define LEVEL2_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *bytes; // (capacity), malloc'd; NULL while nothing was put
    size_t n_bytes, capacity;
    bool failed;      // no memory, or above max_bytes
    size_t max_bytes; // fixed at init
};

void buffer_init(struct buffer *b, size_t max_bytes);

// false, and nothing is taken: it failed now or before.
bool buffer_put(struct buffer *b, const void *bytes, size_t n_bytes);
bool buffer_put_string(struct buffer *b, const char *string);

// Empties it and keeps the memory; a failure is forgotten.
void buffer_clear(struct buffer *b);

// Safe on a zeroed or freed buffer.
void buffer_free(struct buffer *b);

#endif
