// An arena: memory that is given out piece by piece and taken back all at once.
// Three of them mark the three lifetimes: model, run, request.
//
//   arena ──▶ chunk ──▶ chunk ──▶ chunk        each chunk: [ used ........ | free ]
//
// do:    give every arena a limit, so that a hostile input meets ERR_MEMORY and not the machine
//        read `used` for the ledger
// don't: free a single piece; keep a pointer past arena_free or arena_reset
#ifndef COMMON_ARENA_H
#define COMMON_ARENA_H

#include <stdbool.h>
#include <stddef.h>

enum { ARENA_ALIGN = 64 }; // every piece starts on a cache line

struct arena_chunk; // private

struct arena {
    // owned
    struct arena_chunk *chunks; // the first is in use
    // state
    size_t used;      // bytes given out, padding included
    bool sealed;      // true: arena_alloc is a broken invariant (the step loop runs)
    long allocs_left; // tests: this many more succeed, then NULL; -1 = no such limit
    // limits, fixed at init
    size_t limit; // bytes that may be given out
};

// Never fails: nothing is allocated yet. All-zero is the closed state (every alloc gives NULL).
void arena_init(struct arena *a, size_t limit_bytes);

// Raises the limit by n * size bytes, or to all that there is.
void arena_allow(struct arena *a, size_t n, size_t size);

// n * size zeroed bytes at a multiple of ARENA_ALIGN; NULL when the limit, the machine or the
// injected failure says no, or when n * size overflows. n = 0 gives a valid unique pointer.
void *arena_alloc(struct arena *a, size_t n, size_t size);

// What arena_alloc counts for n * size bytes: for ledgers. The product, rounded up, must fit.
static inline size_t arena_bytes(size_t n, size_t size) {
    size_t n_lines = (n * size + ARENA_ALIGN - 1) / ARENA_ALIGN;
    return (n_lines ? n_lines : 1) * ARENA_ALIGN;
}

// ARENA_NEW(a, float, n) is arena_alloc with the type named once.
#define ARENA_NEW(a, type, n) ((type *)arena_alloc((a), (size_t)(n), sizeof(type)))

// A copy of n_bytes, with a zero byte behind it. NULL as above.
char *arena_copy(struct arena *a, const void *bytes, size_t n_bytes);

// From here on allocating aborts: proof that the step loop allocates nothing.
void arena_seal(struct arena *a);

// Everything given back but one chunk kept for reuse; freed bytes are poisoned in test builds.
void arena_reset(struct arena *a);

// Everything given back to the system. Safe on a zeroed or already freed arena.
void arena_free(struct arena *a);

// Tests: let n_allocs more allocations succeed, then fail each. -1 switches it off.
void arena_fail_after(struct arena *a, long n_allocs);

#endif
