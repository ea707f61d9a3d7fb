// Loading: one step after the other, each into the model's arena, which the size of the file limits.
#include "level2-operator/model.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "level2-operator/gguf_value.h"
#include "level2-operator/model_bind.h"
#include "level2-operator/tokenizer_gguf.h"

enum {
    ARENA_PER_BYTE = 32,   // tables and tokenizer of the most wasteful file, per byte of it
    ARENA_BASE = 256 << 10 // for very small files
};

static void read_name(struct model *m, const char *file) {
    const char *slash = strrchr(file, '/');
    struct gguf_string s;

    snprintf(m->name, sizeof(m->name), "%s", slash ? slash + 1 : file);
    if (!gguf_get_string(gguf_find(&m->gguf, "general.name"), &s)) return;
    if (s.n_bytes == 0 || s.n_bytes >= sizeof(m->name)) return;
    if (!utf8_valid(s.bytes, (size_t)s.n_bytes)) return;
    memcpy(m->name, s.bytes, (size_t)s.n_bytes);
    m->name[s.n_bytes] = '\0';
}

static void start_arena(struct model *m, size_t n_bytes,
                        const struct model_options *options) {
    size_t limit = n_bytes < (SIZE_MAX - ARENA_BASE) / ARENA_PER_BYTE
                       ? n_bytes * ARENA_PER_BYTE + ARENA_BASE
                       : SIZE_MAX;
    if (options->arena_limit) limit = options->arena_limit;
    arena_init(&m->arena, limit);
    arena_fail_after(&m->arena, options->fail_at - 1);
}

static enum status load(struct model *m, const unsigned char *bytes, size_t n_bytes,
                        const char *file, const struct model_options *options,
                        struct error *err) {
    static const struct model_options defaults = {0};

    if (!options) options = &defaults;
    start_arena(m, n_bytes, options);
    enum status st = gguf_parse(&m->gguf, bytes, n_bytes, file, &m->arena, err);
    if (st == OK) st = config_read(&m->config, &m->gguf, file, err);
    if (st == OK) st = model_bind(m, file, err);
    if (st == OK)
        st = tokenizer_from_gguf(&m->tokenizer, &m->gguf, options->pre, file, &m->arena,
                                 err);
    if (st == OK)
        st = chat_template_read(&m->chat, &m->gguf, options->chat, &m->tokenizer, &m->arena,
                                err);
    if (st == OK) read_name(m, file);
    return st;
}

enum status model_open(struct model *m, const char *path,
                       const struct model_options *options, struct error *err) {
    *m = (struct model){0};
    enum status st = mapped_file_open(&m->file, path, err);
    if (st == OK)
        st = load(m, m->file.bytes, m->file.n_bytes, error_path(path), options, err);
    if (st != OK) model_close(m);
    return st;
}

enum status model_parse(struct model *m, const unsigned char *bytes, size_t n_bytes,
                        const char *name, const struct model_options *options,
                        struct error *err) {
    *m = (struct model){0};
    enum status st = load(m, bytes, n_bytes, name, options, err);
    if (st != OK) model_close(m);
    return st;
}

void model_close(struct model *m) {
    arena_free(&m->arena);
    mapped_file_close(&m->file);
    *m = (struct model){0};
}
