// The table of routes.
#include "level2-operator/server/http_route.h"

#include <string.h>

// clang-format off
static const struct http_route routes[] = {
    // path                  action        job                   get    post   open   prefix  admitted  admin
    {"/v1/chat/completions", HTTP_JOB,     ROUTE_CHAT,           false, true,  false, false,  true,     false},
    {"/v1/completions",      HTTP_JOB,     ROUTE_COMPLETIONS,    false, true,  false, false,  true,     false},
    {"/tokenize",            HTTP_JOB,     ROUTE_TOKENIZE,       false, true,  false, false,  false,    false},
    {"/detokenize",          HTTP_JOB,     ROUTE_DETOKENIZE,     false, true,  false, false,  false,    false},
    {"/apply-template",      HTTP_JOB,     ROUTE_APPLY_TEMPLATE, false, true,  false, false,  false,    false},
    {"/v1/models",           HTTP_MODELS,  ROUTE_COUNT,          true,  false, false, false,  false,    false},
    {"/v1/models/",          HTTP_MODEL,   ROUTE_COUNT,          true,  false, false, true,   false,    false},
    {"/health",              HTTP_HEALTH,  ROUTE_COUNT,          true,  false, true,  false,  false,    false},
    {"/ready",               HTTP_READY,   ROUTE_COUNT,          true,  false, true,  false,  false,    false},
    {"/metrics",             HTTP_METRICS, ROUTE_COUNT,          true,  false, false, false,  false,    false},
    {"/admin/models",        HTTP_SWAP,    ROUTE_COUNT,          true,  true,  false, false,  false,    true},
    {NULL,                   HTTP_UNKNOWN, ROUTE_COUNT,          false, false, false, false,  false,    false},
};
// clang-format on

static bool matches(const struct http_route *r, const char *path) {
    if (!r->is_prefix) return strcmp(r->path, path) == 0;
    size_t n = strlen(r->path);
    return strncmp(r->path, path, n) == 0 && path[n] != '\0';
}

const struct http_route *http_route_find(const char *path, const char **rest) {
    const struct http_route *r = routes;
    while (r->path && !matches(r, path)) r++;
    if (rest) *rest = r->is_prefix ? path + strlen(r->path) : "";
    return r;
}

const char *http_route_methods(const struct http_route *r) {
    if (r->takes_get && r->takes_post) return "GET, HEAD, POST, OPTIONS";
    return r->takes_post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}
