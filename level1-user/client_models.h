// What a server says of a model besides its answers: how long its context is.
#ifndef LEVEL1_CLIENT_MODELS_H
#define LEVEL1_CLIENT_MODELS_H

#include <stddef.h>
#include <stdint.h>

#include "level1-user/client.h"

// max_model_len of the model in GET base/models, which vLLM and our own serve tell; of the only model
// there is, if none has that name. 0: not told, or no answer within 3 s. Nothing else is lost by that.
int64_t client_context(const struct client *c, const char *model);

// The same from the body of an answer.
int64_t models_context(const char *body, size_t n_bytes, const char *model);

#endif
