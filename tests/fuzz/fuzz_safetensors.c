// The header of a safetensors file under a fuzzer. It may be refused, in one line; it may not crash, hang,
// or cost more memory than its size justifies, and what is accepted lies inside the file.
#include "level2-operator/files/safetensors.h"

#include <stdlib.h>
#include <string.h>

enum { ARENA_PER_BYTE = 32, ARENA_BASE = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    struct arena arena;
    struct safetensors s;
    struct error err = {0};
    volatile unsigned sum = 0; // so that the reads stay

    arena_init(&arena, ARENA_PER_BYTE * n_bytes + ARENA_BASE);
    enum status st = safetensors_parse(&s, bytes, n_bytes, "fuzz", &arena, &err);
    if (st != OK && (err.text[0] == '\0' || strchr(err.text, '\n') || st == ERR_MEMORY))
        abort();
    for (uint64_t i = 0; i < s.n_tensors; i++) {
        const unsigned char *data = s.tensors[i].view.data;
        for (uint64_t j = 0; j < s.tensors[i].view.n_bytes; j++) sum += data[j];
    }
    (void)sum;
    arena_free(&arena);
    return 0;
}
