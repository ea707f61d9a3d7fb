// The states of a server. Every function is one arrow of the picture in the header; a call that
// has no arrow in the present state changes nothing.
#include "level2-operator/lifecycle.h"

void lifecycle_init(struct lifecycle *l) {
    *l = (struct lifecycle){.state = SERVER_LOADING};
}

void lifecycle_ready(struct lifecycle *l) {
    if (l->state == SERVER_LOADING) l->state = SERVER_READY;
}

void lifecycle_failed(struct lifecycle *l) {
    if (l->state == SERVER_LOADING) l->state = SERVER_STOPPED;
}

void lifecycle_terminate(struct lifecycle *l, int64_t now_ns, int64_t drain_ns) {
    bool has_work = l->state == SERVER_READY && l->n_in_flight > 0;
    if (!has_work || drain_ns <= 0) {
        l->state = SERVER_STOPPED; // nothing to wait for, or asked for the second time
        return;
    }
    l->state = SERVER_DRAINING;
    // A drain time too long for the clock means: without an end.
    l->drain_until_ns = drain_ns > INT64_MAX - now_ns ? INT64_MAX : now_ns + drain_ns;
}

enum status lifecycle_enter(struct lifecycle *l, struct error *err) {
    switch (l->state) {
    case SERVER_LOADING:
        return error_set(err, ERR_STATE, "the model is still loading; try again soon");
    case SERVER_DRAINING:
        return error_set(err, ERR_STATE, "the server is draining and takes nothing new");
    case SERVER_STOPPED:
        return error_set(err, ERR_STATE, "the server has stopped");
    case SERVER_READY:
        break;
    }
    l->n_in_flight++;
    return OK;
}

void lifecycle_leave(struct lifecycle *l) {
    MUST(l->n_in_flight > 0);
    l->n_in_flight--;
    if (l->state == SERVER_DRAINING && l->n_in_flight == 0) l->state = SERVER_STOPPED;
}

void lifecycle_tick(struct lifecycle *l, int64_t now_ns) {
    if (l->state == SERVER_DRAINING && now_ns >= l->drain_until_ns)
        l->state = SERVER_STOPPED;
}

const char *lifecycle_name(enum server_state s) {
    static const char *const names[] = {"loading", "ready", "draining", "stopped"};
    return names[s];
}
