// Which web pages may call this server from a browser. Nobody, unless listed: a page that the user
// merely visits could otherwise talk to a server on his own machine.
//
// don't: ever send Access-Control-Allow-Credentials; with "*" it would open everything to everyone
#ifndef LEVEL2_HTTP_CORS_H
#define LEVEL2_HTTP_CORS_H

#include "common/arena.h"
#include "common/limits.h"
#include "common/status.h"

struct http_cors {                      // all-zero: nobody
    const char *origins[LIMIT_ORIGINS]; // in the arena
    int n_origins;
};

// list: origins between commas, each "*" or scheme://host[:port] as browsers send it: no path, no
// slash at the end. ERR_INPUT names the one that is none.
enum status http_cors_add(struct http_cors *c, const char *list, struct arena *arena,
                          struct error *err);

// The value of Access-Control-Allow-Origin for a request with this Origin header ("*" or the origin
// itself); NULL: send no such header. origin NULL: the request did not come from another page.
const char *http_cors_allow(const struct http_cors *c, const char *origin);

#endif
