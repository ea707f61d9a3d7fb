// How tokens are drawn where a request does not say: what the model's makers recommend, if their file
// says so, else what the API says.
//
//   GGUF     general.sampling.temp, top_k, top_p, min_p, penalty_repeat
//   folder   generation_config.json, shown under the same keys (hf_config.h)
//
// Passed over are keys of samplers that are not built here (xtc, mirostat, penalty_last_n, sequence).
#ifndef LEVEL2_SAMPLING_DEFAULTS_H
#define LEVEL2_SAMPLING_DEFAULTS_H

#include "common/engine.h"
#include "level2-operator/gguf/gguf.h"

enum sampling_field {
    SAMPLING_TEMPERATURE,
    SAMPLING_TOP_K,
    SAMPLING_TOP_P,
    SAMPLING_MIN_P,
    SAMPLING_REPETITION,
    SAMPLING_FIELDS
};

struct sampling_defaults {
    double value[SAMPLING_FIELDS]; // in the ranges of struct sampling
    const char
        *from[SAMPLING_FIELDS]; // the key as the file spells it; NULL: the API's default
};

// The API's own.
void sampling_defaults_init(struct sampling_defaults *d);

// The file's over the API's. g outlives d. ERR_FORMAT names the key whose value is out of range.
enum status sampling_defaults_read(struct sampling_defaults *d, const struct gguf *g,
                                   const char *file, struct error *err);

// Does any of them come from the file?
bool sampling_defaults_differ(const struct sampling_defaults *d);

// Sets the fields named above, and no other.
void sampling_defaults_apply(const struct sampling_defaults *d, struct sampling *s);

// The field as requests name it.
const char *sampling_field_name(enum sampling_field field);

// "temperature=0.6 top_k=20 top_p=1 min_p=0 repetition_penalty=1"
enum { SAMPLING_TEXT_BYTES = 160 };
const char *sampling_defaults_text(const struct sampling_defaults *d,
                                   char text[SAMPLING_TEXT_BYTES]);

#endif
