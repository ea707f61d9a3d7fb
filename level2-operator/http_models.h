// The list of models that GET /v1/models shows: one.
#ifndef LEVEL2_HTTP_MODELS_H
#define LEVEL2_HTTP_MODELS_H

#include <stddef.h>

#include "level2-operator/text_worker.h"

// {"object":"list","data":[...]}, malloc'd; NULL: no memory.
char *http_models_list(const struct served *served, size_t *n_bytes);

// The model object alone.
char *http_models_one(const struct served *served, size_t *n_bytes);

#endif
