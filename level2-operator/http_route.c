// The table of routes.
#include "level2-operator/http_route.h"

#include <string.h>

// clang-format off
static const struct http_route routes[] = {
    // path                   action        job                   post   open   prefix admitted
    {"/v1/chat/completions",  HTTP_JOB,     ROUTE_CHAT,           true,  false, false, true },
    {"/v1/completions",       HTTP_JOB,     ROUTE_COMPLETIONS,    true,  false, false, true },
    {"/tokenize",             HTTP_JOB,     ROUTE_TOKENIZE,       true,  false, false, false},
    {"/detokenize",           HTTP_JOB,     ROUTE_DETOKENIZE,     true,  false, false, false},
    {"/apply-template",       HTTP_JOB,     ROUTE_APPLY_TEMPLATE, true,  false, false, false},
    {"/v1/models",            HTTP_MODELS,  ROUTE_COUNT,          false, false, false, false},
    {"/v1/models/",           HTTP_MODEL,   ROUTE_COUNT,          false, false, true,  false},
    {"/health",               HTTP_HEALTH,  ROUTE_COUNT,          false, true,  false, false},
    {"/ready",                HTTP_READY,   ROUTE_COUNT,          false, true,  false, false},
    {"/metrics",              HTTP_METRICS, ROUTE_COUNT,          false, false, false, false},
    {NULL,                    HTTP_UNKNOWN, ROUTE_COUNT,          false, false, false, false},
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
    return r->takes_post ? "POST, OPTIONS" : "GET, HEAD, OPTIONS";
}
