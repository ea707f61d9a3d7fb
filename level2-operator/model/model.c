// Loading: one step after the other, each into the model's arena, which the size of the file limits.
#include "level2-operator/model/model.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/utf8.h"
#include "level2-operator/files/gguf_split.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/model/model_bind.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"

static void read_name(struct model *m, const char *file) {
    size_t n = strlen(file);
    struct gguf_string s;

    while (n > 1 && file[n - 1] == '/') n--; // of a folder
    size_t begin = n;
    while (begin > 0 && file[begin - 1] != '/') begin--;
    snprintf(m->name, sizeof(m->name), "%.*s", (int)(n - begin), file + begin);
    if (!gguf_get_string(gguf_find(&m->gguf, "general.name"), &s)) return;
    if (s.n_bytes == 0 || s.n_bytes >= sizeof(m->name)) return;
    if (!utf8_valid(s.bytes, (size_t)s.n_bytes)) return;
    memcpy(m->name, s.bytes, (size_t)s.n_bytes);
    m->name[s.n_bytes] = '\0';
}

static void start_arena(struct model *m, const struct model_options *options) {
    arena_init(&m->arena, options->arena_limit ? options->arena_limit : LIMIT_TABLES_BYTES);
    arena_fail_after(&m->arena, options->fail_at - 1);
}

static enum status load(struct model *m, const char *file,
                        const struct model_options *options, struct error *err) {
    enum status st = model_file_refuse_lone(&m->gguf, file, err);
    if (st == OK) st = config_read(&m->config, &m->gguf, file, err);
    if (st == OK) st = model_bind(m, file, err);
    if (st == OK)
        st = tokenizer_from_gguf(&m->tokenizer, &m->gguf, options->pre, file, &m->arena,
                                 err);
    if (st == OK)
        st = chat_template_read(&m->chat, &m->gguf, options->chat, &m->tokenizer, &m->arena,
                                err);
    sampling_defaults_init(&m->sampling);
    if (st == OK && !options->api_sampling)
        st = sampling_defaults_read(&m->sampling, &m->gguf, file, err);
    if (st == OK) read_name(m, file);
    return st;
}

enum status model_open(struct model *m, const char *path,
                       const struct model_options *options, struct error *err) {
    static const struct model_options defaults = {0};
    if (!options) options = &defaults;

    *m = (struct model){0};
    start_arena(m, options);
    size_t per_byte = options->arena_limit ? 0 : LIMIT_TABLES_PER_BYTE;
    enum status st = model_file_open(&m->file, path, &m->arena, per_byte, err);
    m->gguf = m->file.gguf;
    if (st == OK) st = load(m, error_path(path), options, err);
    if (st != OK) model_close(m);
    return st;
}

enum status model_parse(struct model *m, const unsigned char *bytes, size_t n_bytes,
                        const char *name, const struct model_options *options,
                        struct error *err) {
    static const struct model_options defaults = {0};
    if (!options) options = &defaults;

    *m = (struct model){0};
    start_arena(m, options);
    if (!options->arena_limit) arena_allow(&m->arena, n_bytes, LIMIT_TABLES_PER_BYTE);
    enum status st = gguf_parse(&m->gguf, bytes, n_bytes, name, &m->arena, err);
    if (st == OK) st = gguf_refuse_part(&m->gguf, name, err);
    if (st == OK) st = load(m, name, options, err);
    if (st != OK) model_close(m);
    return st;
}

void model_close(struct model *m) {
    model_file_close(&m->file); // its list of maps lies in the arena
    arena_free(&m->arena);
    *m = (struct model){0};
}
