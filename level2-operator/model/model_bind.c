// Each tensor that the architecture names is looked up, its shape checked against the config, and what
// is left over is refused. A file with a part that we would not use is a model that we do not know
// (experts, a norm more), and leaving it out would give wrong answers.
#include "level2-operator/model/model_bind.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_place.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/kernels/rows_for.h"

enum {
    TENSORS_PER_LAYER = 9, // at least
    NAME_BYTES = 64        // of a tensor
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
    char what[128], place[PLACE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    gguf_place_tensor(place, &b->m->gguf, b->file, name);
    return error_set_param(b->err, code, name, "%s: %s", place, what);
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

// Vectors are small and read by every row of every step: they become floats once.
static enum status bind_floats(struct binder *b, const char *name, int n, float **vector) {
    const struct tensor_view *view = NULL;
    enum status st = find_tensor(b, name, 1, n, &view);
    if (st != OK) return st;
    float *values = ARENA_NEW(&b->m->arena, float, n);
    if (!values) return refuse(b, ERR_MEMORY, name, "no memory for %d floats", n);
    rows_for(view->dtype)(values, view->data, n);
    *vector = values;
    return OK;
}

static enum status bind_vector(struct binder *b, const char *name, int n,
                               const float **vector) {
    float *values;
    enum status st = bind_floats(b, name, n, &values);
    if (st == OK) *vector = values;
    return st;
}

static enum status bind_norm(struct binder *b, const char *name, int n,
                             const float **norm) {
    float *values;
    enum status st = bind_floats(b, name, n, &values);
    if (st != OK) return st;
    for (int i = 0; i < n; i++) values[i] += b->m->config.norm_offset;
    *norm = values;
    return OK;
}

static enum status bind_norms(struct binder *b, int l) {
    const struct config *c = &b->m->config;
    struct layer *layer = &b->m->layers[l];
    const struct {
        const char *name;
        int n;
        bool is_there; // in a model of this architecture
        const float **norm;
    } norms[] = {
        {"attn_norm",           c->d_model, true,              &layer->attn_norm     },
        {"attn_q_norm",         c->d_head,  c->has_head_norms, &layer->q_norm        },
        {"attn_k_norm",         c->d_head,  c->has_head_norms, &layer->k_norm        },
        {"post_attention_norm", c->d_model, c->has_post_norms, &layer->attn_post_norm},
        {"ffn_norm",            c->d_model, true,              &layer->ffn_norm      },
        {"post_ffw_norm",       c->d_model, c->has_post_norms, &layer->ffn_post_norm },
    };
    char name[NAME_BYTES];

    for (size_t i = 0; i < sizeof(norms) / sizeof(norms[0]); i++) {
        if (!norms[i].is_there) continue;
        snprintf(name, sizeof(name), "blk.%d.%s.weight", l, norms[i].name);
        enum status st = bind_norm(b, name, norms[i].n, norms[i].norm);
        if (st != OK) return st;
    }
    return OK;
}

static enum status bind_matrices(struct binder *b, int l) {
    const struct config *c = &b->m->config;
    struct layer *layer = &b->m->layers[l];
    int d_q = c->n_heads * c->d_head, d_kv = c->n_kv_heads * c->d_head;
    const struct {
        const char *name;
        int n_out, n_in;
        bool has_bias; // must have one; any may
        struct weight *w;
    } matrices[] = {
        {"attn_q",      d_q,        c->d_model, c->has_qkv_bias, &layer->q   },
        {"attn_k",      d_kv,       c->d_model, c->has_qkv_bias, &layer->k   },
        {"attn_v",      d_kv,       c->d_model, c->has_qkv_bias, &layer->v   },
        {"attn_output", c->d_model, d_q,        false,           &layer->o   },
        {"ffn_gate",    c->d_ff,    c->d_model, false,           &layer->gate},
        {"ffn_up",      c->d_ff,    c->d_model, false,           &layer->up  },
        {"ffn_down",    c->d_model, c->d_ff,    false,           &layer->down},
    };
    char name[NAME_BYTES];

    for (size_t i = 0; i < sizeof(matrices) / sizeof(matrices[0]); i++) {
        struct weight *w = matrices[i].w;
        snprintf(name, sizeof(name), "blk.%d.%s.weight", l, matrices[i].name);
        enum status st = bind_matrix(b, name, matrices[i].n_out, matrices[i].n_in, w);
        if (st != OK) return st;
        snprintf(name, sizeof(name), "blk.%d.%s.bias", l, matrices[i].name);
        if (!matrices[i].has_bias && !gguf_find_tensor(&b->m->gguf, name)) continue;
        if ((st = bind_vector(b, name, w->n_out, &w->bias)) != OK) return st;
    }
    return OK;
}

static enum status check_divisors(const struct binder *b, const char *name,
                                  const float *divisors, int n) {
    for (int i = 0; i < n; i++) {
        if (isfinite(divisors[i]) && divisors[i] > 0) continue;
        return refuse(b, ERR_FORMAT, name, "%g of pair %d cannot divide",
                      (double)divisors[i], i);
    }
    return OK;
}

// What divides the frequencies: a tensor of the file (Llama 3.x), else what the config says. A tensor
// on top of the config's, or where not all layers turn alike, could mean two things: it is left over.
static enum status read_divisors(struct binder *b, const float **divisors) {
    static const char name[] = "rope_freqs.weight";
    const struct config *c = &b->m->config;
    bool is_clear = c->rope_stretch.kind == ROPE_AS_TRAINED && c->window_rope_base == 0;
    int n = c->d_head / 2;

    if (is_clear && gguf_find_tensor(&b->m->gguf, name)) {
        enum status st = bind_vector(b, name, n, divisors);
        return st == OK ? check_divisors(b, name, *divisors, n) : st;
    }
    float *own = ARENA_NEW(&b->m->arena, float, n);
    if (!own) return refuse(b, ERR_MEMORY, name, "no memory for %d floats", n);
    rope_stretch_divisors(own, &c->rope_stretch, c->d_head, c->rope_base);
    *divisors = own;
    return OK;
}

// One table for all layers, or a second for those with a window, if they have a base of their own.
static enum status set_frequencies(struct binder *b) {
    struct model *m = b->m;
    const struct config *c = &m->config;
    bool has_second = c->window_rope_base > 0;
    const float *divisors = NULL;
    enum status st = read_divisors(b, &divisors);
    if (st != OK) return st;

    float *all = ARENA_NEW(&m->arena, float, c->d_head / 2);
    float *window = has_second ? ARENA_NEW(&m->arena, float, c->d_head / 2) : all;
    if (!all || !window)
        return refuse(b, ERR_MEMORY, "blk.*", "no memory for rotary frequencies");
    rope_frequencies(all, c->d_head, c->rope_base);
    for (int i = 0; i < c->d_head / 2; i++) all[i] /= divisors[i];
    if (has_second) rope_frequencies(window, c->d_head, c->window_rope_base);
    for (int l = 0; l < c->n_layers; l++)
        m->layers[l].rope_freq = config_has_window(c, l) ? window : all;
    return OK;
}

static enum status refuse_leftovers(const struct binder *b) {
    const struct gguf *g = &b->m->gguf;
    char name[LIMIT_GGUF_NAME_BYTES + 1];

    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct gguf_string *s = &g->tensors[i].name;
        if (b->is_bound[i]) continue;
        snprintf(name, sizeof(name), "%.*s", (int)s->n_bytes, s->bytes);
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
    for (int l = 0; st == OK && l < c->n_layers; l++) {
        st = bind_norms(b, l);
        if (st == OK) st = bind_matrices(b, l);
    }
    if (st == OK) st = set_frequencies(b); // small beside the matrices that are there
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

enum status model_bind(struct model *m, const char *file, struct error *err) {
    struct binder b = {.m = m, .file = file, .err = err};
    return bind_all(&b);
}
