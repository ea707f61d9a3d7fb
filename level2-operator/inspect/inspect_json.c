// The document of `inspect --json`. Strings are repaired to valid UTF-8; what JSON has no number for
// (NaN, infinity) is null.
#include "level2-operator/inspect/inspect.h"

#include <math.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_place.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/text/json_output.h"

enum { SHOWN_ITEMS = 8 }; // of an array

struct writer {
    bool failed;
};

// Takes the value over. NULL says that memory ended.
static void put(struct writer *w, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) w->failed = true;
}

static void append(struct writer *w, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) w->failed = true;
}

static json_t *text_json(struct gguf_string s) {
    return json_output_text(s.bytes, (size_t)s.n_bytes);
}

static json_t *count_json(uint64_t n) {
    return n <= INT64_MAX ? json_integer((json_int_t)n) : json_real((double)n);
}

static json_t *scalar_json(const struct gguf_value *v) {
    struct gguf_string s;
    uint64_t u64;
    double f64;
    bool b;

    if (gguf_get_string(v, &s)) return text_json(s);
    if (gguf_get_bool(v, &b)) return json_boolean(b);
    if (gguf_get_u64(v, &u64)) return count_json(u64);
    if (!gguf_get_f64(v, &f64) || !isfinite(f64)) return json_null();
    if (v->type == GGUF_F32 || v->type == GGUF_F64) return json_real(f64);
    return json_integer((json_int_t)f64); // below zero; beyond 2^53 digits are lost
}

static json_t *items_json(struct writer *w, const struct gguf_value *array) {
    json_t *items = json_array();
    struct gguf_value item;
    struct gguf_string s;
    uint64_t pos = 0;

    for (uint64_t i = 0; i < array->n_items && i < SHOWN_ITEMS; i++) {
        if (gguf_next_string(array, &pos, &s)) {
            append(w, items, text_json(s));
        } else if (gguf_item(array, i, &item)) {
            append(w, items, scalar_json(&item));
        }
    }
    return items;
}

static json_t *key_json(struct writer *w, const struct gguf_key *key) {
    json_t *object = json_object();
    put(w, object, "key", text_json(key->name));
    put(w, object, "type", json_string(gguf_type_name(key->value.type)));
    if (key->value.type != GGUF_ARRAY) {
        put(w, object, "value", scalar_json(&key->value));
        return object;
    }
    put(w, object, "item_type", json_string(gguf_type_name(key->value.item_type)));
    put(w, object, "n_items", count_json(key->value.n_items));
    put(w, object, "first_items", items_json(w, &key->value));
    return object;
}

static json_t *tensor_json(struct writer *w, const struct gguf *g,
                           const struct gguf_tensor *t) {
    json_t *object = json_object(), *dims = json_array();
    for (int i = 0; i < t->view.n_dims; i++) append(w, dims, count_json(t->view.dim[i]));
    put(w, object, "name", text_json(gguf_tensor_name(t)));
    if (g->parts) put(w, object, "file", json_string(g->parts[t->part].name));
    put(w, object, "type", json_string(dtype_info(t->view.dtype)->name));
    put(w, object, "dims", dims);
    put(w, object, "at_byte", count_json(gguf_tensor_at(g, t)));
    put(w, object, "n_bytes", count_json(t->view.n_bytes));
    return object;
}

static json_t *types_json(struct writer *w, const struct gguf *g, uint64_t *n_values) {
    struct inspect_type types[DTYPE_COUNT];
    int n_types = inspect_types(types, g);
    json_t *array = json_array();

    *n_values = 0;
    for (int i = 0; i < n_types; i++) {
        json_t *object = json_object();
        put(w, object, "type", json_string(dtype_info(types[i].dtype)->name));
        put(w, object, "n_tensors", count_json(types[i].n_tensors));
        put(w, object, "n_parameters", count_json(types[i].n_values));
        put(w, object, "n_bytes", count_json(types[i].n_bytes));
        append(w, array, object);
        *n_values += types[i].n_values;
    }
    return array;
}

static json_t *layers_json(struct writer *w, const struct gguf *g) {
    struct inspect_layer layers[LIMIT_LAYERS + 1];
    int n_layers = inspect_layers(layers, g);
    json_t *array = json_array();

    for (int i = 0; i < n_layers; i++) {
        json_t *object = json_object();
        put(w, object, "layer",
            layers[i].layer < 0 ? json_null() : json_integer(layers[i].layer));
        put(w, object, "n_tensors", count_json(layers[i].n_tensors));
        put(w, object, "n_parameters", count_json(layers[i].n_values));
        put(w, object, "n_bytes", count_json(layers[i].n_bytes));
        append(w, array, object);
    }
    return array;
}

static json_t *real_json(double x) {
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *inspect_tensor_json(const struct gguf *g, const struct gguf_tensor *t, float *row) {
    struct writer w = {.failed = false};
    json_t *object = tensor_json(&w, g, t), *bins = json_array();
    struct inspect_values v;

    inspect_values(&v, t, row);
    for (int i = 0; v.has_bins && i < INSPECT_BINS; i++)
        append(&w, bins, count_json(v.bins[i]));
    put(&w, object, "n_values", count_json(v.n_values));
    put(&w, object, "n_not_finite", count_json(v.n_odd));
    put(&w, object, "low", real_json((double)v.low));
    put(&w, object, "high", real_json((double)v.high));
    put(&w, object, "mean", real_json(v.mean));
    put(&w, object, "rms", real_json(v.rms));
    put(&w, object, "histogram", bins);
    if (!w.failed) return object;
    json_decref(object);
    return NULL;
}

json_t *inspect_tokens_json(const struct tokenizer_facts *facts) {
    struct writer w = {.failed = false};
    json_t *array = json_array();

    for (int id = 0; id < facts->n_vocab; id++) {
        const struct token_fact *token = &facts->tokens[id];
        json_t *object = json_object();
        put(&w, object, "id", json_integer(id));
        put(&w, object, "kind", json_string(inspect_kind_name(token->kind)));
        put(&w, object, "text", json_output_text(token->bytes, token->n_bytes));
        if (facts->family == FAMILY_SPM)
            put(&w, object, "score", real_json((double)token->score));
        append(&w, array, object);
    }
    if (!w.failed) return array;
    json_decref(array);
    return NULL;
}

json_t *inspect_json(const struct inspected *in) {
    struct writer w = {.failed = false};
    const struct gguf *g = in->gguf;
    json_t *root = json_object(), *metadata = json_array(), *tensors = json_array();
    uint64_t n_values;

    json_t *types = types_json(&w, g, &n_values);
    for (uint64_t i = 0; i < g->n_keys; i++)
        append(&w, metadata, key_json(&w, &g->keys[i]));
    for (uint64_t i = 0; i < g->n_tensors; i++)
        append(&w, tensors, tensor_json(&w, g, &g->tensors[i]));

    put(&w, root, "file", text_json((struct gguf_string){in->file, strlen(in->file)}));
    put(&w, root, "n_bytes", count_json(in->n_bytes));
    put(&w, root, "format", json_string(g->version ? "gguf" : "safetensors"));
    put(&w, root, "version", json_integer(g->version));
    put(&w, root, "alignment", json_integer(g->alignment));
    const struct gguf_value *arch = gguf_find(g, "general.architecture");
    put(&w, root, "architecture", arch ? scalar_json(arch) : json_null());
    put(&w, root, "n_parameters", count_json(n_values));
    put(&w, root, "types", types);
    put(&w, root, "layers", layers_json(&w, g));
    put(&w, root, "metadata", metadata);
    put(&w, root, "tensors", tensors);
    if (!w.failed) return root;
    json_decref(root);
    return NULL;
}
