// The families of models that run here, and all that sets them apart. One layer serves them all:
//
//   x ─┬─────────────────────────────────────────────────────────────────▶ + ─▶ x
//      └▶ norm ▶ q k v ▶ [bias] ▶ [head norms] ▶ rope ▶ attend ▶ o ▶ [norm] ┘
//   x ─┬─────────────────────────────────────────────────────────────────▶ + ─▶ x
//      └▶ norm ▶ gate, up ▶ activation ▶ down ▶ [norm] ─────────────────────┘
//
// What stands in brackets is there or not. config takes over these traits once, with the file's
// numbers; nobody behind it asks which architecture a model is.
#ifndef LEVEL2_ARCH_H
#define LEVEL2_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level2-operator/kernels/activation.h"
#include "level2-operator/kernels/rope.h"

enum arch {
    ARCH_LLAMA, // SmolLM2, Llama 2 and 3.x, Mistral
    ARCH_QWEN2,
    ARCH_QWEN3,
    ARCH_GEMMA3,
    ARCH_COUNT
};

struct arch_traits {
    const char *name; // as general.architecture says it
    // How a GGUF file's Q and K rows are ordered. Converters reorder llama's so that neighbours turn
    // together; all others keep the order of the original, where halves do.
    enum rope_pairing gguf_pairing;
    enum activation activation;
    bool has_qkv_bias;      // Q, K and V must have one; elsewhere each matrix may
    bool has_head_norms;    // a norm over each head of Q and K, before rope
    bool has_post_norms;    // a norm over what a block adds to x
    bool norms_add_one;     // they weigh with 1 + w; a GGUF file holds the sum
    bool scales_embedding;  // by sqrt(d_model)
    bool may_have_window;   // attention.sliding_window, in every layer
    int window_period;      // it must, and of so many layers the last one reads all keys
    float window_rope_base; // of layers with a window; 0: as in the others
};

const struct arch_traits *arch_traits(enum arch a);
const char *arch_name(enum arch a);

// name is not terminated. false: not one of ours.
bool arch_find(enum arch *a, const char *name, uint64_t n_name);

// "llama, qwen2, ...", for messages.
void arch_list(char *text, size_t n_text);

#endif
