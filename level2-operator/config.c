// The shape of the model, key by key. A number that we would have to guess, and a feature that would
// change the answer, are refused: a model that runs wrongly is worse than one that does not run.
#include "level2-operator/config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf_value.h"

enum { KEY_BYTES = 96 };

struct reader {
    const struct gguf *g;
    const char *file;
    struct error *err;
    enum arch arch;
    int n_layers; // once known: length of an array with one item per layer
};

const char *arch_name(enum arch a) {
    static const char *const names[ARCH_COUNT] = {"llama"};
    return (unsigned)a < ARCH_COUNT ? names[a] : "unknown";
}

static enum status refuse(const struct reader *r, enum status code, const char *key,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

// "m.gguf: key llama.block_count at byte 230: what is wrong"
static enum status refuse(const struct reader *r, enum status code, const char *key,
                          const char *format, ...) {
    char what[128], place[32] = "";
    const struct gguf_value *v = gguf_find(r->g, key);
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (v) snprintf(place, sizeof(place), " at byte %zu", (size_t)(v->bytes - r->g->bytes));
    return error_set_param(r->err, code, key, "%s: key %s%s: %s", r->file, key, place,
                           what);
}

// "llama" + "block_count": most keys begin with the architecture.
static const struct gguf_value *find(const struct reader *r, char *key,
                                     const char *suffix) {
    snprintf(key, KEY_BYTES, "%s.%s", arch_name(r->arch), suffix);
    return gguf_find(r->g, key);
}

// One number, or one for each layer if all are the same.
static enum status read_number(const struct reader *r, const char *key,
                               const struct gguf_value *v, uint64_t *number) {
    struct gguf_value item;
    uint64_t other;

    if (gguf_get_u64(v, number)) return OK;
    if (!gguf_item(v, 0, &item) || !gguf_get_u64(&item, number))
        return refuse(r, ERR_FORMAT, key, "must be a whole number, not negative");
    if (v->n_items != (uint64_t)r->n_layers)
        return refuse(r, ERR_FORMAT, key, "%llu items for %d layers",
                      (unsigned long long)v->n_items, r->n_layers);
    for (uint64_t i = 1; gguf_item(v, i, &item); i++) {
        if (!gguf_get_u64(&item, &other) || other != *number)
            return refuse(r, ERR_UNSUPPORTED, key,
                          "layers that differ are not supported yet");
    }
    return OK;
}

// *out keeps its value when the key is not there; 0 says that it must be.
static enum status read_int(const struct reader *r, const char *suffix, int high,
                            int *out) {
    char key[KEY_BYTES];
    const struct gguf_value *v = find(r, key, suffix);
    uint64_t number;
    enum status st;

    if (!v && *out) return OK;
    if (!v) return refuse(r, ERR_FORMAT, key, "missing");
    if ((st = read_number(r, key, v, &number)) != OK) return st;
    if (number < 1 || number > (uint64_t)high)
        return refuse(r, ERR_FORMAT, key, "%llu is not in 1 .. %d",
                      (unsigned long long)number, high);
    *out = (int)number;
    return OK;
}

// The same for a positive real number.
static enum status read_real(const struct reader *r, const char *suffix, float *out) {
    char key[KEY_BYTES];
    const struct gguf_value *v = find(r, key, suffix);
    double number;

    if (!v && *out > 0) return OK;
    if (!v) return refuse(r, ERR_FORMAT, key, "missing");
    if (!gguf_get_f64(v, &number)) return refuse(r, ERR_FORMAT, key, "must be a number");
    *out = (float)number;
    if (!isfinite(*out) || *out <= 0)
        return refuse(r, ERR_FORMAT, key, "%g is not a positive number", number);
    return OK;
}

static enum status read_arch(struct reader *r) {
    static const char key[] = "general.architecture";
    const struct gguf_value *v = gguf_find(r->g, key);
    struct gguf_string name;

    if (!v) return refuse(r, ERR_FORMAT, key, "missing; this is not a model");
    if (!gguf_get_string(v, &name)) return refuse(r, ERR_FORMAT, key, "must be a string");
    for (int a = 0; a < ARCH_COUNT; a++) {
        const char *known = arch_name((enum arch)a);
        if (name.n_bytes != strlen(known) || memcmp(name.bytes, known, name.n_bytes) != 0)
            continue;
        r->arch = (enum arch)a;
        return OK;
    }
    return refuse(r, ERR_UNSUPPORTED, key, "%.*s is not supported, llama is",
                  name.n_bytes < 32 ? (int)name.n_bytes : 32, name.bytes);
}

static enum status read_heads(const struct reader *r, struct config *c) {
    char key[KEY_BYTES];
    enum status st = read_int(r, "attention.head_count", LIMIT_D_MODEL, &c->n_heads);
    if (st != OK) return st;

    c->n_kv_heads = c->n_heads;
    st = read_int(r, "attention.head_count_kv", c->n_heads, &c->n_kv_heads);
    if (st != OK) return st;
    find(r, key, "attention.head_count_kv");
    if (c->n_heads % c->n_kv_heads != 0)
        return refuse(r, ERR_FORMAT, key, "%d heads cannot share %d", c->n_heads,
                      c->n_kv_heads);

    if (c->d_model % c->n_heads == 0)
        c->d_head = c->d_model / c->n_heads; // else the key must say
    return read_int(r, "attention.key_length", LIMIT_D_MODEL / c->n_heads, &c->d_head);
}

// Keys that must agree with the width of a head, if they are there.
static enum status check_head_width(const struct reader *r, const struct config *c) {
    static const char *const suffixes[] = {"attention.value_length",
                                           "rope.dimension_count"};
    char key[KEY_BYTES];
    enum status st;

    find(r, key, "attention.key_length");
    if (c->d_head % 2 != 0)
        return refuse(r, ERR_FORMAT, key, "heads are %d wide, must be even", c->d_head);
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        int width = c->d_head;
        if ((st = read_int(r, suffixes[i], LIMIT_D_MODEL, &width)) != OK) return st;
        find(r, key, suffixes[i]);
        if (width != c->d_head)
            return refuse(r, ERR_UNSUPPORTED, key, "%d, but heads are %d wide", width,
                          c->d_head);
    }
    return OK;
}

static enum status read_vocab(const struct reader *r, struct config *c) {
    static const char key[] = "tokenizer.ggml.tokens";
    const struct gguf_value *tokens = gguf_find(r->g, key);

    if (tokens && tokens->type != GGUF_ARRAY)
        return refuse(r, ERR_FORMAT, key, "must be an array");
    if (tokens && (tokens->n_items < 1 || tokens->n_items > LIMIT_VOCAB))
        return refuse(r, ERR_FORMAT, key, "%llu tokens, must be 1 .. %d",
                      (unsigned long long)tokens->n_items, LIMIT_VOCAB);
    int n_tokens = tokens ? (int)tokens->n_items : 0;
    c->n_vocab = n_tokens;
    enum status st = read_int(r, "vocab_size", LIMIT_VOCAB, &c->n_vocab);
    if (st == OK && tokens && c->n_vocab != n_tokens)
        return refuse(r, ERR_FORMAT, key, "%d tokens, but the vocabulary has %d", n_tokens,
                      c->n_vocab);
    return st;
}

// A key that changes the arithmetic. Only the value that changes nothing is accepted.
static enum status refuse_unless(const struct reader *r, const char *suffix,
                                 double neutral) {
    char key[KEY_BYTES];
    const struct gguf_value *v = find(r, key, suffix);
    double number;

    if (!v || (gguf_get_f64(v, &number) && number == neutral)) return OK;
    return refuse(r, ERR_UNSUPPORTED, key, "not supported yet");
}

static enum status refuse_features(const struct reader *r) {
    char key[KEY_BYTES];
    const struct gguf_value *v = find(r, key, "rope.scaling.type");
    struct gguf_string type;
    enum status st;

    if (v && !(gguf_get_string(v, &type) &&
               ((type.n_bytes == 4 && memcmp(type.bytes, "none", 4) == 0) ||
                (type.n_bytes == 6 && memcmp(type.bytes, "linear", 6) == 0))))
        return refuse(r, ERR_UNSUPPORTED, key, "rope scaling is not supported yet");
    if ((st = refuse_unless(r, "rope.scaling.factor", 1)) != OK) return st;
    if ((st = refuse_unless(r, "rope.scale_linear", 1)) != OK) return st;
    if ((st = refuse_unless(r, "attention.sliding_window", 0)) != OK) return st;
    return refuse_unless(r, "expert_count", 0);
}

enum status config_read(struct config *c, const struct gguf *g, const char *name,
                        struct error *err) {
    struct reader r = {.g = g, .file = name, .err = err};

    *c = (struct config){.rope_base = 10000, .rope_pairing = ROPE_NEIGHBOURS};
    enum status st = read_arch(&r);
    c->arch = r.arch;
    if (st == OK) st = refuse_features(&r);
    if (st == OK) st = read_int(&r, "block_count", LIMIT_LAYERS, &c->n_layers);
    r.n_layers = c->n_layers;
    if (st == OK) st = read_int(&r, "embedding_length", LIMIT_D_MODEL, &c->d_model);
    if (st == OK) st = read_heads(&r, c);
    if (st == OK) st = check_head_width(&r, c);
    if (st == OK) st = read_int(&r, "feed_forward_length", LIMIT_D_MODEL, &c->d_ff);
    if (st == OK) st = read_vocab(&r, c);
    if (st == OK) st = read_int(&r, "context_length", LIMIT_CONTEXT, &c->n_ctx);
    if (st == OK) st = read_real(&r, "rope.freq_base", &c->rope_base);
    if (st == OK) st = read_real(&r, "attention.layer_norm_rms_epsilon", &c->norm_eps);
    return st;
}
