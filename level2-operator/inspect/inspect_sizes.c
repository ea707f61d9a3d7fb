// Where a model's bytes are: by type and by layer.
#include "level2-operator/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>

#include "common/limits.h"

uint64_t inspect_value_count(const struct tensor_view *view) {
    const uint64_t *dim = view->dim;
    return dim[0] * dim[1] * dim[2] * dim[3]; // the parsers: no overflow
}

static int by_bytes(const void *a, const void *b) {
    const struct inspect_type *x = a, *y = b;
    if (x->n_bytes != y->n_bytes) return x->n_bytes < y->n_bytes ? 1 : -1;
    return (int)x->dtype - (int)y->dtype;
}

int inspect_types(struct inspect_type *types, const struct gguf *g) {
    int n_types = 0;
    memset(types, 0, DTYPE_COUNT * sizeof(*types));
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct tensor_view *view = &g->tensors[i].view;
        struct inspect_type *type = &types[view->dtype];
        type->dtype = view->dtype;
        type->n_tensors++;
        type->n_values += inspect_value_count(view);
        type->n_bytes += view->n_bytes;
    }
    qsort(types, DTYPE_COUNT, sizeof(*types), by_bytes);
    while (n_types < DTYPE_COUNT && types[n_types].n_tensors > 0) n_types++;
    return n_types;
}

// "blk.7.attn_q.weight" is of layer 7, and so is "model.layers.7.mlp.up_proj.weight"; -1: of none.
static int layer_of(struct gguf_string name) {
    static const char *const fronts[] = {"blk.", "model.layers."};
    int layer = 0;

    for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++) {
        size_t at = strlen(fronts[i]), begin = at;
        if (name.n_bytes <= at || memcmp(name.bytes, fronts[i], at) != 0) continue;
        for (; at < name.n_bytes && name.bytes[at] >= '0' && name.bytes[at] <= '9'; at++)
            if (layer < LIMIT_LAYERS) layer = 10 * layer + (name.bytes[at] - '0');
        return at > begin && layer < LIMIT_LAYERS ? layer : -1;
    }
    return -1;
}

int inspect_layers(struct inspect_layer *layers, const struct gguf *g) {
    int n = 0;
    memset(layers, 0, (LIMIT_LAYERS + 1) * sizeof(*layers));
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct tensor_view *view = &g->tensors[i].view;
        struct inspect_layer *layer = &layers[1 + layer_of(g->tensors[i].name)];
        layer->n_tensors++;
        layer->n_values += inspect_value_count(view);
        layer->n_bytes += view->n_bytes;
    }
    for (int i = 0; i <= LIMIT_LAYERS; i++) {
        layers[i].layer = i - 1;
        if (layers[i].n_tensors) layers[n++] = layers[i];
    }
    return n;
}
