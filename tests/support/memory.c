// The linker's --wrap=malloc calls __wrap_malloc where code says malloc, and the real one by the name
// of __real_malloc.
#include "tests/support/memory.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t n_bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t n_bytes);
char *__wrap_strdup(const char *text);

static _Thread_local long allocs_left = -1; // -1: no limit

static bool is_refused(void) {
    bool is_over = allocs_left == 0;
    if (allocs_left > 0) allocs_left--;
    return is_over;
}

void *__wrap_malloc(size_t n_bytes) {
    return is_refused() ? NULL : __real_malloc(n_bytes);
}

void *__wrap_calloc(size_t n, size_t size) {
    return is_refused() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t n_bytes) {
    return is_refused() ? NULL : __real_realloc(old, n_bytes);
}

char *__wrap_strdup(const char *text) {
    return is_refused() ? NULL : __real_strdup(text);
}

void memory_fail_after(long n_allocs) {
    json_set_alloc_funcs(malloc, free);
    allocs_left = n_allocs;
}
