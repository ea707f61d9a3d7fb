// The JSON files of a model folder from bytes, as hf_folder.c reads them from files: for fuzzers and for
// tests of changed copies.
#ifndef TESTS_SUPPORT_HF_INPUT_H
#define TESTS_SUPPORT_HF_INPUT_H

#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"

// bytes are a config.json, and stand for a generation_config.json, too. What is understood goes on to
// config_read.
enum status hf_input_config(const char *bytes, size_t n_bytes, struct arena *arena,
                            struct error *err);

// A tokenizer.json for a model with n_vocab tokens. What is understood becomes a tokenizer.
enum status hf_input_tokenizer(const char *bytes, size_t n_bytes, int n_vocab,
                               struct arena *arena, struct error *err);

// A model.safetensors.index.json.
enum status hf_input_index(const char *bytes, size_t n_bytes, struct arena *arena,
                           struct error *err);

#endif
