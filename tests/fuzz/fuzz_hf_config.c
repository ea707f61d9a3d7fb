// config.json, generation_config.json and the index of a model folder under a fuzzer.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/hf_input.h"

enum { ARENA_BASE = 1 << 20 }; // keys and names of files, whatever the text's size

static void expect_reason(enum status st, const struct error *err) {
    if (st == OK) return;
    if (err->text[0] == '\0' || strchr(err->text, '\n') || st == ERR_MEMORY) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    struct arena arena;
    struct error err = {0};

    arena_init(&arena, ARENA_BASE + 64 * n_bytes);
    expect_reason(hf_input_index((const char *)bytes, n_bytes, &arena, &err), &err);
    arena_free(&arena);
    return 0;
}
