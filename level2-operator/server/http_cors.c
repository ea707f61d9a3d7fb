// The allow-list of origins.
#include "level2-operator/server/http_cors.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_origin(const char *text) {
    if (strcmp(text, "*") == 0) return true;
    const char *host = strstr(text, "://");
    if (!host || host == text || host[3] == '\0') return false;
    for (const char *c = text; *c; c++) {
        if (*c <= ' ' || *c > '~') return false;
    }
    return strpbrk(host + 3, "/?#*") == NULL;
}

enum status http_cors_add(struct http_cors *c, const char *list, struct arena *arena,
                          struct error *err) {
    char *text = arena_copy(arena, list, strlen(list));
    if (!text) return error_set(err, ERR_MEMORY, "no memory for a list of origins");

    char *rest = NULL;
    for (char *o = strtok_r(text, ", ", &rest); o; o = strtok_r(NULL, ", ", &rest)) {
        if (!is_origin(o)) {
            return error_set(err, ERR_INPUT,
                             "--cors %s: an origin looks like https://example.org:8443", o);
        }
        if (c->n_origins >= LIMIT_ORIGINS) {
            return error_set(err, ERR_LIMIT, "--cors: more than %d origins", LIMIT_ORIGINS);
        }
        c->origins[c->n_origins++] = o;
    }
    return OK;
}

const char *http_cors_allow(const struct http_cors *c, const char *origin) {
    if (!origin) return NULL;
    for (int i = 0; i < c->n_origins; i++) {
        if (strcmp(c->origins[i], "*") == 0) return "*";
        if (strcasecmp(c->origins[i], origin) == 0) return origin;
    }
    return NULL;
}
