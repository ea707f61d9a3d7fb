// Published shapes of models, data/models.json: what a model's memory is made of. data/README.md says
// what its fields mean.
#ifndef LEVEL2_MODEL_TABLE_H
#define LEVEL2_MODEL_TABLE_H

#include "common/data_table.h"

// All texts are UTF-8 without control characters, "" where the file has none. Numbers are 0 where the
// file has none.
struct model_entry {
    const char *name; // "llama-3-8b"
    const char *listed_as, *tag, *source, *notes;
    int64_t params;        // all; by model_entry_params where the file has none
    int64_t active_params; // that one token meets; the same as params without experts
    int64_t layers, d_model, heads, kv_heads, d_head, d_ff; // d_ff: of one expert
    int64_t experts, experts_per_token, shared_experts, dense_layers, d_ff_dense;
    int64_t vocab, context;
    int64_t window, windowed_layers;
    bool tied, qkv_bias, qk_norm;
    int64_t norms_per_layer, ffn_matrices;
    int64_t q_rank, kv_rank, rope_dim, nope_dim, v_dim; // latent attention (MLA)
};

extern const struct data_table_kind model_table; // rows are struct model_entry

// NULL: there is none. A name is matched as it is.
const struct model_entry *model_table_find(const struct data_table *t, const char *name);

// Counted from the shape:
//   a layer    attention, feed-forward, norms_per_layer * d_model
//   attention  2 d_model heads d_head + 2 d_model kv_heads d_head, biases of Q, K, V, norms of heads
//     MLA      d_model q_rank + q_rank heads (nope + rope) + d_model (kv_rank + rope)
//              + kv_rank heads (nope + v) + heads v d_model + q_rank + kv_rank
//   feed-fwd   ffn_matrices d_model d_ff; with experts: (experts + shared) times that, and the router,
//              experts * d_model; dense_layers have d_ff_dense in place of experts
//   besides    a last norm; vocab * d_model once if tied, else twice
int64_t model_entry_params(const struct model_entry *e);

#endif
