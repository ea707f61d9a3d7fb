// Binding: each matrix that the architecture names is looked up, its shape checked against the config,
// and what is left over is refused. A file with a part that we would not use is a model that we do not
// know (a bias, a norm on the heads, factors for rope), and leaving it out would give wrong answers.
#include "level2-operator/model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/utf8.h"
#include "level2-operator/gguf_value.h"
#include "level2-operator/rows_for.h"

enum {
    TENSORS_PER_LAYER = 9,
    ARENA_PER_BYTE = 32, // tables and tokenizer of the most wasteful file, per byte of it
    ARENA_BASE = 256 << 10, // for very small files
    NAME_BYTES = 64         // of a tensor
};

struct binder {
    struct model *m;
    const char *file;
    struct error *err;
    bool *is_bound; // (n_tensors)
};

static enum status refuse(const struct binder *b, enum status code, const char *name,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

// "m.gguf: tensor blk.0.attn_q.weight at byte 5120: what is wrong"
static enum status refuse(const struct binder *b, enum status code, const char *name,
                          const char *format, ...) {
    const struct gguf *g = &b->m->gguf;
    const struct gguf_tensor *t = gguf_find_tensor(g, name);
    char what[128], place[32] = "";
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (t)
        snprintf(place, sizeof(place), " at byte %zu",
                 (size_t)((const unsigned char *)t->name.bytes - g->bytes));
    return error_set_param(b->err, code, name, "%s: tensor %s%s: %s", b->file, name, place,
                           what);
}

// The tensor of that name, whose dimensions must be (n_out, n_in); a vector has n_out 1.
static enum status find_tensor(struct binder *b, const char *name, int n_out, int n_in,
                               const struct tensor_view **view) {
    const struct gguf *g = &b->m->gguf;
    const struct gguf_tensor *t = gguf_find_tensor(g, name);

    if (!t) return refuse(b, ERR_FORMAT, name, "missing");
    const uint64_t *dim = t->view.dim;
    if (dim[0] != (uint64_t)n_in || dim[1] != (uint64_t)n_out || dim[2] != 1 || dim[3] != 1)
        return refuse(b, ERR_FORMAT, name,
                      "(%" PRIu64 ", %" PRIu64 "), but the metadata asks for (%d, %d)",
                      dim[1], dim[0], n_out, n_in);
    if (!rows_for(t->view.dtype))
        return refuse(b, ERR_UNSUPPORTED, name,
                      "type %s is not read yet; take a file in Q4_K, Q8_0 or F16",
                      dtype_info(t->view.dtype)->name);
    b->is_bound[t - g->tensors] = true;
    *view = &t->view;
    return OK;
}

static enum status bind_matrix(struct binder *b, const char *name, int n_out, int n_in,
                               struct weight *w) {
    const struct tensor_view *view = NULL;
    enum status st = find_tensor(b, name, n_out, n_in, &view);
    if (st != OK) return st;
    *w = (struct weight){.dtype = view->dtype,
                         .n_out = n_out,
                         .n_in = n_in,
                         .file = view->data,
                         .row_bytes = (size_t)(view->n_bytes / (uint64_t)n_out)};
    return OK;
}

// Norms are small and read by every row of every step: they become floats once.
static enum status bind_norm(struct binder *b, const char *name, int n,
                             const float **norm) {
    const struct tensor_view *view = NULL;
    enum status st = find_tensor(b, name, 1, n, &view);
    if (st != OK) return st;
    float *values = ARENA_NEW(&b->m->arena, float, n);
    if (!values) return refuse(b, ERR_MEMORY, name, "no memory for %d floats", n);
    rows_for(view->dtype)(values, view->data, n);
    *norm = values;
    return OK;
}

static enum status bind_layer(struct binder *b, int l) {
    const struct config *c = &b->m->config;
    struct layer *layer = &b->m->layers[l];
    int d_q = c->n_heads * c->d_head, d_kv = c->n_kv_heads * c->d_head;
    const struct {
        const char *name;
        int n_out, n_in;
        struct weight *w;
    } matrices[] = {
        {"attn_q",      d_q,        c->d_model, &layer->q   },
        {"attn_k",      d_kv,       c->d_model, &layer->k   },
        {"attn_v",      d_kv,       c->d_model, &layer->v   },
        {"attn_output", c->d_model, d_q,        &layer->o   },
        {"ffn_gate",    c->d_ff,    c->d_model, &layer->gate},
        {"ffn_up",      c->d_ff,    c->d_model, &layer->up  },
        {"ffn_down",    c->d_model, c->d_ff,    &layer->down},
    };
    char name[NAME_BYTES];
    enum status st;

    snprintf(name, sizeof(name), "blk.%d.attn_norm.weight", l);
    if ((st = bind_norm(b, name, c->d_model, &layer->attn_norm)) != OK) return st;
    snprintf(name, sizeof(name), "blk.%d.ffn_norm.weight", l);
    if ((st = bind_norm(b, name, c->d_model, &layer->ffn_norm)) != OK) return st;
    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        snprintf(name, sizeof(name), "blk.%d.%s.weight", l, matrices[i].name);
        st = bind_matrix(b, name, matrices[i].n_out, matrices[i].n_in, matrices[i].w);
        if (st != OK) return st;
    }
    return OK;
}

static enum status refuse_leftovers(const struct binder *b) {
    const struct gguf *g = &b->m->gguf;
    char name[NAME_BYTES];

    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct gguf_string *s = &g->tensors[i].name;
        if (b->is_bound[i]) continue;
        snprintf(name, sizeof(name), "%.*s",
                 s->n_bytes < NAME_BYTES ? (int)s->n_bytes : NAME_BYTES, s->bytes);
        return refuse(b, ERR_UNSUPPORTED, name,
                      "a part of a model that is not supported yet");
    }
    return OK;
}

static enum status bind_all(struct binder *b) {
    struct model *m = b->m;
    const struct config *c = &m->config;
    enum status st;

    // Layers that the file cannot hold would cost memory before the first is found missing.
    if (m->gguf.n_tensors / TENSORS_PER_LAYER < (uint64_t)c->n_layers)
        return refuse(b, ERR_FORMAT, "blk.*",
                      "missing: %d layers, but only %" PRIu64 " tensors", c->n_layers,
                      m->gguf.n_tensors);
    m->layers = ARENA_NEW(&m->arena, struct layer, c->n_layers);
    b->is_bound = ARENA_NEW(&m->arena, bool, m->gguf.n_tensors);
    if (!m->layers || !b->is_bound)
        return refuse(b, ERR_MEMORY, "blk.*", "no memory for %d layers", c->n_layers);

    st = bind_matrix(b, "token_embd.weight", c->n_vocab, c->d_model, &m->token_embd);
    for (int l = 0; st == OK && l < c->n_layers; l++) st = bind_layer(b, l);
    if (st == OK) st = bind_norm(b, "output_norm.weight", c->d_model, &m->output_norm);
    if (st != OK) return st;

    m->is_tied = !gguf_find_tensor(&m->gguf, "output.weight");
    if (m->is_tied) {
        m->output = m->token_embd; // the usual choice of small models: Press & Wolf 2017
    } else {
        st = bind_matrix(b, "output.weight", c->n_vocab, c->d_model, &m->output);
    }
    return st == OK ? refuse_leftovers(b) : st;
}

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
    struct binder b = {.m = m, .file = file, .err = err};

    if (!options) options = &defaults;
    start_arena(m, n_bytes, options);
    enum status st = gguf_parse(&m->gguf, bytes, n_bytes, file, &m->arena, err);
    if (st == OK) st = config_read(&m->config, &m->gguf, file, err);
    if (st == OK) st = bind_all(&b);
    if (st == OK)
        st = tokenizer_init(&m->tokenizer, &m->gguf, options->pre, file, &m->arena, err);
    if (st == OK) m->chat = chat_template_find(&m->gguf);
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
