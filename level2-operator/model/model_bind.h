// From names to places: fills a model's layers from the tensors of its file. model_open is what others
// call.
#ifndef LEVEL2_MODEL_BIND_H
#define LEVEL2_MODEL_BIND_H

#include "level2-operator/model/model.h"

// m has its gguf and config. ERR_FORMAT names the tensor that is missing or has another shape,
// ERR_UNSUPPORTED the one that no part of the model is.
enum status model_bind(struct model *m, const char *file, struct error *err);

#endif
