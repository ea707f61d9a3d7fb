// Another model without a pause: POST /admin/models, and all that happens until the old one is gone.
//
//   POST ──load──▶ loader thread ──loaded──▶ JOB_SERVE: the new model serves, the old one drains
//                         └───────failed───▶ the old one serves on, the POST hears why
//   the old one's last request leaves ──JOB_RETIRE──▶ text worker ──▶ engine thread ──closed──▶ room
//
// The POST is answered when the model serves or has failed, and not before.
#ifndef LEVEL2_HTTP_SWAP_H
#define LEVEL2_HTTP_SWAP_H

#include <stdatomic.h>
#include <stdbool.h>

#include "common/limits.h"
#include "common/status.h"
#include "level2-operator/api/exchange.h"
#include "level2-operator/server/http_keys.h"
#include "level2-operator/service/lifecycle.h"
#include "level2-operator/service/served.h"

struct http_connection;
struct http_server;

struct http_swap_options {
    const struct http_keys *keys; // NULL, or none in it: there is no such path
    const char *dir;              // below which models lie
    // Begins to load a file into a place; http_swap_loaded or _failed is called later, from any
    // thread. Called by the HTTP loop, as one load ends before the next.
    enum status (*load)(void *ctx, int i_model, const char *path, const char *id,
                        struct error *err);
    void *ctx;
};

enum http_swap_news { HTTP_SWAP_NONE, HTTP_SWAP_LOADED, HTTP_SWAP_FAILED };

struct http_swap {
    // state of the loop
    exchange_id waiting; // the POST that waits for the load; 0: nobody
    char ids[LIFECYCLE_MODELS][LIMIT_MODEL_ID_BYTES]; // of a model that loads or is closing
    const struct served *loaded;       // its JOB_SERVE is not out yet; NULL: none
    bool is_retired[LIFECYCLE_MODELS]; // JOB_RETIRE is out
    // written by other threads, read by the loop after its note
    const struct served *new_served; // before news
    struct error new_err;            // before news
    atomic_int news;                 // enum http_swap_news
    atomic_bool is_closed[LIFECYCLE_MODELS];
};

// The loop: GET and POST of /admin/models. Both answer the request, at once or later.
void http_swap_show(struct http_server *s, struct http_connection *c);
void http_swap_begin(struct http_server *s, struct http_connection *c, const char *body,
                     size_t n_body);

// The loop: looks at what other threads have said, and does what can be done now.
void http_swap_look(struct http_server *s);

// The loop: what is left to be told to the worker, as far as its queue has room. false: not all.
bool http_swap_go_on(struct http_server *s);

// The loop: the server takes no more requests; the POST that waits hears so.
void http_swap_give_up(struct http_server *s);

// From any thread. served must live until closed.
void http_swap_loaded(struct http_server *s, const struct served *served);
void http_swap_failed(struct http_server *s, const struct error *err);
void http_swap_closed(struct http_server *s, int i_model);

#endif
