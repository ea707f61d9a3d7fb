// The numbers that describe a model, read once from the file's metadata and checked here, so that
// nobody later meets a zero head count or a width that does not divide.
#ifndef LEVEL2_CONFIG_H
#define LEVEL2_CONFIG_H

#include <stdbool.h>

#include "common/status.h"
#include "level2-operator/gguf.h"
#include "level2-operator/rope.h"

enum arch { ARCH_LLAMA, ARCH_COUNT };

struct config {
    enum arch arch;
    int n_layers;
    int d_model;             // width
    int n_heads, n_kv_heads; // n_heads is a multiple of n_kv_heads
    int d_head;              // even
    int d_ff;
    int n_vocab;
    int n_ctx; // positions the model was trained for
    float norm_eps;
    float rope_base;
    enum rope_pairing rope_pairing; // llama: neighbours, as GGUF permutes Q and K
};

// ERR_FORMAT names the key that is missing or wrong, ERR_UNSUPPORTED an architecture or a feature
// (rope scaling, experts, per-layer heads that differ) not built here.
enum status config_read(struct config *c, const struct gguf *g, const char *name,
                        struct error *err);

const char *arch_name(enum arch a);

#endif
