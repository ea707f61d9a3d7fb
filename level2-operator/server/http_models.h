// The models that clients see, GET /v1/models: one; and those that an administrator sees.
#ifndef LEVEL2_HTTP_MODELS_H
#define LEVEL2_HTTP_MODELS_H

#include <stddef.h>

#include "level2-operator/service/served.h"

// {"object":"list","data":[...]}, malloc'd; NULL: no memory.
char *http_models_list(const struct served *served, size_t *n_bytes);

// The model object alone.
char *http_models_one(const struct served *served, size_t *n_bytes);

// A model in one of its states.
struct http_model_row {
    const struct served *served; // NULL: it is not there yet, or no more
    const char *id;              // NULL: that of served
    const char *state;
    int n_holders; // requests
};

// The list again, each with "state" and "requests". What is not there has no length and no time.
char *http_models_states(const struct http_model_row *rows, int n_rows, size_t *n_bytes);

#endif
