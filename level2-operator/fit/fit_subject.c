// Two ways to the same shape.
#include "level2-operator/fit/fit_subject.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/limits.h"
#include "level2-operator/files/model_file.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/model/model.h"

// Engines differ in it, so the page says which kind it counts for.
static void note_windows(struct fit_subject *s) {
    if (s->shape.n_window_layers == 0) return;
    snprintf(s->note, sizeof(s->note),
             "%d of %d layers keep %" PRIu64 " tokens only; our serve would keep all "
             "(--device here)",
             s->shape.n_window_layers, s->shape.n_layers, s->shape.window);
}

// ---- from the table -----------------------------------------------------------------------------

static struct config config_of(const struct model_entry *e) {
    return (struct config){
        .n_layers = (int)e->layers,
        .d_model = (int)e->d_model,
        .n_heads = (int)e->heads,
        .n_kv_heads = (int)e->kv_heads,
        .d_head = (int)(e->kv_rank ? e->nope_dim + e->rope_dim : e->d_head),
        .d_ff = (int)(e->d_ff_dense > e->d_ff ? e->d_ff_dense : e->d_ff),
        .n_vocab = (int)e->vocab,
        .n_ctx = (int)e->context,
    };
}

void fit_subject_of_entry(struct fit_subject *s, const struct model_entry *e) {
    bool has_windows = e->windowed_layers > 0;
    *s = (struct fit_subject){
        .shape = {.n_weights = (uint64_t)e->params,
                  .n_layers = (int)e->layers,
                  .n_heads = (int)e->heads,
                  .n_kv_heads = (int)e->kv_heads,
                  .d_head = (int)e->d_head,
                  .d_latent = (int)(e->kv_rank ? e->kv_rank + e->rope_dim : 0),
                  .n_window_layers = (int)e->windowed_layers,
                  .window = has_windows ? (uint64_t)e->window : 0},
        .n_active = (uint64_t)e->active_params,
        .n_ctx = (uint64_t)e->context,
        .n_head_weights = (uint64_t)(e->vocab * e->d_model),
        .is_tied = e->tied,
        .config = config_of(e),
    };
    snprintf(s->name, sizeof(s->name), "%s", e->name);
    snprintf(s->source, sizeof(s->source), "%s (%s)", e->source, e->tag);
    if (e->window && !has_windows)
        snprintf(s->note, sizeof(s->note),
                 "it has a window of %d tokens, but in how many layers is not known: KV is "
                 "counted in full",
                 (int)e->window);
    note_windows(s);
}

// ---- from a file --------------------------------------------------------------------------------

struct fit_model fit_shape_of_config(const struct config *c) {
    return (struct fit_model){.n_layers = c->n_layers,
                              .n_heads = c->n_heads,
                              .n_kv_heads = c->n_kv_heads,
                              .d_head = c->d_head};
}

static void add_tensors(struct fit_subject *s, const struct gguf *g) {
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct tensor_view *v = &g->tensors[i].view;
        s->stored_bytes += v->n_bytes;
        s->shape.n_weights += v->dim[0] * v->dim[1] * v->dim[2] * v->dim[3];
    }
    s->n_active = s->shape.n_weights;
    s->is_tied = gguf_find_tensor(g, "output.weight") == NULL;
}

static void take_config(struct fit_subject *s, const struct config *c) {
    s->config = *c;
    s->shape = fit_shape_of_config(c);
    for (int l = 0; l < c->n_layers; l++)
        s->shape.n_window_layers += config_has_window(c, l);
    if (s->shape.n_window_layers) s->shape.window = (uint64_t)c->window;
    s->n_ctx = (uint64_t)c->n_ctx;
    s->n_head_weights = (uint64_t)c->n_vocab * (uint64_t)c->d_model;
    note_windows(s);
}

enum status fit_subject_of_file(struct fit_subject *s, const char *path,
                                struct error *err) {
    struct model_file file;
    struct arena arena;
    struct config c;
    *s = (struct fit_subject){0};
    arena_init(&arena, LIMIT_TABLES_BYTES);
    enum status st = model_file_open(&file, path, &arena, LIMIT_TABLES_PER_BYTE, err);
    if (st == OK) st = model_file_refuse_lone(&file.gguf, error_path(path), err);
    if (st == OK) st = config_read(&c, &file.gguf, error_path(path), err);
    if (st == OK) {
        take_config(s, &c);
        add_tensors(s, &file.gguf);
        snprintf(s->name, sizeof(s->name), "%s", error_path(path));
        snprintf(s->source, sizeof(s->source), "the file's own");
    }
    model_file_close(&file); // its list of maps lies in the arena
    arena_free(&arena);
    return st;
}

// ---- as serve holds it --------------------------------------------------------------------------

static void keep_all(struct fit_subject *s) {
    if (s->shape.n_window_layers == 0) return;
    snprintf(s->note, sizeof(s->note),
             "serve keeps all tokens of its %d layers with a window: KV is counted in full",
             s->shape.n_window_layers);
    s->shape.n_window_layers = 0;
    s->shape.window = 0;
}

void fit_subject_serve(struct fit_subject *s, const char *path) {
    struct model m;
    struct error err;
    keep_all(s);
    if (!path) return;
    if (model_open(&m, path, NULL, &err) != OK) {
        snprintf(s->note, sizeof(s->note), "serve would not start: %s", err.text);
        return;
    }
    s->tables_bytes = m.arena.used;
    model_close(&m);
}
