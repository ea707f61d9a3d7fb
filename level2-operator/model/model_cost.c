// Norms and biases are left out: 35 thousand floats beside 135 million weights. Layers with a window
// count as if they read all keys: right up to the window, too much beyond it.
#include "level2-operator/model/model_cost.h"

static double n_weights(const struct weight *w) {
    return (double)w->n_out * w->n_in;
}

static double n_bytes(const struct weight *w) {
    return (double)w->n_out * (double)w->row_bytes;
}

struct cost_model model_cost(const struct model *m, enum dtype kv) {
    const struct config *c = &m->config;
    const struct dtype_info *kv_info = dtype_info(kv);
    double n_layer_weights = 0, layer_bytes = 0;

    for (int i = 0; i < c->n_layers; i++) {
        const struct layer *l = &m->layers[i];
        const struct weight *all[] = {&l->q,    &l->k,  &l->v,   &l->o,
                                      &l->gate, &l->up, &l->down};
        for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
            n_layer_weights += n_weights(all[k]);
            layer_bytes += n_bytes(all[k]);
        }
    }
    return (struct cost_model){
        .layer_weights = n_layer_weights,
        .head_weights = n_weights(&m->output),
        .kv_values = 2.0 * c->n_layers * c->n_kv_heads * c->d_head,
        .bytes_per_weight = layer_bytes / n_layer_weights,
        .bytes_per_head_weight = n_bytes(&m->output) / n_weights(&m->output),
        .bytes_per_kv_value = (double)kv_info->block_bytes / kv_info->block_len,
        .ops_per_row_key = 4.0 * c->n_layers * c->n_heads * c->d_head,
    };
}
