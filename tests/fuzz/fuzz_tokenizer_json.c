// tokenizer.json under a fuzzer: from JSON over keys to a tokenizer.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/hf_input.h"

enum { N_VOCAB = 1024, ARENA_BASE = 4 << 20 }; // tables of that vocabulary

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    struct arena arena;
    struct error err = {0};

    arena_init(&arena, ARENA_BASE + 64 * n_bytes);
    enum status st =
        hf_input_tokenizer((const char *)bytes, n_bytes, N_VOCAB, &arena, &err);
    if (st != OK && (err.text[0] == '\0' || strchr(err.text, '\n') || st == ERR_MEMORY))
        abort();
    arena_free(&arena);
    return 0;
}
