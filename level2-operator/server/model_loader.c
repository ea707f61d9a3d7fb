// A thread for each load: loads are rare, and a thread that is gone holds nothing.
#include "level2-operator/server/model_loader.h"

#include <stdio.h>
#include <string.h>

static const size_t packers_bytes = 1 << 16; // a team of one

// The other model, if it stays.
static const struct engine_ledger *find_beside(const struct model_loader *l) {
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        if (i != l->i_model && l->places[i].served.engine) return &l->places[i].ledger;
    }
    return NULL;
}

static enum status load(struct model_loader *l) {
    struct load_options o = l->options.load;
    struct arena arena;
    struct team packers = {0};
    enum status st = OK;

    o.path = l->path;
    o.id = l->id;
    o.beside = find_beside(l);
    arena_init(&arena, packers_bytes);
    if (l->n_loads > 1) { // the engines' team is at work
        st = team_open(&packers, &arena, 1, &l->err);
        o.engine.packers = &packers;
    }
    if (!st) st = loaded_model_open(&l->places[l->i_model], &o, &l->err);
    team_close(&packers);
    arena_free(&arena);
    return st;
}

static void *run(void *loader) {
    struct model_loader *l = loader;
    enum status st = load(l);
    l->options.done(l->options.ctx, l->i_model, st);
    return NULL;
}

void model_loader_init(struct model_loader *l, const struct model_loader_options *options) {
    memset(l, 0, sizeof(*l));
    l->options = *options;
}

enum status model_loader_start(struct model_loader *l, int i_model, const char *path,
                               const char *id, struct error *err) {
    model_loader_join(l);
    l->n_loads++;
    l->i_model = i_model;
    l->err = (struct error){0};
    int n_path = snprintf(l->path, sizeof(l->path), "%s", path);
    int n_id = snprintf(l->id, sizeof(l->id), "%s", id);
    if (n_path >= (int)sizeof(l->path) || n_id >= (int)sizeof(l->id))
        return error_set(err, ERR_LIMIT, "a path or an id that is too long");
    int failed = pthread_create(&l->thread, NULL, run, l);
    if (failed)
        return error_set(err, ERR_IO, "cannot start the loader: %s", strerror(failed));
    l->is_running = true;
    return OK;
}

void model_loader_join(struct model_loader *l) {
    if (!l->is_running) return;
    pthread_join(l->thread, NULL);
    l->is_running = false;
}
