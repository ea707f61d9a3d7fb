// Model files under a fuzzer: the parser, the loader and the printer. A file may be refused; it may not
// crash, hang, cost more memory than its size justifies, or point outside itself.
#include "level2-operator/gguf/gguf.h"

#include <stdio.h>
#include <stdlib.h>

#include "level2-operator/inspect/inspect.h"
#include "level2-operator/kernels/rows_for.h"
#include "level2-operator/model/model.h"

enum { ARENA_PER_BYTE = 16, ARENA_BASE = 4096, PRINTED_BYTES = 1 << 16 };

// Refused files say why, in one line.
static void expect_reason(enum status st, const struct error *err) {
    if (st == OK) return;
    if (err->code != st || err->text[0] == '\0' || st == ERR_MEMORY) abort();
    for (const char *c = err->text; *c; c++)
        if (*c == '\n') abort();
}

static void expand_last_row(const struct weight *w) {
    float *row = malloc((size_t)w->n_in * sizeof(*row));
    const char *last = (const char *)w->file + (size_t)(w->n_out - 1) * w->row_bytes;
    if (row) rows_for(w->dtype)(row, last, w->n_in);
    free(row);
}

static void fuzz_parser(const uint8_t *bytes, size_t n_bytes) {
    struct arena arena;
    struct error err = {0};
    struct gguf g;

    arena_init(&arena, ARENA_PER_BYTE * n_bytes + ARENA_BASE);
    enum status st = gguf_parse(&g, bytes, n_bytes, "fuzz.gguf", &arena, &err);
    expect_reason(st, &err);
    if (st == OK) {
        static char printed[PRINTED_BYTES];
        FILE *out = fmemopen(printed, sizeof(printed), "w");
        struct inspected in = {.file = "fuzz.gguf", .n_bytes = n_bytes, .gguf = &g};
        if (!out) abort();
        inspect_print_summary(out, &in);
        inspect_print_metadata(out, &g, false);
        inspect_print_tensors(out, &g);
        json_decref(inspect_json(&in));
        fclose(out);
    }
    arena_free(&arena);
}

static void fuzz_loader(const uint8_t *bytes, size_t n_bytes) {
    struct error err = {0};
    struct model m;

    enum status st = model_parse(&m, bytes, n_bytes, "fuzz.gguf", NULL, &err);
    expect_reason(st, &err);
    if (st == OK) {
        expand_last_row(&m.output);
        for (int l = 0; l < m.config.n_layers; l++) expand_last_row(&m.layers[l].down);
    }
    model_close(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    fuzz_parser(bytes, n_bytes);
    fuzz_loader(bytes, n_bytes);
    return 0;
}
