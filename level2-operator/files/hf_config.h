// config.json and generation_config.json of a model folder, as keys that config_read understands. What
// would change the answer and is not built here (another activation, a quantised checkpoint, soft caps)
// is refused by the name of its field; what is only about training is passed over.
//
//   config.json             num_hidden_layers, hidden_size, rope_theta, rope_scaling, ...
//   generation_config.json  eos_token_id: one or a list; do_sample, temperature, top_k,
//                           top_p, min_p, repetition_penalty, as the makers recommend
#ifndef LEVEL2_HF_CONFIG_H
#define LEVEL2_HF_CONFIG_H

#include <jansson.h>

#include "level2-operator/gguf/arch.h"
#include "level2-operator/gguf/key_list.h"

enum hf_tie { HF_TIE_UNSAID, HF_TIED, HF_UNTIED };

// What others need to know before the keys are a table.
struct hf_config {
    enum arch arch;
    int n_vocab;
    enum hf_tie tie; // tie_word_embeddings
};

// generation may be NULL. folder is for messages: "folder/config.json: hidden_size: ...". Ranges are
// config_read's to check. ERR_FORMAT, ERR_UNSUPPORTED.
enum status hf_config_read(struct hf_config *c, struct key_list *keys, const json_t *config,
                           const json_t *generation, const char *folder, struct error *err);

#endif
