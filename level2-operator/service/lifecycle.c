// Yours to write. Contract: level2-operator/service/lifecycle.h. Explained: docs/level2/lifecycle.md.
// Red or green: make test EX=lifecycle
//
// The states of a server and its models. Every function is an arrow of the pictures in the header.
#include "level2-operator/service/lifecycle.h"

#include "common/exercise.h"

void lifecycle_init(struct lifecycle *l) {
    *l = (struct lifecycle){.state = SERVER_LOADING, .models = {{.state = MODEL_LOADING}}};
}

// ---- the server

void lifecycle_ready(struct lifecycle *l) {
    EXERCISE("lifecycle");
}

void lifecycle_failed(struct lifecycle *l) {
    EXERCISE("lifecycle");
}

void lifecycle_terminate(struct lifecycle *l, int64_t now_ns, int64_t drain_ns) {
    EXERCISE("lifecycle");
}

void lifecycle_tick(struct lifecycle *l, int64_t now_ns) {
    EXERCISE("lifecycle");
}

// ---- requests

enum status lifecycle_enter(struct lifecycle *l, int *i_model, struct error *err) {
    EXERCISE("lifecycle");
}

void lifecycle_leave(struct lifecycle *l, int i_model) {
    EXERCISE("lifecycle");
}

// ---- another model

enum status lifecycle_swap(struct lifecycle *l, int *i_model, struct error *err) {
    EXERCISE("lifecycle");
}

void lifecycle_swap_loaded(struct lifecycle *l, int i_model) {
    EXERCISE("lifecycle");
}

void lifecycle_swap_failed(struct lifecycle *l, int i_model) {
    EXERCISE("lifecycle");
}

void lifecycle_closed(struct lifecycle *l, int i_model) {
    EXERCISE("lifecycle");
}

// ---- given

const char *lifecycle_name(enum server_state s) {
    static const char *const names[] = {"loading", "ready", "draining", "stopped"};
    return names[s];
}

const char *lifecycle_model_name(enum model_state s) {
    static const char *const names[] = {"empty", "loading", "serving", "draining",
                                        "closing"};
    return names[s];
}

int lifecycle_find(const struct lifecycle *l, enum model_state s) {
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        if (l->models[i].state == s) return i;
    }
    return -1;
}
