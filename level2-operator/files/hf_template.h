// The chat template of a model folder, and the tokens that it may name.
#ifndef LEVEL2_HF_TEMPLATE_H
#define LEVEL2_HF_TEMPLATE_H

#include <jansson.h>

#include "level2-operator/gguf/key_list.h"

// chat_template.jinja in the folder, else chat_template of tokenizer_config.json: a text, or a list of
// {"name", "template"}, of which the one called default is taken. None of them: no key. config may be
// NULL.
enum status hf_template_read(struct key_list *keys, const json_t *config,
                             const char *folder, struct error *err);

#endif
