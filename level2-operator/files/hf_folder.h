// A model as the Hugging Face libraries save it, shown under the names of a GGUF file:
//
//   folder/ config.json               what it is and how large         hf_config.h
//           generation_config.json    which tokens end a text          (may be missing)
//           tokenizer.json            vocabulary, merges, rules        tokenizer_json.h
//           tokenizer_config.json     chat template                    (may be missing)
//           chat_template.jinja       the template, in newer folders   (may be missing)
//           model.safetensors         all weights                      safetensors.h
//        or model.safetensors.index.json and the files that it names   safetensors_index.h
//
// Two things differ from a GGUF file beyond names, and config (is_converted) takes care of them: the rows
// of Q and K are never reordered, so rope turns halves; and the norms of a Gemma are stored without the 1
// that is added to them.
#ifndef LEVEL2_HF_FOLDER_H
#define LEVEL2_HF_FOLDER_H

#include "level2-operator/files/model_file.h"

enum { HF_FOLDER_KEYS = 96 }; // that its JSON may become; there are names for about 40

// Both for model_file_open alone. A single .safetensors file shows its tensors under their own names and
// its notes as keys: it can be listed and checked, but not run.
enum status hf_folder_open(struct model_file *f, const char *path, struct error *err);
enum status hf_file_open(struct model_file *f, const char *path, struct error *err);

#endif
