// The shape of the model, key by key. A number that we would have to guess, and a feature that would
// change the answer, are refused: a model that runs wrongly is worse than one that does not run.
#include "level2-operator/model/config.h"

#include <math.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/model/config_reader.h"

enum { GEMMA3_27B_LAYERS = 62 };

bool config_has_window(const struct config *c, int layer) {
    bool is_last = c->window_period > 0 && (layer + 1) % c->window_period == 0;
    return c->window > 0 && !is_last;
}

int config_first_key(const struct config *c, int layer, int position) {
    if (!config_has_window(c, layer) || position < c->window) return 0;
    return position - c->window + 1;
}

static enum status read_arch(struct config_reader *r, struct config *c) {
    static const char key[] = "general.architecture";
    const struct gguf_value *v = gguf_find(r->g, key);
    struct gguf_string name;
    char known[64];

    if (!v) return config_refuse(r, ERR_FORMAT, key, "missing; this is not a model");
    if (!gguf_get_string(v, &name))
        return config_refuse(r, ERR_FORMAT, key, "must be a string");
    if (!arch_find(&c->arch, name.bytes, name.n_bytes)) {
        arch_list(known, sizeof(known));
        return config_refuse(r, ERR_UNSUPPORTED, key, "%.*s is not supported; known: %s",
                             name.n_bytes < 32 ? (int)name.n_bytes : 32, name.bytes, known);
    }

    const struct arch_traits *traits = arch_traits(c->arch);
    r->arch = traits->name;
    c->rope_pairing = r->g->is_converted ? ROPE_HALVES : traits->gguf_pairing;
    c->norm_offset = r->g->is_converted && traits->norms_add_one ? 1 : 0;
    c->activation = traits->activation;
    c->has_qkv_bias = traits->has_qkv_bias;
    c->has_head_norms = traits->has_head_norms;
    c->has_post_norms = traits->has_post_norms;
    return OK;
}

static enum status read_heads(const struct config_reader *r, struct config *c) {
    char key[CONFIG_KEY_BYTES];
    enum status st = config_read_int(r, "attention.head_count", LIMIT_D_MODEL, &c->n_heads);
    if (st != OK) return st;

    c->n_kv_heads = c->n_heads;
    st = config_read_int(r, "attention.head_count_kv", c->n_heads, &c->n_kv_heads);
    if (st != OK) return st;
    config_find(r, key, "attention.head_count_kv");
    if (c->n_heads % c->n_kv_heads != 0)
        return config_refuse(r, ERR_FORMAT, key, "%d heads cannot share %d", c->n_heads,
                             c->n_kv_heads);

    if (c->d_model % c->n_heads == 0)
        c->d_head = c->d_model / c->n_heads; // else the key must say
    return config_read_int(r, "attention.key_length", LIMIT_D_MODEL / c->n_heads,
                           &c->d_head);
}

// Keys that must agree with the width of a head, if they are there.
static enum status check_head_width(const struct config_reader *r, const struct config *c) {
    static const char *const suffixes[] = {"attention.value_length",
                                           "rope.dimension_count"};
    char key[CONFIG_KEY_BYTES];
    enum status st;

    config_find(r, key, "attention.key_length");
    if (c->d_head % 2 != 0)
        return config_refuse(r, ERR_FORMAT, key, "heads are %d wide, must be even",
                             c->d_head);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        int width = c->d_head;
        if ((st = config_read_int(r, suffixes[i], LIMIT_D_MODEL, &width)) != OK) return st;
        config_find(r, key, suffixes[i]);
        if (width != c->d_head)
            return config_refuse(r, ERR_UNSUPPORTED, key, "%d, but heads are %d wide",
                                 width, c->d_head);
    }
    return OK;
}

static enum status read_vocab(const struct config_reader *r, struct config *c) {
    static const char key[] = "tokenizer.ggml.tokens";
    const struct gguf_value *tokens = gguf_find(r->g, key);

    if (tokens && tokens->type != GGUF_ARRAY)
        return config_refuse(r, ERR_FORMAT, key, "must be an array");
    if (tokens && (tokens->n_items < 1 || tokens->n_items > LIMIT_VOCAB))
        return config_refuse(r, ERR_FORMAT, key, "%llu tokens, must be 1 .. %d",
                             (unsigned long long)tokens->n_items, LIMIT_VOCAB);
    int n_tokens = tokens ? (int)tokens->n_items : 0;
    c->n_vocab = n_tokens;
    enum status st = config_read_int(r, "vocab_size", LIMIT_VOCAB, &c->n_vocab);
    if (st == OK && tokens && c->n_vocab != n_tokens)
        return config_refuse(r, ERR_FORMAT, key, "%d tokens, but the vocabulary has %d",
                             n_tokens, c->n_vocab);
    return st;
}

// One number of layers, or one yes or no for each: windows stand where the period puts them.
static enum status check_window_pattern(const struct config_reader *r,
                                        const struct config *c) {
    char key[CONFIG_KEY_BYTES];
    const struct gguf_value *v = config_find(r, key, "attention.sliding_window_pattern");
    struct gguf_value item;
    uint64_t period;
    bool has_window;

    if (!v) return OK;
    if (gguf_get_u64(v, &period) && period == (uint64_t)c->window_period) return OK;
    if (v->type != GGUF_ARRAY || v->n_items != (uint64_t)c->n_layers)
        return config_refuse(r, ERR_UNSUPPORTED, key, "not supported yet; only %d is",
                             c->window_period);
    for (int l = 0; l < c->n_layers; l++) {
        if (!gguf_item(v, (uint64_t)l, &item) || !gguf_get_bool(&item, &has_window) ||
            has_window != config_has_window(c, l))
            return config_refuse(r, ERR_UNSUPPORTED, key,
                                 "layer %d breaks the pattern; not supported yet", l);
    }
    return OK;
}

// 0 says that no layer has a window, as if the key were not there.
static enum status read_window(const struct config_reader *r, struct config *c) {
    const struct arch_traits *traits = arch_traits(c->arch);
    char key[CONFIG_KEY_BYTES];
    const struct gguf_value *v = config_find(r, key, "attention.sliding_window");
    uint64_t window;
    enum status st;

    if (v && gguf_get_u64(v, &window) && window == 0) return OK;
    if (!v && traits->window_period == 0) return OK;
    if (!traits->may_have_window)
        return config_refuse_unless(r, "attention.sliding_window", 0);
    st = config_read_int(r, "attention.sliding_window", LIMIT_CONTEXT, &c->window);
    c->window_period = traits->window_period;
    return st == OK ? check_window_pattern(r, c) : st;
}

// Files that name no kind but have a factor mean the oldest one, linear.
static enum status read_stretch_kind(const struct config_reader *r,
                                     struct rope_stretch *s) {
    char key[CONFIG_KEY_BYTES];
    const struct gguf_value *v = config_find(r, key, "rope.scaling.type");
    struct gguf_string kind;

    s->kind = ROPE_LINEAR;
    if (!v) return OK;
    if (!gguf_get_string(v, &kind))
        return config_refuse(r, ERR_FORMAT, key, "must be a string");
    if (gguf_string_is(kind, "linear")) return OK;
    s->kind = ROPE_AS_TRAINED;
    if (gguf_string_is(kind, "yarn")) s->kind = ROPE_YARN;
    if (r->g->is_converted && gguf_string_is(kind, "llama3")) s->kind = ROPE_LLAMA3;
    if (s->kind != ROPE_AS_TRAINED || gguf_string_is(kind, "none")) return OK;
    return config_refuse(r, ERR_UNSUPPORTED, key,
                         "%.*s is not supported; linear and yarn are",
                         kind.n_bytes < 32 ? (int)kind.n_bytes : 32, kind.bytes);
}

static enum status read_ends(const struct config_reader *r, const char *low,
                             const char *high, struct rope_stretch *s) {
    char key[CONFIG_KEY_BYTES];
    enum status st = config_read_real(r, low, &s->low);
    if (st == OK) st = config_read_real(r, high, &s->high);
    if (st != OK || s->low < s->high) return st;
    config_find(r, key, low);
    return config_refuse(r, ERR_FORMAT, key, "%g is not below %g", (double)s->low,
                         (double)s->high);
}

// Llama 3's way has no keys in a GGUF file: its divisors are a tensor (model_bind.c). Of a model folder
// it has.
static enum status read_stretch(const struct config_reader *r, struct config *c) {
    struct rope_stretch *s = &c->rope_stretch;
    char key[CONFIG_KEY_BYTES];
    enum status st = read_stretch_kind(r, s);

    if (st != OK || s->kind == ROPE_AS_TRAINED) return st;
    *s = (struct rope_stretch){.kind = s->kind, .factor = 1, .low = 1, .high = 32};
    if ((st = config_read_real(r, "rope.scale_linear", &s->factor)) != OK) return st;
    if ((st = config_read_real(r, "rope.scaling.factor", &s->factor)) != OK) return st;
    if (s->kind == ROPE_LINEAR && s->factor == 1) s->kind = ROPE_AS_TRAINED;
    bool is_yarn = s->kind == ROPE_YARN;
    if (!is_yarn && s->kind != ROPE_LLAMA3) return OK;

    config_find(r, key, "rope.scaling.type");
    if (is_yarn && (c->window > 0 || c->rope_base <= 1))
        return config_refuse(r, ERR_UNSUPPORTED, key,
                             "yarn with windows, or a base of %g, is not supported",
                             (double)c->rope_base);
    st = is_yarn
             ? read_ends(r, "rope.scaling.yarn_beta_slow", "rope.scaling.yarn_beta_fast", s)
             : read_ends(r, "rope.scaling.low_freq_factor", "rope.scaling.high_freq_factor",
                         s);
    if (st == OK)
        st = config_read_int(r, "rope.scaling.original_context_length", LIMIT_CONTEXT,
                             &s->n_ctx_trained);
    return st;
}

static enum status read_rope(const struct config_reader *r, struct config *c) {
    enum status st = config_read_real(r, "rope.freq_base", &c->rope_base);

    if (c->window > 0) c->window_rope_base = arch_traits(c->arch)->window_rope_base;
    if (st == OK && c->window_rope_base > 0)
        st = config_read_real(r, "rope.freq_base_swa", &c->window_rope_base);
    return st == OK ? read_stretch(r, c) : st;
}

// Scores are divided by the square root of a head's width. The largest Gemma 3 was trained with
// d_model / n_heads in its place, 168 where heads are 128 wide; no key says so, so its number of layers
// must (transformers, configuration of gemma-3-27b: query_pre_attn_scalar).
static enum status read_scales(const struct config_reader *r, struct config *c) {
    double divisor = c->d_head;
    if (c->arch == ARCH_GEMMA3 && c->n_layers == GEMMA3_27B_LAYERS)
        divisor = (double)c->d_model / c->n_heads;

    float length = rope_stretch_length(&c->rope_stretch); // of q, and of k
    c->attention_scale = (float)(1 / sqrt(divisor));
    enum status st = config_read_real(r, "attention.scale", &c->attention_scale);
    c->attention_scale *= length * length;
    c->embedding_scale =
        arch_traits(c->arch)->scales_embedding ? sqrtf((float)c->d_model) : 1;
    return st;
}

static enum status refuse_features(const struct config_reader *r) {
    static const struct {
        const char *suffix;
        double neutral;
    } features[] = {
        {"expert_count",                     0},
        {"attn_logit_softcapping",           0},
        {"final_logit_softcapping",          0},
        {"logit_scale",                      1},
        {"residual_scale",                   1},
        {"embedding_scale",                  1},
        {"rope.scaling.attn_factor",         1},
        {"rope.scaling.yarn_ext_factor",     1},
        {"rope.scaling.yarn_attn_factor",    1},
        {"rope.scaling.yarn_log_multiplier", 0},
    };
    for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
        enum status st = config_refuse_unless(r, features[i].suffix, features[i].neutral);
        if (st != OK) return st;
    }
    return OK;
}

enum status config_read(struct config *c, const struct gguf *g, const char *name,
                        struct error *err) {
    struct config_reader r = {.g = g, .file = name, .err = err};

    *c = (struct config){.rope_base = 10000};
    enum status st = read_arch(&r, c);
    if (st == OK) st = refuse_features(&r);
    if (st == OK) st = config_read_int(&r, "block_count", LIMIT_LAYERS, &c->n_layers);
    r.n_layers = c->n_layers;
    if (st == OK) st = config_read_int(&r, "embedding_length", LIMIT_D_MODEL, &c->d_model);
    if (st == OK) st = read_heads(&r, c);
    if (st == OK) st = check_head_width(&r, c);
    if (st == OK) st = config_read_int(&r, "feed_forward_length", LIMIT_D_MODEL, &c->d_ff);
    if (st == OK) st = read_vocab(&r, c);
    if (st == OK) st = config_read_int(&r, "context_length", LIMIT_CONTEXT, &c->n_ctx);
    if (st == OK) st = read_window(&r, c);
    if (st == OK) st = read_rope(&r, c);
    if (st == OK) st = read_scales(&r, c);
    if (st == OK)
        st = config_read_real(&r, "attention.layer_norm_rms_epsilon", &c->norm_eps);
    return st;
}
