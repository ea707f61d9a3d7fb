// What a server says of a model besides its answers: how long its context is.
#ifndef LEVEL1_CLIENT_MODELS_H
#define LEVEL1_CLIENT_MODELS_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "level1-user/client.h"

// max_model_len of the model in GET base/models, which vLLM and our own serve tell; of the only model
// there is, if none has that name. 0: not told, no answer within patience_ms, or cancelled, which is noticed
// within a second (NULL: never). Nothing else is lost by that.
int64_t client_context(const struct client *c, const char *model, int64_t patience_ms,
                       const volatile sig_atomic_t *cancelled);

// The same from the body of an answer.
int64_t models_context(const char *body, size_t n_bytes, const char *model);

#endif
