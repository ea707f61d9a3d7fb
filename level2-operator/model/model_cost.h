// A model as the one calculation sees it: its constants are counted over the matrices that were loaded,
// not taken from a data sheet.
#ifndef LEVEL2_MODEL_COST_H
#define LEVEL2_MODEL_COST_H

#include "common/cost.h"
#include "common/dtype.h"
#include "level2-operator/model/model.h"

// kv: the type that K and V are stored in. Layers of several types have their mean bytes per weight.
struct cost_model model_cost(const struct model *m, enum dtype kv);

#endif
