// What is served: a loaded model as everybody sees it who does not own it. Copied freely; whoever
// keeps one must not outlive the model's place (lifecycle.h).
#ifndef LEVEL2_SERVED_H
#define LEVEL2_SERVED_H

#include <stdint.h>

#include "common/engine.h"
#include "common/limits.h"
#include "level2-operator/model/model.h"

struct served {
    struct engine *engine; // borrowed; NULL: nothing is served
    const struct model *model;
    char id[LIMIT_MODEL_ID_BYTES]; // the name in /v1/models
    int64_t created_s;             // unix time
};

#endif
