// One table, read in both directions.
#include "level2-operator/gguf/hf_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum which { ANY, WITHOUT_POST_NORMS, WITH_POST_NORMS };

struct part {
    const char *theirs, *ours;
    enum which which; // models that it is so called in
};

static const struct part outside[] = {
    {"model.embed_tokens", "token_embd",  ANY},
    {"model.norm",         "output_norm", ANY},
    {"lm_head",            "output",      ANY},
};
static const struct part in_layer[] = {
    {"input_layernorm",            "attn_norm",           ANY               },
    {"self_attn.q_proj",           "attn_q",              ANY               },
    {"self_attn.k_proj",           "attn_k",              ANY               },
    {"self_attn.v_proj",           "attn_v",              ANY               },
    {"self_attn.q_norm",           "attn_q_norm",         ANY               },
    {"self_attn.k_norm",           "attn_k_norm",         ANY               },
    {"self_attn.o_proj",           "attn_output",         ANY               },
    {"post_attention_layernorm",   "ffn_norm",            WITHOUT_POST_NORMS},
    {"post_attention_layernorm",   "post_attention_norm", WITH_POST_NORMS   },
    {"pre_feedforward_layernorm",  "ffn_norm",            WITH_POST_NORMS   },
    {"mlp.gate_proj",              "ffn_gate",            ANY               },
    {"mlp.up_proj",                "ffn_up",              ANY               },
    {"mlp.down_proj",              "ffn_down",            ANY               },
    {"post_feedforward_layernorm", "post_ffw_norm",       WITH_POST_NORMS   },
};
enum { N_OUTSIDE = sizeof(outside) / sizeof(outside[0]) };
enum { N_IN_LAYER = sizeof(in_layer) / sizeof(in_layer[0]) };

// "model.layers.7.mlp.up_proj.weight" in its pieces; digits and suffix point into the name.
struct pieces {
    const char *digits, *part, *suffix; // digits NULL: in no layer
    int n_digits, n_part;
};

static bool take_apart(struct pieces *p, const char *name, const char *layers) {
    size_t n_layers = strlen(layers);

    *p = (struct pieces){.part = name, .suffix = strrchr(name, '.')};
    if (!p->suffix || p->suffix == name) return false;
    if (strcmp(p->suffix, ".weight") != 0 && strcmp(p->suffix, ".bias") != 0) return false;
    if (strncmp(name, layers, n_layers) == 0) {
        p->digits = name + n_layers;
        while (isdigit((unsigned char)p->digits[p->n_digits])) p->n_digits++;
        if (p->n_digits == 0 || p->digits[p->n_digits] != '.') return false;
        p->part = p->digits + p->n_digits + 1;
    }
    p->n_part = (int)(p->suffix - p->part);
    return p->n_part > 0;
}

static const char *translate(const struct pieces *p, bool to_ours, bool has_post_norms) {
    const struct part *parts = p->digits ? in_layer : outside;
    int n = p->digits ? N_IN_LAYER : N_OUTSIDE;
    enum which other = has_post_norms ? WITHOUT_POST_NORMS : WITH_POST_NORMS;

    for (int i = 0; i < n; i++) {
        const char *from = to_ours ? parts[i].theirs : parts[i].ours;
        if (parts[i].which == other || strlen(from) != (size_t)p->n_part) continue;
        if (memcmp(from, p->part, (size_t)p->n_part) == 0)
            return to_ours ? parts[i].ours : parts[i].theirs;
    }
    return NULL;
}

static bool rename_tensor(char to[HF_NAME_BYTES], const char *from, const char *from_layers,
                          const char *to_layers, bool to_ours, bool has_post_norms) {
    struct pieces p;
    const char *part = NULL;
    int n = -1;

    if (take_apart(&p, from, from_layers)) part = translate(&p, to_ours, has_post_norms);
    if (part && p.digits)
        n = snprintf(to, HF_NAME_BYTES, "%s%.*s.%s%s", to_layers, p.n_digits, p.digits,
                     part, p.suffix);
    if (part && !p.digits) n = snprintf(to, HF_NAME_BYTES, "%s%s", part, p.suffix);
    if (n >= 0 && n < HF_NAME_BYTES) return true;
    snprintf(to, HF_NAME_BYTES, "%s", from);
    return false;
}

bool hf_name_to(char ours[HF_NAME_BYTES], const char *theirs, bool has_post_norms) {
    return rename_tensor(ours, theirs, "model.layers.", "blk.", true, has_post_norms);
}

bool hf_name_of(char theirs[HF_NAME_BYTES], const char *ours, bool has_post_norms) {
    return rename_tensor(theirs, ours, "blk.", "model.layers.", false, has_post_norms);
}
