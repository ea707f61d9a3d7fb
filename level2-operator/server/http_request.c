// The checks at the door, and the answers that need no tokenizer.
#include "level2-operator/server/http_request.h"

#include <ctype.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "level2-operator/server/http_exchange.h"
#include "level2-operator/server/http_metrics.h"
#include "level2-operator/server/http_models.h"
#include "level2-operator/server/http_quota.h"
#include "level2-operator/server/http_reply.h"
#include "level2-operator/server/http_route.h"
#include "level2-operator/server/http_served.h"

static const char invalid[] = "invalid_request_error";

// One request on its way through the checks.
struct visit {
    struct http_server *s;
    struct http_connection *c;
    struct evhttp_request *req;
    const struct http_route *route;
    const char *rest; // of a prefix route
};

static const char *header(const struct visit *v, const char *name) {
    return evhttp_find_header(evhttp_request_get_input_headers(v->req), name);
}

static void refuse(struct visit *v, int status, const char *type, const char *code,
                   int retry_after_s, const char *message) {
    const struct api_error e = {status, type, code, retry_after_s};
    http_exchange_refuse(v->s, v->c, &e, message);
}

// ---- framing ------------------------------------------------------------------------------------

// What a header's name may be made of: RFC 9110, section 5.6.2.
static bool is_token(const char *name) {
    static const char marks[] = "!#$%&'*+-.^_`|~";
    const char *c = name;
    while (isalnum((unsigned char)*c) || (*c && strchr(marks, *c))) c++;
    return *name != '\0' && *c == '\0';
}

static bool is_digits(const char *value) {
    return *value != '\0' && value[strspn(value, "0123456789")] == '\0';
}

// Two readers of one connection (a proxy and us) must agree where a request ends, or the end of one
// becomes the beginning of another. So a length said twice, or in a way that not all readers know,
// is refused; "Content-Length : 5" would be a length to some, and an unknown header to others.
static bool has_clear_length(const struct visit *v) {
    const struct evkeyvalq *headers = evhttp_request_get_input_headers(v->req);
    int n_lengths = 0, n_encodings = 0;
    for (const struct evkeyval *h = headers->tqh_first; h; h = h->next.tqe_next) {
        if (!is_token(h->key)) return false;
        if (strcasecmp(h->key, "Content-Length") == 0) {
            n_lengths++;
            if (!is_digits(h->value)) return false;
        } else if (strcasecmp(h->key, "Transfer-Encoding") == 0) {
            n_encodings++;
            if (strcasecmp(h->value, "chunked") != 0) return false;
        }
    }
    return n_lengths + n_encodings <= 1;
}

// With some methods (HEAD is one) evhttp reads no body. If one comes all the same, its bytes would be
// taken for the next request: the connection must not live on.
static bool has_unread_body(const struct visit *v) {
    enum evhttp_cmd_type method = evhttp_request_get_command(v->req);
    if (method == EVHTTP_REQ_POST || method == EVHTTP_REQ_PUT || method == EVHTTP_REQ_PATCH)
        return false;
    const char *length = header(v, "Content-Length");
    return header(v, "Transfer-Encoding") || (length && strcmp(length, "0") != 0);
}

// ---- answers of the loop ------------------------------------------------------------------------

// A listed page may send whatever headers its client library adds: that it is listed is the check.
static void answer_options(struct visit *v) {
    const char *methods = http_route_methods(v->route);
    const char *wanted = header(v, "Access-Control-Request-Headers");
    http_reply_header(v->req, "Allow", methods);
    // No page may do what an administrator may.
    if (!v->route->is_admin && http_cors_allow(v->s->options.cors, header(v, "Origin"))) {
        http_reply_header(v->req, "Access-Control-Allow-Methods", methods);
        if (wanted) http_reply_header(v->req, "Access-Control-Allow-Headers", wanted);
        http_reply_header(v->req, "Access-Control-Max-Age", "3600");
    }
    http_exchange_reply(v->s, v->c, 204, NULL, 0);
}

// How it stands with the engine. All zero while there is none.
static bool look_at_engine(struct http_server *s, struct engine_stats *stats) {
    http_served_stats(s, stats);
    return heartbeat_look(&s->heartbeat, stats, clock_now(s->options.clock),
                          s->options.limits.stall_ms * 1000000);
}

static void answer_health(struct visit *v) {
    struct engine_stats stats;
    char body[256];
    bool is_alive = look_at_engine(v->s, &stats);
    int n = snprintf(body, sizeof(body),
                     "{\"status\":\"%s\",\"state\":\"%s\",\"running\":%d,\"waiting\":%d}",
                     is_alive ? "ok" : "stalled", lifecycle_name(v->s->lifecycle.state),
                     stats.n_running, stats.n_waiting);
    http_exchange_reply(v->s, v->c, is_alive ? 200 : 503, body, (size_t)n);
}

static void refuse_state(struct visit *v) {
    bool is_loading = v->s->lifecycle.state == SERVER_LOADING;
    refuse(v, 503, "server_error", is_loading ? "model_loading" : "draining", 1,
           is_loading ? "the model is still loading; try again soon"
                      : "the server is draining and takes no new requests");
}

static void answer_ready(struct visit *v) {
    static const char body[] = "{\"status\":\"ready\"}";
    struct engine_stats stats;
    const struct admission *a = &v->s->admission;

    if (v->s->lifecycle.state != SERVER_READY) {
        refuse_state(v);
    } else if (!look_at_engine(v->s, &stats)) {
        refuse(v, 503, "server_error", "stalled", 1,
               "the engine has work but takes no step");
    } else if (a->n_inside >= a->max_inside) {
        refuse(v, 503, "server_error", "queue_full", 1, "every place is taken");
    } else {
        http_exchange_reply(v->s, v->c, 200, body, sizeof(body) - 1);
    }
}

static bool is_our_model(const struct visit *v, const struct served *served) {
    size_t n_name = 0;
    char *name = evhttp_uridecode(v->rest, 0, &n_name);
    bool is_ours = name && n_name == strlen(name) && // no %00 in it
                   (strcmp(name, served->id) == 0 || strcmp(name, "default") == 0);
    free(name);
    return is_ours;
}

static void answer_models(struct visit *v) {
    const struct served *served = http_served(v->s);
    bool is_one = v->route->action == HTTP_MODEL;
    size_t n = 0;

    if (!served) {
        refuse_state(v);
        return;
    }
    if (is_one && !is_our_model(v, served)) {
        refuse(v, 404, invalid, "model_not_found", 0,
               "there is no such model here; GET /v1/models lists what there is");
        return;
    }
    char *body = is_one ? http_models_one(served, &n) : http_models_list(served, &n);
    if (body) {
        http_exchange_reply(v->s, v->c, 200, body, n);
    } else {
        refuse(v, 500, "server_error", "internal_error", 0, "out of memory");
    }
    free(body);
}

static void answer_metrics(struct visit *v) {
    struct buffer out;

    buffer_init(&out, LIMIT_METRICS_BYTES);
    http_metrics_write(&out, v->s);
    if (out.failed) {
        refuse(v, 500, "server_error", "internal_error", 0, "out of memory");
    } else {
        http_exchange_text(v->s, v->c, "text/plain; version=0.0.4; charset=utf-8",
                           out.bytes, out.n_bytes);
    }
    buffer_free(&out);
}

// ---- jobs ---------------------------------------------------------------------------------------

// A malloc'd copy with a zero byte behind it; NULL: no memory.
static char *take_body(struct evhttp_request *req, size_t *n_body) {
    struct evbuffer *in = evhttp_request_get_input_buffer(req);
    *n_body = evbuffer_get_length(in);
    char *body = malloc(*n_body + 1);
    if (!body) return NULL;
    evbuffer_remove(in, body, *n_body);
    body[*n_body] = '\0';
    return body;
}

static enum status enter(struct visit *v, int *retry_after_s, struct error *err) {
    enum status st = lifecycle_enter(&v->s->lifecycle, &v->c->exchange.i_model, err);
    if (st) return st;
    v->c->exchange.is_in_flight = true;
    if (!v->route->is_admitted) return OK;
    st = admission_enter(&v->s->admission, retry_after_s, err);
    v->c->exchange.is_admitted = st == OK;
    return st;
}

// The worker answers a text tool at one go, and every stream waits for it: so less may be asked.
static bool has_too_large_body(struct visit *v) {
    const struct http_limits *l = &v->s->options.limits;
    size_t n_body = evbuffer_get_length(evhttp_request_get_input_buffer(v->req));
    size_t n_most = v->route->is_admin      ? LIMIT_ADMIN_BYTES
                    : v->route->is_admitted ? l->body_bytes
                                            : l->tool_bytes;
    char message[96];

    if (n_body <= n_most) return false;
    snprintf(message, sizeof(message), "the body has %zu bytes; this path takes up to %zu",
             n_body, n_most);
    refuse(v, 413, invalid, "request_too_large", 0, message);
    return true;
}

static void make_job(struct visit *v) {
    struct error err = {0};
    struct job job = {.kind = JOB_REQUEST,
                      .exchange = v->c->exchange.id,
                      .route = v->route->job,
                      .cache_scope = v->c->exchange.scope,
                      .arrived_ns = v->c->exchange.arrived_ns};
    int retry_after_s = 1;

    if (has_too_large_body(v) || !http_quota_enter(v->s, v->c)) return;
    enum status st = enter(v, &retry_after_s, &err);
    if (st) http_quota_undo(v->s, v->c);
    if (!st) {
        job.i_model = v->c->exchange.i_model;
        job.body = take_body(v->req, &job.n_body);
        st = job.body ? http_exchange_job(v->s, v->c, &job, &err)
                      : error_set(&err, ERR_MEMORY, "out of memory");
    }
    if (st == ERR_STATE) {
        refuse_state(v);
    } else if (st == ERR_BUSY) {
        refuse(v, 429, "rate_limit_error", "queue_full", retry_after_s, err.text);
    } else if (st) {
        refuse(v, 500, "server_error", "internal_error", 0, err.text);
    }
}

// ---- the administrator --------------------------------------------------------------------------

static void name_key(struct http_exchange *x, const struct http_keys *keys,
                     uint64_t scope) {
    snprintf(x->key_name, sizeof(x->key_name), "%s", http_keys_name(keys, scope));
}

// Names who it is for the log; the scope is for cached prefixes, of which he has none.
static bool has_admin_key(struct visit *v) {
    const struct http_keys *keys = v->s->options.swap.keys;
    uint64_t scope;
    if (!http_keys_check(keys, header(v, "Authorization"), &scope)) return false;
    name_key(&v->c->exchange, keys, scope);
    return true;
}

static void answer_admin(struct visit *v) {
    struct evbuffer *in = evhttp_request_get_input_buffer(v->req);
    size_t n_body = evbuffer_get_length(in);

    if (evhttp_request_get_command(v->req) != EVHTTP_REQ_POST) {
        http_swap_show(v->s, v->c);
        return;
    }
    if (has_too_large_body(v)) return;
    const char *body = (const char *)evbuffer_pullup(in, -1); // NULL: it is empty
    http_swap_begin(v->s, v->c, body ? body : "", n_body);
}

// ---- the way through ----------------------------------------------------------------------------

static bool allows_method(const struct visit *v) {
    enum evhttp_cmd_type method = evhttp_request_get_command(v->req);
    if (method == EVHTTP_REQ_POST) return v->route->takes_post;
    return v->route->takes_get && (method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD);
}

static bool has_key(struct visit *v) {
    struct http_keys *keys = v->s->options.keys;
    struct http_exchange *x = &v->c->exchange;
    if (!http_keys_check(keys, header(v, "Authorization"), &x->scope)) return false;
    name_key(x, keys, x->scope);
    return true;
}

static void refuse_key(struct visit *v) {
    http_reply_header(v->req, "WWW-Authenticate", "Bearer");
    refuse(v, 401, invalid, "invalid_api_key", 0,
           v->route->is_admin
               ? "a key of an administrator is needed: send the header Authorization: "
                 "Bearer KEY"
               : "a known API key is needed: send the header Authorization: Bearer KEY");
}

static void refuse_method(struct visit *v) {
    http_reply_header(v->req, "Allow", http_route_methods(v->route));
    refuse(v, 405, invalid, "method_not_allowed", 0,
           !v->route->takes_get    ? "this path takes POST"
           : !v->route->takes_post ? "this path takes GET"
                                   : "this path takes GET and POST");
}

static void act(struct visit *v) {
    switch (v->route->action) {
    case HTTP_UNKNOWN:
        refuse(v, 404, invalid, "unknown_url", 0, "there is nothing at this path");
        break;
    case HTTP_JOB:
        make_job(v);
        break;
    case HTTP_MODELS:
    case HTTP_MODEL:
        answer_models(v);
        break;
    case HTTP_HEALTH:
        answer_health(v);
        break;
    case HTTP_READY:
        answer_ready(v);
        break;
    case HTTP_METRICS:
        answer_metrics(v);
        break;
    case HTTP_SWAP:
        answer_admin(v);
        break;
    }
}

static void check(struct visit *v) {
    bool is_unclear = !has_clear_length(v);

    if (is_unclear || has_unread_body(v)) http_reply_header(v->req, "Connection", "close");
    if (is_unclear) {
        refuse(v, 400, invalid, NULL, 0,
               "a header is malformed, or the length of the body is not clear");
    } else if (evhttp_request_get_command(v->req) == EVHTTP_REQ_OPTIONS) {
        answer_options(v);
    } else if (v->route->is_admin ? !has_admin_key(v) : !v->route->is_open && !has_key(v)) {
        refuse_key(v);
    } else if (v->route->action != HTTP_UNKNOWN && !allows_method(v)) {
        refuse_method(v);
    } else {
        act(v);
    }
}

void http_request_handle(struct evhttp_request *req, void *server) {
    static const struct api_error full = {503, "server_error", "too_many_connections", 1};
    struct http_server *s = server;
    struct visit v = {.s = s, .req = req, .c = http_connection_of(&s->connections, req)};

    if (!v.c) { // accepted in the same breath as the last that had a place
        http_reply_header(req, "Connection", "close");
        http_reply_error(req, &full, "too many connections");
        return;
    }
    http_exchange_begin(s, v.c, req);
    v.route = http_route_find(v.c->exchange.path, &v.rest);
    // Without a key for it nobody can tell that there is such a path.
    if (v.route->is_admin && !(s->options.swap.keys && s->options.swap.keys->n_keys > 0))
        v.route = http_route_find("", &v.rest);
    check(&v);
}
