// Which path is what. One table; the only place that spells the paths.
#ifndef LEVEL2_HTTP_ROUTE_H
#define LEVEL2_HTTP_ROUTE_H

#include <stdbool.h>

#include "level2-operator/api/exchange.h"

enum http_action {
    HTTP_UNKNOWN, // no such path
    HTTP_JOB,     // for the text worker
    HTTP_MODELS,  // the list of models
    HTTP_MODEL,   // one model; its name is the rest of the path
    HTTP_HEALTH,
    HTTP_READY,
    HTTP_METRICS,
    HTTP_SWAP // the models as the administrator sees them, and another one
};

struct http_route {
    const char *path; // NULL: unknown
    enum http_action action;
    enum route job; // HTTP_JOB
    bool takes_get; // GET and HEAD
    bool takes_post;
    bool is_open;     // needs no key
    bool is_prefix;   // the path goes on
    bool is_admitted; // waits for the engine: counted by admission
    bool is_admin;    // has keys of its own
};

// path without the query. Always a valid pointer: the last row is HTTP_UNKNOWN. *rest (may be NULL)
// is what follows the path of a prefix route, else "".
const struct http_route *http_route_find(const char *path, const char **rest);

// The value of an Allow header.
const char *http_route_methods(const struct http_route *r);

#endif
