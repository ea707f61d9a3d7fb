// Positions: two ways to write them down, and three ways to stretch them (rope_stretch.h).
#include "level2-operator/files/hf_rope.h"

#include <stdio.h>
#include <string.h>

static enum status read_llama3(const struct hf_fields *f) {
    enum status st =
        hf_field_real(f, "low_freq_factor", "rope.scaling.low_freq_factor", true);
    if (st == OK)
        st = hf_field_real(f, "high_freq_factor", "rope.scaling.high_freq_factor", true);
    return st;
}

static enum status read_yarn(const struct hf_fields *f) {
    static const char *const absent[] = {"attention_factor", "mscale", "mscale_all_dim"};
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        if (hf_field(f, absent[i]))
            return hf_field_refuse(f, ERR_UNSUPPORTED, absent[i],
                                   "not supported with yarn");
    enum status st = hf_field_real(f, "beta_slow", "rope.scaling.yarn_beta_slow", false);
    if (st == OK) st = hf_field_real(f, "beta_fast", "rope.scaling.yarn_beta_fast", false);
    return st;
}

// f->object is the object that says how.
static enum status read_scaling(const struct hf_fields *f) {
    const json_t *named = hf_field(f, "rope_type");
    const char *type = json_string_value(named ? named : hf_field(f, "type"));
    char key[64];
    enum status st = OK;

    if (!type)
        return hf_field_refuse(f, ERR_FORMAT, "rope_type", "must be there, a string");
    if (strcmp(type, "default") == 0) return OK;
    bool is_llama3 = strcmp(type, "llama3") == 0, is_yarn = strcmp(type, "yarn") == 0;
    if (!is_llama3 && !is_yarn && strcmp(type, "linear") != 0)
        return hf_field_refuse(f, ERR_UNSUPPORTED, "rope_type",
                               "%.32s is not supported; linear, llama3 and yarn are", type);
    snprintf(key, sizeof(key), "%s.rope.scaling.type", f->arch);
    key_list_string(f->keys, key, type, strlen(type), "config.json: rope_type");
    if (is_llama3) st = read_llama3(f);
    if (is_yarn) st = read_yarn(f);
    if (st == OK) st = hf_field_real(f, "factor", "rope.scaling.factor", true);
    if (st == OK && (is_llama3 || is_yarn))
        st = hf_field_int(f, "original_max_position_embeddings",
                          "rope.scaling.original_context_length", true);
    return st;
}

// Gemma 3's are two objects, one for each kind of layer.
static enum status read_parameters(const struct hf_fields *f, const json_t *parameters) {
    struct hf_fields inner = *f;
    const json_t *window = json_object_get(parameters, "sliding_attention");
    enum status st = OK;

    if (window) {
        inner.object = window;
        st = hf_field_real(&inner, "rope_theta", "rope.freq_base_swa", true);
        parameters = json_object_get(parameters, "full_attention");
    }
    if (!json_is_object(parameters))
        return hf_field_refuse(f, ERR_FORMAT, "rope_parameters", "must be an object");
    inner.object = parameters;
    if (st == OK) st = hf_field_real(&inner, "rope_theta", "rope.freq_base", true);
    return st == OK ? read_scaling(&inner) : st;
}

enum status hf_rope_read(const struct hf_fields *f) {
    const json_t *parameters = hf_field(f, "rope_parameters");
    const json_t *scaling = hf_field(f, "rope_scaling");
    struct hf_fields inner = *f;

    if (parameters) return read_parameters(f, parameters);
    enum status st = hf_field_real(f, "rope_theta", "rope.freq_base", false);
    if (st == OK)
        st = hf_field_real(f, "rope_local_base_freq", "rope.freq_base_swa", false);
    if (st != OK || !scaling) return st;
    if (!json_is_object(scaling))
        return hf_field_refuse(f, ERR_FORMAT, "rope_scaling", "must be an object or null");
    inner.object = scaling;
    return read_scaling(&inner);
}
