// One file, one reader, and what every stage of it is asked.
#include "tests/support/gguf_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/suite.h"

enum { WHAT_SPACE = 160, MIN_ARENA = 2 * ARENA_ALIGN }; // an array of entries and its table

void rig_init(struct gguf_rig *rig) {
    memset(rig, 0, sizeof(*rig));
    arena_init(&rig->arena, 1 << 20);
}

void rig_free(struct gguf_rig *rig) {
    arena_free(&rig->arena);
    bytes_free(&rig->file);
}

void rig_stand_at(struct gguf_rig *rig, size_t pos) {
    struct bytes *file = &rig->file;
    arena_reset(&rig->arena);
    rig->err = (struct error){0};
    rig->gguf = (struct gguf){.bytes = file->data, .version = 3, .alignment = 32};
    rig->reader = (struct gguf_reader){
        .at = {file->data, file->n, pos},
          .file = "test.gguf", .err = &rig->err
    };
}

enum status rig_read_keys(struct gguf_rig *rig) {
    rig_stand_at(rig, HEADER_BYTES);
    rig->gguf.n_keys = load_le(rig->file.data + 16, 8);
    return gguf_read_keys(&rig->reader, &rig->gguf, &rig->arena);
}

enum status rig_read_tensors(struct gguf_rig *rig) {
    rig_stand_at(rig, HEADER_BYTES);
    rig->gguf.n_tensors = load_le(rig->file.data + 8, 8);
    return gguf_read_tensors(&rig->reader, &rig->gguf, &rig->arena);
}

enum status rig_parse(struct gguf_rig *rig) {
    rig_stand_at(rig, 0);
    return gguf_parse(&rig->gguf, rig->file.data, rig->file.n, "test.gguf", &rig->arena,
                      &rig->err);
}

void assert_read(const char *call, const struct gguf_rig *rig, enum status st) {
    assert_text(call, st == OK ? "ok" : rig->err.text, "ok");
}

void assert_field(const char *call, int i, const char *field, uint64_t got, uint64_t want) {
    char item[WHAT_SPACE];
    snprintf(item, sizeof(item), "%s: [%d].%s", call, i, field);
    assert_number(item, (int64_t)got, (int64_t)want);
}

void assert_refused(const char *call, const struct gguf_rig *rig, enum status st,
                    enum status want, const char *place) {
    char item[WHAT_SPACE], got[sizeof(rig->err.text)], begin[sizeof(rig->err.text)];

    snprintf(item, sizeof(item), "%s: status", call);
    assert_text(item, status_name(st), status_name(want));
    snprintf(item, sizeof(item), "%s: how err.text begins", call);
    snprintf(begin, sizeof(begin), "test.gguf: %s", place);
    snprintf(got, sizeof(got), "%.*s", (int)strlen(begin), rig->err.text);
    assert_text(item, got, begin);
}

void assert_refuses_wrong(const char *function, struct gguf_rig *rig, rig_stage_fn *stage,
                          enum wrong_part part, int i) {
    const struct wrong_gguf *wrong = wrong_gguf_in(part, i);
    char call[WHAT_SPACE];
    snprintf(call, sizeof(call), "%s(%s)", function, wrong->name);
    wrong->build(&rig->file);
    assert_refused(call, rig, stage(rig), wrong->want, wrong->place);
}

void assert_refuses_cuts(const char *call, struct gguf_rig *rig, rig_stage_fn *stage,
                         size_t n_kept) {
    assert_read(call, rig, stage(rig));
    while (rig->file.n > n_kept) {
        char item[WHAT_SPACE];
        rig->file.data =
            realloc(rig->file.data, --rig->file.n); // ASan sees a read too many
        snprintf(item, sizeof(item), "%s, cut to %zu bytes", call, rig->file.n);
        assert_refused(item, rig, stage(rig), ERR_FORMAT, "");
    }
}

void assert_asks_for_memory(const char *call, struct gguf_rig *rig, rig_stage_fn *stage) {
    size_t limit = rig->arena.limit;
    enum status st = ERR_MEMORY;
    char item[WHAT_SPACE];

    assert_read(call, rig, stage(rig));
    for (size_t n = 0; n < MIN_ARENA || st != OK; n += ARENA_ALIGN) {
        rig->arena.limit = n;
        st = stage(rig);
        snprintf(item, sizeof(item), "%s, arena of %zu bytes: status", call, n);
        if (n < MIN_ARENA || st != OK) assert_text(item, status_name(st), "memory");
    }
    rig->arena.limit = limit;
}

static void assert_inside(const char *call, const struct bytes *file, const void *bytes,
                          uint64_t n_bytes) {
    uint64_t begin = (uint64_t)((const unsigned char *)bytes - file->data);
    ck_assert_msg(begin <= file->n && n_bytes <= file->n - begin,
                  "%s: a view of %llu bytes, %lld bytes from the begin of a file of %zu",
                  call, (unsigned long long)n_bytes, (long long)begin, file->n);
}

void assert_views_inside(const char *call, const struct gguf_rig *rig) {
    const struct gguf *g = &rig->gguf;
    for (uint64_t i = 0; i < g->n_keys; i++) {
        const struct gguf_key *key = &g->keys[i];
        assert_inside(call, &rig->file, key->name.bytes, key->name.n_bytes);
        assert_inside(call, &rig->file, key->value.bytes, key->value.n_bytes);
    }
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct tensor_view *view = &g->tensors[i].view;
        assert_inside(call, &rig->file, view->data, view->n_bytes);
    }
}
