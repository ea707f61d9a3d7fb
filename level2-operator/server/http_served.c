// A server may have two engines for a while; whoever counts wants one number that never falls.
#include "level2-operator/server/http_served.h"

#include "level2-operator/server/http_server.h"

const struct served *http_served(const struct http_server *s) {
    int i_model = lifecycle_find(&s->lifecycle, MODEL_SERVING);
    return i_model < 0 ? NULL : s->served[i_model];
}

void http_served_stats(const struct http_server *s, struct engine_stats *stats) {
    struct engine_stats more;
    *stats = s->past;
    for (int i = 0; i < LIFECYCLE_MODELS; i++) {
        if (!s->served[i]) continue;
        engine_stats(s->served[i]->engine, &more);
        engine_stats_add(stats, &more);
    }
}

void http_served_forget(struct http_server *s, int i_model) {
    struct engine_stats last;
    if (!s->served[i_model]) return; // it never served
    engine_stats(s->served[i_model]->engine, &last);
    // What it holds is gone with it; a request whose client left may not have been taken out yet.
    last.n_waiting = last.n_running = 0;
    last.n_kv_tokens = last.n_kv_capacity = 0;
    last.n_kv_bytes = 0;
    engine_stats_add(&s->past, &last);
    s->served[i_model] = NULL;
}
