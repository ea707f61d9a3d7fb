// A loaded model: the mapped files, their tables, and every matrix found, named and checked once.
// Nothing is copied but vectors (norms, biases); matrices stay views into the mapping until ops
// prepare them.
#ifndef LEVEL2_MODEL_H
#define LEVEL2_MODEL_H

#include "common/arena.h"
#include "common/limits.h"
#include "common/status.h"
#include "level2-operator/files/model_file.h"
#include "level2-operator/gguf/gguf.h"
#include "level2-operator/kernels/weight.h"
#include "level2-operator/model/config.h"
#include "level2-operator/model/sampling_defaults.h"
#include "level2-operator/template/chat.h"
#include "level2-operator/tokenizer/tokenizer.h"

// A norm that may be NULL is NULL in all layers or in none, as the config says.
struct layer {
    const float *attn_norm; // (d_model)
    struct weight q;        // (n_heads * d_head, d_model)
    struct weight k, v;     // (n_kv_heads * d_head, d_model)
    const float *q_norm;    // (d_head), for each head alone; NULL: none
    const float *k_norm;    // the same
    const float *rope_freq; // (d_head / 2): see rope.h; layers with a window have their own
    struct weight o;        // (d_model, n_heads * d_head)
    const float *attn_post_norm; // (d_model), of what is added to x; NULL: none
    const float *ffn_norm;       // (d_model)
    struct weight gate, up;      // (d_ff, d_model)
    struct weight down;          // (d_model, d_ff)
    const float *ffn_post_norm;  // (d_model); NULL: none
};

struct model {
    // owned
    struct arena arena; // tables, vectors, tokenizer, packed weights
    struct model_file file;
    // views into the file and the arena
    struct gguf gguf;
    struct config config;
    struct tokenizer tokenizer;
    struct chat_template chat; // is_there false: a base model
    struct weight token_embd;  // (n_vocab, d_model)
    struct layer *layers;      // (n_layers)
    const float *output_norm;  // (d_model)
    struct weight output;      // (n_vocab, d_model); tied: the same view as token_embd
    bool is_tied;
    struct sampling_defaults sampling; // in force where a request does not say
    char name[LIMIT_MODEL_ID_BYTES];   // general.name, or the file's name
};

struct model_options {
    const char *pre;    // see tokenizer_gguf.h; NULL: the file's
    const char *chat;   // see chat_template_read; NULL: the file's
    bool api_sampling;  // the file's sampling defaults are passed over
    size_t arena_limit; // bytes; 0: what the size of the files justifies
    long fail_at;       // tests: the allocation that fails first, counted from 1; 0: none
};

// path: a GGUF file, the first part of a split one, or a folder with safetensors (model_file.h). options
// may be NULL. On failure *m is closed; err names file, field and (for format errors) offset.
enum status model_open(struct model *m, const char *path,
                       const struct model_options *options, struct error *err);

// The same from the bytes of one GGUF file already in memory, which must outlive the model: tests and
// fuzzers.
enum status model_parse(struct model *m, const unsigned char *bytes, size_t n_bytes,
                        const char *name, const struct model_options *options,
                        struct error *err);

// Safe on a zeroed or closed model.
void model_close(struct model *m);

#endif
