// What a program takes when nobody says otherwise. Paths are relative to where it is started:
// the root of the repository.
#ifndef COMMON_DEFAULTS_H
#define COMMON_DEFAULTS_H

static const char *const DEFAULT_MODEL_PATH = "models/SmolLM2-135M-Instruct.Q4_1.gguf";

#endif
