// What each architecture asks for beyond llama, written by hand from the names in llama.cpp's
// gguf-py/gguf/constants.py.
#include "tests/support/arch_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TINY_LAYERS = 3, D_MODEL = 64, N_HEADS = 4, N_KV_HEADS = 2, D_HEAD = 16 };

const char *layer_name(char buffer[64], int layer, const char *part) {
    snprintf(buffer, 64, "blk.%d.%s", layer, part);
    return buffer;
}

void file_draw_tensor(struct gguf_file *f, const char *name, int n_out, int n_in, float low,
                      float high, struct draw *d) {
    struct file_tensor *t = file_tensor(f, name);
    if (!t) t = file_add_tensor(f, name);
    bytes_free(&t->data);
    t->type = 0; // F32
    t->n_dims = n_out == 1 ? 1 : 2;
    t->dim[0] = (uint64_t)n_in;
    t->dim[1] = (uint64_t)n_out;
    size_t n = (size_t)n_out * (size_t)n_in;
    float *values = malloc(n * sizeof(*values));
    ck_assert(values != NULL);
    for (size_t i = 0; i < n; i++) values[i] = draw_float(d, low, high);
    put_raw(&t->data, values,
            n * sizeof(*values)); // machines that we run on are little-endian
    free(values);
}

static void rename_keys(struct gguf_file *f, const char *to) {
    static const char from[] = "llama.";
    for (size_t i = 0; i < f->n_keys; i++) {
        char *old = f->keys[i].name, *name;
        if (strncmp(old, from, strlen(from)) != 0) continue;
        size_t n = strlen(to) + strlen(old) + 2;
        name = malloc(n);
        ck_assert(name != NULL);
        snprintf(name, n, "%s.%s", to, old + strlen(from));
        f->keys[i].name = name;
        free(old);
    }
    file_set_string(f, "general.architecture", to);
}

// Layer l from 3 on is a copy of layer l % 3.
static void add_layers(struct gguf_file *f, int n_layers) {
    size_t n_old = f->n_tensors;
    char name[64];
    for (int l = TINY_LAYERS; l < n_layers; l++) {
        for (size_t i = 0; i < n_old; i++) {
            int layer, n_prefix = 0;
            if (sscanf(f->tensors[i].name, "blk.%d.%n", &layer, &n_prefix) != 1) continue;
            if (n_prefix == 0 || layer != l % TINY_LAYERS) continue;
            layer_name(name, l, f->tensors[i].name + n_prefix);
            char from[64];
            snprintf(from, sizeof(from), "%s", f->tensors[i].name);
            file_copy_tensor(f, from, name);
        }
    }
}

static void add_vector(struct gguf_file *f, int n_layers, const char *part, int n,
                       float low, float high, struct draw *d) {
    char name[64];
    for (int l = 0; l < n_layers; l++)
        file_draw_tensor(f, layer_name(name, l, part), 1, n, low, high, d);
}

static void become_qwen2(struct gguf_file *f, struct draw *d) {
    add_vector(f, TINY_LAYERS, "attn_q.bias", N_HEADS * D_HEAD, -1, 1, d);
    add_vector(f, TINY_LAYERS, "attn_k.bias", N_KV_HEADS * D_HEAD, -1, 1, d);
    add_vector(f, TINY_LAYERS, "attn_v.bias", N_KV_HEADS * D_HEAD, -1, 1, d);
}

static void become_qwen3(struct gguf_file *f, struct draw *d) {
    const int d_q = N_HEADS * WIDE_HEAD, d_kv = N_KV_HEADS * WIDE_HEAD;
    char name[64];

    file_set_u32(f, "qwen3.attention.key_length", WIDE_HEAD);
    file_set_u32(f, "qwen3.attention.value_length", WIDE_HEAD);
    file_set_u32(f, "qwen3.rope.dimension_count", WIDE_HEAD);
    for (int l = 0; l < TINY_LAYERS; l++) {
        const float a = 0.3f;
        file_draw_tensor(f, layer_name(name, l, "attn_q.weight"), d_q, D_MODEL, -a, a, d);
        file_draw_tensor(f, layer_name(name, l, "attn_k.weight"), d_kv, D_MODEL, -a, a, d);
        file_draw_tensor(f, layer_name(name, l, "attn_v.weight"), d_kv, D_MODEL, -a, a, d);
        file_draw_tensor(f, layer_name(name, l, "attn_output.weight"), D_MODEL, d_q, -a, a,
                         d);
    }
    add_vector(f, TINY_LAYERS, "attn_q_norm.weight", WIDE_HEAD, 0.5f, 1.5f, d);
    add_vector(f, TINY_LAYERS, "attn_k_norm.weight", WIDE_HEAD, 0.5f, 1.5f, d);
}

static void become_gemma3(struct gguf_file *f, struct draw *d) {
    add_layers(f, GEMMA_LAYERS);
    file_set_u32(f, "gemma3.block_count", GEMMA_LAYERS);
    file_set_u32(f, "gemma3.attention.sliding_window", GEMMA_WINDOW);
    file_set_f32(f, "gemma3.rope.freq_base", 1e6f);
    add_vector(f, GEMMA_LAYERS, "attn_q_norm.weight", D_HEAD, 0.5f, 1.5f, d);
    add_vector(f, GEMMA_LAYERS, "attn_k_norm.weight", D_HEAD, 0.5f, 1.5f, d);
    add_vector(f, GEMMA_LAYERS, "post_attention_norm.weight", D_MODEL, 0.5f, 1.5f, d);
    add_vector(f, GEMMA_LAYERS, "post_ffw_norm.weight", D_MODEL, 0.5f, 1.5f, d);
}

void file_become(struct gguf_file *f, enum arch arch, struct draw *d) {
    if (arch == ARCH_LLAMA) return;
    rename_keys(f, arch_traits(arch)->name);
    if (arch == ARCH_QWEN2) become_qwen2(f, d);
    if (arch == ARCH_QWEN3) become_qwen3(f, d);
    if (arch == ARCH_GEMMA3) become_gemma3(f, d);
}

enum status file_config(const struct gguf_file *f, struct config *c, struct error *err) {
    struct bytes b = file_bytes(f);
    struct arena arena;
    struct gguf g;

    arena_init(&arena, 1 << 20);
    enum status st = gguf_parse(&g, b.data, b.n, "test.gguf", &arena, err);
    ck_assert_msg(st == OK, "%s", err->text);
    st = config_read(c, &g, "test.gguf", err);
    arena_free(&arena);
    bytes_free(&b);
    return st;
}
