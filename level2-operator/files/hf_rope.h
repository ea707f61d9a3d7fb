// What a model folder's config.json says about positions.
#ifndef LEVEL2_HF_ROPE_H
#define LEVEL2_HF_ROPE_H

#include "level2-operator/files/hf_fields.h"

// rope_theta, rope_local_base_freq, and rope_scaling: null or {"rope_type": "linear", "llama3", "yarn",
// ...}. Newer files hold all of it in rope_parameters.
enum status hf_rope_read(const struct hf_fields *f);

#endif
