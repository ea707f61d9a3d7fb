// What is in a model file, for people and for programs. Strings of the file are shown escaped or
// repaired: none of its bytes reaches a terminal as a command.
#ifndef LEVEL2_INSPECT_H
#define LEVEL2_INSPECT_H

#include <jansson.h>
#include <stdio.h>

#include "level2-operator/gguf/gguf.h"
#include "level2-operator/model/config.h"
#include "level2-operator/tokenizer/tokenizer_facts.h"

struct inspected {
    const char *file; // path
    uint64_t n_bytes;
    const struct gguf *gguf;
};

// Values stored as one type.
struct inspect_type {
    enum dtype dtype;
    uint64_t n_tensors, n_values, n_bytes;
};

// The types that occur, most bytes first; types is (DTYPE_COUNT). Returns how many.
int inspect_types(struct inspect_type *types, const struct gguf *g);

// Tensors of one layer; layer -1: those of none.
struct inspect_layer {
    int layer;
    uint64_t n_tensors, n_values, n_bytes;
};

// The layers that occur, by number; layers is (LIMIT_LAYERS + 1). Returns how many.
int inspect_layers(struct inspect_layer *layers, const struct gguf *g);

uint64_t inspect_value_count(const struct tensor_view *view);

// Tables for people.
void inspect_print_summary(FILE *out, const struct inspected *in);
// whole: no string is cut
void inspect_print_metadata(FILE *out, const struct gguf *g, bool whole);
void inspect_print_tensors(FILE *out, const struct gguf *g);
void inspect_print_tokens(FILE *out, const struct tokenizer_facts *facts);

// The values of one tensor, in numbers.
enum { INSPECT_BINS = 16 };
struct inspect_values {
    uint64_t n_values, n_odd; // n_odd: not finite
    float low, high;
    double mean, rms;
    bool has_bins;               // not if values are not finite, or all alike
    uint64_t bins[INSPECT_BINS]; // values in each of equal parts of low .. high
};

// The tensor has values; row is (dim[0]).
void inspect_values(struct inspect_values *v, const struct gguf_tensor *t, float *row);

// Type, shape, the numbers above and first values.
void inspect_print_tensor(FILE *out, const struct gguf_tensor *t, float *row);

// One document: {"file", "n_bytes", "format", "version", "alignment", "architecture", "n_parameters",
// "types", "layers", "metadata", "tensors"}. Arrays show their first items only. NULL: no memory.
json_t *inspect_json(const struct inspected *in);

// {"name", "type", "dims", "n_bytes", "n_values", "n_not_finite", "low", "high", "mean", "rms",
// "histogram"}: what is no number is null. NULL: no memory.
json_t *inspect_tensor_json(const struct gguf *g, const struct gguf_tensor *t, float *row);

// [{"id", "kind", "text"}, ...], with "score" if tokens have one. NULL: no memory.
json_t *inspect_tokens_json(const struct tokenizer_facts *facts);

// {"file", "ok": true, "architecture", "n_layers", "d_model", "n_vocab", "n_ctx", "no_chat"}: a model that
// runs. no_chat: why it cannot chat; NULL, and null there: it can. NULL: no memory.
json_t *inspect_check_json(const char *file, const struct config *c, const char *no_chat);

// {"file", "ok": true, "format": "safetensors", "n_tensors"}: one file of a folder. NULL: no memory.
json_t *inspect_lone_json(const char *file, const struct gguf *g);

const char *inspect_kind_name(enum token_kind kind);

// The values of a tensor as f32, in file order. row is (dim[0]). false: out refuses.
bool inspect_write_values(FILE *out, const struct gguf_tensor *t, float *row);

#endif
