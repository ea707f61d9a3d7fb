// Loads a model on a thread of its own, so that nobody waits for it who serves. One load at a time.
//
//   start ──▶ loaded_model_open ──▶ done(i_model, status)      join before the next start
#ifndef LEVEL2_MODEL_LOADER_H
#define LEVEL2_MODEL_LOADER_H

#include <pthread.h>
#include <stdbool.h>

#include "common/arena.h"
#include "common/limits.h"
#include "level2-operator/server/loaded_model.h"
#include "level2-operator/service/lifecycle.h"

struct model_loader_options {
    struct load_options load; // of every model, but for path, id and beside
    // Called on the loader's thread, its last word: places[i_model] is open, or err says why not.
    void (*done)(void *ctx, int i_model, enum status st);
    void *ctx;
};

struct model_loader { // all-zero: never used
    struct model_loader_options options;
    // owned; those that opened belong to whoever is told so
    struct loaded_model places[LIFECYCLE_MODELS];
    // the load under way, or the last one
    pthread_t thread;
    bool is_running; // and not joined
    int i_model;
    int n_loads; // this one included
    char path[LIMIT_PATH_BYTES], id[LIMIT_MODEL_ID_BYTES];
    struct error err; // after done(not OK)
};

void model_loader_init(struct model_loader *l, const struct model_loader_options *options);

// Waits for the thread of the load before, whose done has been called, and starts the next. The first
// one of all packs weights with the engines' team, which nobody steps yet; later ones have to fit
// beside the model in the other place, if there is one. path and id are copied.
enum status model_loader_start(struct model_loader *l, int i_model, const char *path,
                               const char *id, struct error *err);

// Waits for a load under way. Safe on one that was never used.
void model_loader_join(struct model_loader *l);

#endif
