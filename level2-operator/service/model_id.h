// The name under which clients know a model.
#ifndef LEVEL2_MODEL_ID_H
#define LEVEL2_MODEL_ID_H

#include <stdbool.h>
#include <stddef.h>

// given, else what the file is called: "models/SmolLM2-135M-Instruct.Q4_1.gguf" becomes
// "SmolLM2-135M-Instruct.Q4_1", a folder keeps its name. false: it does not fit into out_bytes, is empty,
// or is not what JSON and a log line can say.
bool model_id_make(char *out, size_t out_bytes, const char *path, const char *given);

#endif
