// The table of architectures. Each row was read off the family's published code and papers:
//
//   llama    Touvron et al. 2023, arXiv:2302.13971; row order: llama.cpp, conversion/llama.py, permute
//   qwen2    Yang et al. 2024, arXiv:2407.10671, section 2.2.1
//   qwen3    Yang et al. 2025, arXiv:2505.09388, section 2; transformers, modeling_qwen3.py
//   gemma3   Gemma team 2025, arXiv:2503.19786, section 2; transformers, modeling_gemma3.py. Its norms
//            weigh with 1 + w, and a GGUF file holds the sum (llama.cpp, conversion/gemma.py)
#include "level2-operator/gguf/arch.h"

#include <stdio.h>
#include <string.h>

static const struct arch_traits llama = {
    .name = "llama",
    .gguf_pairing = ROPE_NEIGHBOURS,
    .may_have_window = true, // Mistral 7B: Jiang et al. 2023, arXiv:2310.06825
};
static const struct arch_traits qwen2 = {
    .name = "qwen2",
    .gguf_pairing = ROPE_HALVES,
    .has_qkv_bias = true,
};
static const struct arch_traits qwen3 = {
    .name = "qwen3",
    .gguf_pairing = ROPE_HALVES,
    .has_head_norms = true,
};
static const struct arch_traits gemma3 = {
    .name = "gemma3",
    .gguf_pairing = ROPE_HALVES,
    .activation = ACTIVATION_GELU_TANH,
    .has_head_norms = true,
    .has_post_norms = true,
    .norms_add_one = true,
    .scales_embedding = true,
    .may_have_window = true,
    .window_period = 6,
    .window_rope_base = 10000,
};
static const struct arch_traits *const table[ARCH_COUNT] = {&llama, &qwen2, &qwen3,
                                                            &gemma3};

const struct arch_traits *arch_traits(enum arch a) {
    return table[a];
}

const char *arch_name(enum arch a) {
    return table[a]->name;
}

bool arch_find(enum arch *a, const char *name, uint64_t n_name) {
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (n_name != strlen(table[i]->name) || memcmp(name, table[i]->name, n_name) != 0)
            continue;
        *a = (enum arch)i;
        return true;
    }
    return false;
}

void arch_list(char *text, size_t n_text) {
    size_t n = 0;
    for (int i = 0; i < ARCH_COUNT && n < n_text; i++)
        n += (size_t)snprintf(text + n, n_text - n, "%s%s", i ? ", " : "", table[i]->name);
}
