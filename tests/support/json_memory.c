// A block in front of each allocation holds its size.
#include "tests/support/json_memory.h"

#include <jansson.h>
#include <stdlib.h>

enum { SIZE_BYTES = 16 }; // keeps what follows aligned

static size_t now, peak;

static void *count_malloc(size_t n) {
    size_t *p = malloc(n + SIZE_BYTES);
    if (!p) return NULL;
    *p = n;
    now += n;
    if (now > peak) peak = now;
    return (char *)p + SIZE_BYTES;
}

static void count_free(void *p) {
    if (!p) return;
    char *block = (char *)p - SIZE_BYTES;
    now -= *(size_t *)block;
    free(block);
}

void json_memory_watch(void) {
    now = peak = 0;
    json_set_alloc_funcs(count_malloc, count_free);
}

void json_memory_release(void) {
    json_set_alloc_funcs(malloc, free);
}

size_t json_memory_now(void) {
    return now;
}

size_t json_memory_peak(void) {
    return peak;
}
