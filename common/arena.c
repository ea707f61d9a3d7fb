// A list of chunks. Small pieces are cut from the first one; a big piece gets a chunk of its own
// behind it, so that untouched pages of a large cache cost nothing until they are written.
//
//   chunks ──▶ [ header | piece | piece | free ] ──▶ [ header | one big piece ] ──▶ ...
#include "common/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/status.h"

#ifndef POISON_FREED_MEMORY
#define POISON_FREED_MEMORY 0 // tests build with 1: reuse after reset shows as 0xA5
#endif

enum { CHUNK_BYTES = 64 << 10, POISON = 0xA5 };

struct arena_chunk {
    struct arena_chunk *next;
    size_t capacity, used; // bytes behind the header
    bool is_fresh;         // straight from calloc: already zero
    void *block;           // what calloc gave; the header lies aligned inside
};

// Rounded, so that the first piece is aligned too.
enum {
    HEADER_BYTES =
        (sizeof(struct arena_chunk) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN
};

static struct arena_chunk *chunk_new(size_t capacity) {
    if (capacity > SIZE_MAX - HEADER_BYTES - ARENA_ALIGN) return NULL;
    void *block = calloc(1, HEADER_BYTES + capacity + ARENA_ALIGN);
    if (!block) return NULL;
    uintptr_t aligned =
        ((uintptr_t)block + ARENA_ALIGN - 1) & ~(uintptr_t)(ARENA_ALIGN - 1);
    struct arena_chunk *chunk = (struct arena_chunk *)aligned;
    *chunk = (struct arena_chunk){.capacity = capacity, .is_fresh = true, .block = block};
    return chunk;
}

// A chunk with room for n_bytes.
static struct arena_chunk *chunk_with_room(struct arena *a, size_t n_bytes) {
    struct arena_chunk *first = a->chunks;
    if (first && n_bytes <= first->capacity - first->used) return first;

    bool is_big = n_bytes > CHUNK_BYTES;
    struct arena_chunk *chunk = chunk_new(is_big ? n_bytes : CHUNK_BYTES);
    if (!chunk) return NULL;
    struct arena_chunk **place = is_big && first ? &first->next : &a->chunks;
    chunk->next = *place;
    *place = chunk;
    return chunk;
}

static unsigned char *chunk_piece(struct arena_chunk *chunk, size_t n_bytes) {
    unsigned char *piece = (unsigned char *)chunk + HEADER_BYTES + chunk->used;
    if (!chunk->is_fresh) memset(piece, 0, n_bytes);
    chunk->used += n_bytes;
    return piece;
}

// Gives back this chunk and all behind it.
static void chunks_free(struct arena_chunk *chunk) {
    while (chunk) {
        struct arena_chunk *next = chunk->next;
        free(chunk->block);
        chunk = next;
    }
}

void arena_init(struct arena *a, size_t limit_bytes) {
    *a = (struct arena){.limit = limit_bytes, .allocs_left = -1};
}

void arena_allow(struct arena *a, size_t n, size_t size) {
    size_t more, most = SIZE_MAX - a->limit;
    if (__builtin_mul_overflow(n, size, &more) || more > most) more = most;
    a->limit += more;
}

void *arena_alloc(struct arena *a, size_t n, size_t size) {
    MUST(!a->sealed);
    if (a->allocs_left == 0) return NULL;
    if (size && n > (SIZE_MAX - ARENA_ALIGN) / size) return NULL;

    size_t n_bytes = arena_bytes(n, size);
    if (a->used > a->limit || n_bytes > a->limit - a->used) return NULL;

    struct arena_chunk *chunk = chunk_with_room(a, n_bytes);
    if (!chunk) return NULL;
    if (a->allocs_left > 0) a->allocs_left--;
    a->used += n_bytes;
    return chunk_piece(chunk, n_bytes);
}

char *arena_copy(struct arena *a, const void *bytes, size_t n_bytes) {
    if (n_bytes == SIZE_MAX) return NULL;
    char *copy = arena_alloc(a, n_bytes + 1, 1);
    if (copy && n_bytes) memcpy(copy, bytes, n_bytes);
    return copy;
}

void arena_seal(struct arena *a) {
    a->sealed = true;
}

void arena_reset(struct arena *a) {
    struct arena_chunk *kept = a->chunks;
    a->used = 0;
    if (!kept) return;
    chunks_free(kept->next);
    kept->next = NULL;
    if (POISON_FREED_MEMORY)
        memset((unsigned char *)kept + HEADER_BYTES, POISON, kept->used);
    kept->used = 0;
    kept->is_fresh = false;
}

void arena_free(struct arena *a) {
    chunks_free(a->chunks);
    arena_init(a, 0);
}

void arena_fail_after(struct arena *a, long n_allocs) {
    a->allocs_left = n_allocs;
}
