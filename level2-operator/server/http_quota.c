// Keys may be read again while a request runs, so an exchange knows its key by its scope.
#include "level2-operator/server/http_quota.h"

#include <math.h>
#include <stdio.h>

#include "level2-operator/server/http_exchange.h"
#include "level2-operator/server/http_reply.h"

// Three headers. "12.500s" is the time until all of it is there again.
static void tell(struct evhttp_request *req, const char *what, int per_minute,
                 double left) {
    char name[64], value[32];
    if (per_minute == 0) return;
    snprintf(name, sizeof(name), "x-ratelimit-limit-%s", what);
    snprintf(value, sizeof(value), "%d", per_minute);
    http_reply_header(req, name, value);
    snprintf(name, sizeof(name), "x-ratelimit-remaining-%s", what);
    snprintf(value, sizeof(value), "%.0f", fmax(0, floor(left)));
    http_reply_header(req, name, value);
    snprintf(name, sizeof(name), "x-ratelimit-reset-%s", what);
    snprintf(value, sizeof(value), "%.3fs", (per_minute - left) * 60 / per_minute);
    http_reply_header(req, name, value);
}

bool http_quota_enter(struct http_server *s, struct http_connection *c) {
    struct http_key *key = http_keys_of(s->options.keys, c->exchange.scope);
    struct api_error e = {429, "rate_limit_error", "rate_limit_exceeded", 0};
    struct error err;
    if (!key) return true;

    enum status st =
        quota_enter(&key->quota, clock_now(s->options.clock), &e.retry_after_s, &err);
    tell(c->exchange.req, "requests", key->quota.requests_per_minute, key->quota.requests);
    tell(c->exchange.req, "tokens", key->quota.tokens_per_minute, key->quota.tokens);
    c->exchange.has_quota = st == OK;
    if (st) http_exchange_refuse(s, c, &e, err.text);
    return st == OK;
}

void http_quota_undo(struct http_server *s, struct http_connection *c) {
    struct http_key *key = http_keys_of(s->options.keys, c->exchange.scope);
    if (key && c->exchange.has_quota) quota_undo(&key->quota);
    c->exchange.has_quota = false;
}

void http_quota_leave(struct http_server *s, struct http_connection *c, int n_tokens) {
    struct http_key *key = http_keys_of(s->options.keys, c->exchange.scope);
    if (key && c->exchange.has_quota)
        quota_leave(&key->quota, clock_now(s->options.clock), n_tokens);
    c->exchange.has_quota = false;
}

void http_quota_charge(struct http_server *s, uint64_t scope, int n_tokens) {
    struct http_key *key = http_keys_of(s->options.keys, scope);
    if (key) quota_charge(&key->quota, clock_now(s->options.clock), n_tokens);
}

void http_quota_recount(struct http_server *s) {
    struct http_keys *keys = s->options.keys;
    for (int i = 0; i < keys->n_keys; i++) keys->keys[i].quota.n_inside = 0;
    for (int i = 0; i < s->connections.limits.n_connections; i++) {
        const struct http_exchange *x = &s->connections.slots[i].exchange;
        struct http_key *key = x->has_quota ? http_keys_of(keys, x->scope) : NULL;
        if (key) key->quota.n_inside++;
    }
}
