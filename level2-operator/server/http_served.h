// What the HTTP loop knows of the models that are served.
#ifndef LEVEL2_HTTP_SERVED_H
#define LEVEL2_HTTP_SERVED_H

#include "common/engine.h"
#include "level2-operator/service/served.h"

struct http_server;

// The model that new requests are bound to; NULL: none is loaded.
const struct served *http_served(const struct http_server *s);

// What all engines together do and have done since the start, those that are gone by now included. All
// zero while there is none.
void http_served_stats(const struct http_server *s, struct engine_stats *stats);

// No request holds the model in place i_model any more, and its engine will be freed: from here on it
// is not looked at, and what it has done is kept.
void http_served_forget(struct http_server *s, int i_model);

#endif
