// Where a key or a tensor stands, for messages and lists: which file, what it is called there, and at
// which byte. The tables may come from one GGUF file, from the parts of a split one, or from a folder
// whose own names are others.
#ifndef LEVEL2_GGUF_PLACE_H
#define LEVEL2_GGUF_PLACE_H

#include "level2-operator/gguf/gguf.h"

enum { PLACE_BYTES = 200 };

// "m.gguf: key llama.block_count at byte 230"; "folder/config.json: num_hidden_layers";
// "m.gguf: key llama.block_count" if it is not there. file names a model that is one file.
void gguf_place_key(char place[PLACE_BYTES], const struct gguf *g, const char *file,
                    const char *key);

// The same for a tensor by its name here: "m-00002-of-00003.gguf: tensor blk.0.ffn_up.weight at byte
// 5120" (of its entry in the table); "folder/model.safetensors: tensor model.norm.weight at byte 5120"
// (of its data).
void gguf_place_tensor(char place[PLACE_BYTES], const struct gguf *g, const char *file,
                       const char *name);

// The byte of its file at which a tensor's data begins.
uint64_t gguf_tensor_at(const struct gguf *g, const struct gguf_tensor *t);

// Its name as its file has it.
struct gguf_string gguf_tensor_name(const struct gguf_tensor *t);

#endif
