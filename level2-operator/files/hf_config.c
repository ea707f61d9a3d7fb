// Field by field. Numbers keep their meaning and change their name; a few are turned into what GGUF
// stores in their place.
#include "level2-operator/files/hf_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/files/hf_fields.h"
#include "level2-operator/files/hf_rope.h"

// ---- what the model is --------------------------------------------------------------------------

static enum status read_arch(struct hf_fields *f, struct hf_config *c) {
    static const char field[] = "model_type";
    const char *type = json_string_value(hf_field(f, field));

    if (!type) return hf_field_refuse(f, ERR_FORMAT, field, "must be there, a string");
    const char *name = type;
    if (strcmp(type, "mistral") == 0) name = "llama"; // the same layers, perhaps a window
    if (strcmp(type, "gemma3_text") == 0) name = "gemma3";
    if (hf_field(f, "text_config") || strcmp(type, "gemma3") == 0 ||
        !arch_find(&c->arch, name, strlen(name)))
        return hf_field_refuse(f, ERR_UNSUPPORTED, field,
                               "%.32s is not supported; llama, mistral, qwen2, qwen3, "
                               "gemma3_text are",
                               type);
    f->arch = arch_traits(c->arch)->name;
    key_list_string(f->keys, "general.architecture", f->arch, strlen(f->arch),
                    "config.json: model_type");
    return OK;
}

static enum status refuse_text(const struct hf_fields *f, const char *field,
                               const char *only) {
    const json_t *value = hf_field(f, field);
    if (!value || (json_is_string(value) && strcmp(json_string_value(value), only) == 0))
        return OK;
    return hf_field_refuse(f, ERR_UNSUPPORTED, field, "not supported; only %s is", only);
}

// Fields that change the arithmetic, and the only value of each that we compute.
static enum status refuse_features(const struct hf_fields *f, const struct hf_config *c) {
    static const char *const absent[] = {"quantization_config", "attn_logit_softcapping",
                                         "final_logit_softcapping", "num_local_experts",
                                         "logits_scaling"};
    bool is_gelu = arch_traits(c->arch)->activation == ACTIVATION_GELU_TANH;
    enum status st = refuse_text(f, is_gelu ? "hidden_activation" : "hidden_act",
                                 is_gelu ? "gelu_pytorch_tanh" : "silu");
    const json_t *part = hf_field(f, "partial_rotary_factor");

    for (size_t i = 0; st == OK && i < sizeof(absent) / sizeof(absent[0]); i++)
        if (hf_field(f, absent[i]))
            st = hf_field_refuse(f, ERR_UNSUPPORTED, absent[i],
                                 "not supported; a checkpoint without it is");
    if (st == OK && part && json_number_value(part) != 1)
        st = hf_field_refuse(f, ERR_UNSUPPORTED, "partial_rotary_factor",
                             "not supported; only 1 is");
    return st;
}

static enum status read_shape(const struct hf_fields *f, const struct hf_config *c) {
    bool has_own_width = c->arch == ARCH_QWEN3 || c->arch == ARCH_GEMMA3;
    const struct {
        const char *field, *suffix;
        bool is_needed;
    } fields[] = {
        {"num_hidden_layers",       "block_count",             true         },
        {"hidden_size",             "embedding_length",        true         },
        {"intermediate_size",       "feed_forward_length",     true         },
        {"num_attention_heads",     "attention.head_count",    true         },
        {"num_key_value_heads",     "attention.head_count_kv", false        },
        {"head_dim",                "attention.key_length",    has_own_width},
        {"max_position_embeddings", "context_length",          true         },
        {"vocab_size",              "vocab_size",              true         },
    };
    enum status st = OK;
    for (size_t i = 0; st == OK && i < sizeof(fields) / sizeof(fields[0]); i++)
        st = hf_field_int(f, fields[i].field, fields[i].suffix, fields[i].is_needed);
    if (st == OK)
        st = hf_field_real(f, "rms_norm_eps", "attention.layer_norm_rms_epsilon", true);
    return st;
}

static enum status read_vocab(const struct hf_fields *f, struct hf_config *c) {
    json_int_t n = json_integer_value(hf_field(f, "vocab_size"));
    const json_t *tie = hf_field(f, "tie_word_embeddings");

    if (n < 1 || n > LIMIT_VOCAB)
        return hf_field_refuse(f, ERR_FORMAT, "vocab_size", "is not in 1 .. %d",
                               LIMIT_VOCAB);
    c->n_vocab = (int)n;
    if (tie && !json_is_boolean(tie))
        return hf_field_refuse(f, ERR_FORMAT, "tie_word_embeddings",
                               "must be true or false");
    c->tie = !tie ? HF_TIE_UNSAID : json_is_true(tie) ? HF_TIED : HF_UNTIED;
    return OK;
}

// The list of what each layer attends to, where a file has one: it must say what we compute anyway.
static enum status check_layer_types(const struct hf_fields *f, const struct hf_config *c,
                                     bool has_window) {
    int period = arch_traits(c->arch)->window_period;
    const json_t *types = hf_field(f, "layer_types");
    json_int_t n_layers = json_integer_value(hf_field(f, "num_hidden_layers"));

    if (types && (json_int_t)json_array_size(types) != n_layers)
        return hf_field_refuse(
            f, ERR_FORMAT, "layer_types",
            "must name one type for each of %" JSON_INTEGER_FORMAT " layers", n_layers);
    for (size_t i = 0; i < json_array_size(types); i++) {
        bool has = has_window && !(period > 0 && (i + 1) % (size_t)period == 0);
        const char *want = has ? "sliding_attention" : "full_attention";
        const char *type = json_string_value(json_array_get(types, i));
        if (!type || strcmp(type, want) != 0)
            return hf_field_refuse(f, ERR_UNSUPPORTED, "layer_types",
                                   "layer %zu is not %s; not supported", i, want);
    }
    return OK;
}

static enum status read_window(const struct hf_fields *f, const struct hf_config *c) {
    const json_t *pattern = hf_field(f, "sliding_window_pattern");
    const json_t *is_used = hf_field(f, "use_sliding_window");
    bool is_qwen = c->arch == ARCH_QWEN2 || c->arch == ARCH_QWEN3; // only if it says so
    bool has_window = hf_field(f, "sliding_window") &&
                      (is_qwen ? json_is_true(is_used) : !json_is_false(is_used));
    int period = arch_traits(c->arch)->window_period;
    enum status st = OK;

    if (pattern && period && json_integer_value(pattern) != period)
        return hf_field_refuse(f, ERR_UNSUPPORTED, "sliding_window_pattern",
                               "not supported; only %d is", period);
    if (has_window && is_qwen)
        return hf_field_refuse(f, ERR_UNSUPPORTED, "use_sliding_window",
                               "true is not supported for %s; only false is", f->arch);
    if (has_window)
        st = hf_field_int(f, "sliding_window", "attention.sliding_window", true);
    return st == OK ? check_layer_types(f, c, has_window) : st;
}

// Gemma says what scores are divided by the root of; GGUF stores the factor.
static enum status read_scale(const struct hf_fields *f) {
    const json_t *scalar = hf_field(f, "query_pre_attn_scalar");
    char name[HF_KEY_BYTES], spelled[HF_KEY_BYTES];

    if (!scalar) return OK;
    if (!json_is_number(scalar) || !(json_number_value(scalar) > 0))
        return hf_field_refuse(f, ERR_FORMAT, "query_pre_attn_scalar",
                               "must be a positive number");
    hf_field_names(f, "query_pre_attn_scalar", "attention.scale", name, spelled);
    key_list_f64(f->keys, name, 1 / sqrt(json_number_value(scalar)), spelled);
    return OK;
}

// ---- generation ---------------------------------------------------------------------------------

static enum status read_id(const struct hf_fields *f, const char *field, const json_t *id,
                           int n_vocab, const char *key) {
    char spelled[HF_KEY_BYTES];
    if (!json_is_integer(id) || json_integer_value(id) < 0 ||
        json_integer_value(id) >= n_vocab)
        return hf_field_refuse(f, ERR_FORMAT, field, "not the id of a token");
    snprintf(spelled, sizeof(spelled), "%s: %s", f->file, field);
    key_list_u64(f->keys, key, (uint64_t)json_integer_value(id), spelled);
    return OK;
}

// One id, or a list. GGUF has a key for each of three.
static enum status read_ends(const struct hf_fields *f, int n_vocab) {
    static const char field[] = "eos_token_id";
    static const char *const keys[] = {"tokenizer.ggml.eos_token_id",
                                       "tokenizer.ggml.eot_token_id",
                                       "tokenizer.ggml.eom_token_id"};
    const json_t *ids = hf_field(f, field);
    enum status st = OK;

    if (!json_is_array(ids)) return read_id(f, field, ids, n_vocab, keys[0]);
    if (json_array_size(ids) > sizeof(keys) / sizeof(keys[0]))
        return hf_field_refuse(f, ERR_LIMIT, field, "%zu ids, at most 3 are read",
                               json_array_size(ids));
    for (size_t i = 0; st == OK && i < json_array_size(ids); i++)
        st = read_id(f, field, json_array_get(ids, i), n_vocab, keys[i]);
    return st;
}

// Ranges are sampling_defaults.h's to check.
static enum status read_sampling(const struct hf_fields *f) {
    static const struct {
        const char *field, *key;
    } fields[] = {
        {"temperature",        "general.sampling.temp"          },
        {"top_k",              "general.sampling.top_k"         },
        {"top_p",              "general.sampling.top_p"         },
        {"min_p",              "general.sampling.min_p"         },
        {"repetition_penalty", "general.sampling.penalty_repeat"},
    };
    const json_t *samples = hf_field(f, "do_sample");
    bool is_greedy = json_is_false(samples); // whatever temperature stands beside it
    char spelled[HF_KEY_BYTES];

    if (samples && !json_is_boolean(samples))
        return hf_field_refuse(f, ERR_FORMAT, "do_sample", "must be true or false");
    if (is_greedy)
        key_list_f64(f->keys, fields[0].key, 0, "generation_config.json: do_sample");
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        const json_t *value = hf_field(f, fields[i].field);
        if (!value) continue;
        if (!json_is_number(value))
            return hf_field_refuse(f, ERR_FORMAT, fields[i].field, "must be a number");
        if (is_greedy && i == 0) continue;
        snprintf(spelled, sizeof(spelled), "%s: %s", f->file, fields[i].field);
        key_list_f64(f->keys, fields[i].key, json_number_value(value), spelled);
    }
    return OK;
}

static enum status read_generation(const struct hf_fields *config, int n_vocab,
                                   const json_t *generation) {
    struct hf_fields f = *config;
    enum status st = OK;

    f.file = "generation_config.json";
    f.object = generation;
    const struct hf_fields *ends = hf_field(&f, "eos_token_id") ? &f : config;
    const struct hf_fields *begin = hf_field(&f, "bos_token_id") ? &f : config;
    if (hf_field(ends, "eos_token_id")) st = read_ends(ends, n_vocab);
    const json_t *bos = hf_field(begin, "bos_token_id");
    if (st == OK && bos)
        st = read_id(begin, "bos_token_id", bos, n_vocab, "tokenizer.ggml.bos_token_id");
    return st == OK ? read_sampling(&f) : st;
}

// ---- all of it ----------------------------------------------------------------------------------

enum status hf_config_read(struct hf_config *c, struct key_list *keys, const json_t *config,
                           const json_t *generation, const char *folder,
                           struct error *err) {
    struct hf_fields f = {.keys = keys,
                          .folder = folder,
                          .file = "config.json",
                          .object = config,
                          .err = err};

    *c = (struct hf_config){0};
    enum status st = read_arch(&f, c);
    if (st == OK) st = refuse_features(&f, c);
    if (st == OK) st = read_shape(&f, c);
    if (st == OK) st = read_vocab(&f, c);
    if (st == OK) st = read_window(&f, c);
    if (st == OK) st = hf_rope_read(&f);
    if (st == OK) st = read_scale(&f);
    return st == OK ? read_generation(&f, c->n_vocab, generation) : st;
}
