// The event stream parser under a fuzzer: the first byte chooses the sizes of the pieces, the rest is
// the stream. Whatever comes, the pieces must say the same as the whole.
#include "level1-user/events.h"

#include <stdint.h>
#include <stdlib.h>

enum { MAX_EVENT_BYTES = 1 << 12 };

// A running hash over all that was said: cheap to compare.
static bool hash_event(void *ctx, const struct sse_event *event) {
    uint64_t *hash = ctx;
    for (const char *c = event->name; *c; c++)
        *hash = (*hash ^ (uint8_t)*c) * 1099511628211u;
    for (size_t i = 0; i <= event->n_data; i++) { // the NUL behind it too
        *hash = (*hash ^ (uint8_t)event->data[i]) * 1099511628211u;
    }
    return true;
}

static uint64_t hash_of_stream(const char *bytes, size_t n_bytes, size_t seed) {
    struct sse_parser p;
    uint64_t hash = 14695981039346656037u;
    enum status st = OK;

    sse_init(&p, MAX_EVENT_BYTES, hash_event, &hash);
    for (size_t at = 0, n; at < n_bytes && st == OK; at += n) {
        n = seed == 0 ? n_bytes : 1 + (at * 31 + seed) % seed;
        if (n > n_bytes - at) n = n_bytes - at;
        st = sse_push(&p, bytes + at, n, NULL);
    }
    hash ^= st == OK && sse_is_inside_event(&p);
    sse_free(&p);
    return hash ^ (uint64_t)st << 32;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    if (n_bytes < 1) return 0;
    const char *stream = (const char *)bytes + 1;
    if (hash_of_stream(stream, n_bytes - 1, 0) !=
        hash_of_stream(stream, n_bytes - 1, bytes[0])) {
        abort();
    }
    return 0;
}
