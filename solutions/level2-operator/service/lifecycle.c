// The states of a server and its models. Every function is an arrow of the pictures in the header.
// [exercise lifecycle drop]
// A call that has no arrow in the present state changes nothing. A model's count moves in two places
// only, enter and leave, and whoever may have taken the last hold asks whether it can be closed.
// [end]
#include "level2-operator/service/lifecycle.h"

// [exercise lifecycle drop]
// A model that nobody will enter any more: waits for its holders, if it has any.
static void retire(struct lifecycle_model *m) {
    m->state = m->n_holders > 0 ? MODEL_DRAINING : MODEL_CLOSING;
}

static enum status refuse_state(const struct lifecycle *l, struct error *err) {
    switch (l->state) {
    case SERVER_LOADING:
        return error_set(err, ERR_STATE, "the model is still loading; try again soon");
    case SERVER_DRAINING:
        return error_set(err, ERR_STATE, "the server is draining and takes nothing new");
    default:
        return error_set(err, ERR_STATE, "the server has stopped");
    }
}

static enum status refuse_swap(const struct lifecycle *l, struct error *err) {
    int i_draining = lifecycle_find(l, MODEL_DRAINING);

    if (lifecycle_find(l, MODEL_LOADING) >= 0)
        return error_set(err, ERR_BUSY, "another model is loading; wait for its end");
    if (i_draining < 0)
        return error_set(err, ERR_BUSY, "the model before is closing; try again soon");
    return error_set(err, ERR_BUSY,
                     "the model before is draining: %d requests hold it; wait for them",
                     l->models[i_draining].n_holders);
}

// [end]
void lifecycle_init(struct lifecycle *l) {
    *l = (struct lifecycle){.state = SERVER_LOADING, .models = {{.state = MODEL_LOADING}}};
}

// ---- the server

void lifecycle_ready(struct lifecycle *l) {
    // [exercise lifecycle]
    if (l->state != SERVER_LOADING) return;
    l->state = SERVER_READY;
    l->models[0].state = MODEL_SERVING;
    // [end]
}

void lifecycle_failed(struct lifecycle *l) {
    // [exercise lifecycle]
    if (l->state == SERVER_LOADING) l->state = SERVER_STOPPED;
    // [end]
}

void lifecycle_terminate(struct lifecycle *l, int64_t now_ns, int64_t drain_ns) {
    // [exercise lifecycle]
    bool has_work = l->state == SERVER_READY && l->n_in_flight > 0;
    if (!has_work || drain_ns <= 0) {
        l->state = SERVER_STOPPED; // nothing to wait for, or asked for the second time
        return;
    }
    l->state = SERVER_DRAINING;
    // A drain time too long for the clock means: without an end.
    l->drain_until_ns = drain_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + drain_ns;
    // [end]
}

void lifecycle_tick(struct lifecycle *l, int64_t now_ns) {
    // [exercise lifecycle]
    if (l->state == SERVER_DRAINING && now_ns >= l->drain_until_ns)
        l->state = SERVER_STOPPED;
    // [end]
}

// ---- requests

enum status lifecycle_enter(struct lifecycle *l, int *i_model, struct error *err) {
    // [exercise lifecycle]
    if (l->state != SERVER_READY) return refuse_state(l, err);
    *i_model = lifecycle_find(l, MODEL_SERVING);
    l->models[*i_model].n_holders++;
    l->n_in_flight++;
    return OK;
    // [end]
}

void lifecycle_leave(struct lifecycle *l, int i_model) {
    // [exercise lifecycle]
    struct lifecycle_model *m = &l->models[i_model];
    MUST(m->n_holders > 0);
    m->n_holders--;
    l->n_in_flight--;
    if (m->state == MODEL_DRAINING) retire(m);
    if (l->state == SERVER_DRAINING && l->n_in_flight == 0) l->state = SERVER_STOPPED;
    // [end]
}

// ---- another model

enum status lifecycle_swap(struct lifecycle *l, int *i_model, struct error *err) {
    // [exercise lifecycle]
    if (l->state != SERVER_READY) return refuse_state(l, err);
    int i_empty = lifecycle_find(l, MODEL_EMPTY);
    if (i_empty < 0) return refuse_swap(l, err);
    l->models[i_empty].state = MODEL_LOADING;
    *i_model = i_empty;
    return OK;
    // [end]
}

void lifecycle_swap_loaded(struct lifecycle *l, int i_model) {
    // [exercise lifecycle]
    struct lifecycle_model *m = &l->models[i_model];
    MUST(m->state == MODEL_LOADING);
    if (l->state != SERVER_READY) {
        m->state = MODEL_CLOSING;
        return;
    }
    retire(&l->models[lifecycle_find(l, MODEL_SERVING)]);
    m->state = MODEL_SERVING;
    // [end]
}

void lifecycle_swap_failed(struct lifecycle *l, int i_model) {
    // [exercise lifecycle]
    MUST(l->models[i_model].state == MODEL_LOADING);
    l->models[i_model].state = MODEL_EMPTY;
    // [end]
}

void lifecycle_closed(struct lifecycle *l, int i_model) {
    // [exercise lifecycle]
    MUST(l->models[i_model].state == MODEL_CLOSING);
    l->models[i_model].state = MODEL_EMPTY;
    // [end]
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
