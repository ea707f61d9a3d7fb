// The numbers that describe a model, read once from the file's metadata and checked here, so that
// nobody later meets a zero head count or a width that does not divide. What sets an architecture
// apart (arch.h) is a flag or a number here, too.
#ifndef LEVEL2_CONFIG_H
#define LEVEL2_CONFIG_H

#include <stdbool.h>

#include "common/status.h"
#include "level2-operator/gguf/arch.h"
#include "level2-operator/gguf/gguf.h"
#include "level2-operator/kernels/rope_stretch.h"

struct config {
    enum arch arch;
    int n_layers;
    int d_model;             // width
    int n_heads, n_kv_heads; // n_heads is a multiple of n_kv_heads
    int d_head;              // even; n_heads * d_head need not be d_model
    int d_ff;
    int n_vocab;
    int n_ctx; // positions the model was trained for
    float norm_eps;

    // positions
    enum rope_pairing rope_pairing;
    float rope_base;
    struct rope_stretch rope_stretch; // not of layers with a rope base of their own

    // windows: a layer that has one reads only its last `window` keys, the row's own among them
    int window;        // 0: no layer has one
    int window_period; // the last of so many layers reads all keys; 0: all have the window
    float window_rope_base; // of layers that have one; 0: as in all layers

    // arithmetic
    enum activation activation;
    bool has_qkv_bias, has_head_norms, has_post_norms;
    float norm_offset;     // to be added to every norm of the file
    float embedding_scale; // of a token's row; 1: as it is
    float attention_scale; // score = q . k times this
};

// ERR_FORMAT names the key that is missing or wrong, ERR_UNSUPPORTED an architecture or a feature
// (another rope scaling, experts, layers that differ in shape) not built here.
enum status config_read(struct config *c, const struct gguf *g, const char *name,
                        struct error *err);

// The first key that a row at this position reads in a layer.
int config_first_key(const struct config *c, int layer, int position);
bool config_has_window(const struct config *c, int layer);

#endif
