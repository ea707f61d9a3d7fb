// One file after the other: first the JSON that says what to expect, then the weights, then the tables
// are put together.
#include "level2-operator/files/hf_folder.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/files/hf_config.h"
#include "level2-operator/files/hf_json.h"
#include "level2-operator/files/hf_template.h"
#include "level2-operator/files/safetensors.h"
#include "level2-operator/files/safetensors_index.h"
#include "level2-operator/files/tokenizer_json.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/gguf/hf_names.h"

struct folder {
    struct model_file *f;
    const char *path;
    struct error *err;
    // owned
    json_t *config, *generation, *tokenizer, *tokenizer_config, *index;
    // views into the arena
    struct safetensors_index files;
    struct safetensors *weights; // (n_files)
    struct key_list keys;
    struct hf_config facts;
};

static const char *shown(const struct folder *o) {
    return error_path(o->path);
}

static enum status no_memory(const struct folder *o) {
    return error_set(o->err, ERR_MEMORY, "%s: no memory for its tables", shown(o));
}

// ---- JSON ---------------------------------------------------------------------------------------

static enum status open_json(struct folder *o) {
    // clang-format off
    const struct {
        json_t **root;
        const char *name;
        bool is_needed;
        size_t max_bytes, max_values;
    } files[] = {
        {&o->config,           "config.json",                  true,  LIMIT_HF_JSON_BYTES,      LIMIT_JSON_VALUES},
        {&o->generation,       "generation_config.json",       false, LIMIT_HF_JSON_BYTES,      LIMIT_JSON_VALUES},
        {&o->tokenizer_config, "tokenizer_config.json",        false, LIMIT_HF_INDEX_BYTES,     LIMIT_JSON_VALUES},
        {&o->tokenizer,        "tokenizer.json",               true,  LIMIT_HF_TOKENIZER_BYTES, LIMIT_HF_TOKENIZER_VALUES},
        {&o->index,            "model.safetensors.index.json", false, LIMIT_HF_INDEX_BYTES,     LIMIT_JSON_VALUES},
    };
    // clang-format on
    enum status st = OK;
    for (size_t i = 0; st == OK && i < sizeof(files) / sizeof(files[0]); i++)
        st = hf_json_open(files[i].root, o->path, files[i].name, files[i].max_bytes,
                          files[i].max_values, files[i].is_needed, o->err);
    return st;
}

static void close_json(struct folder *o) {
    json_decref(o->config);
    json_decref(o->generation);
    json_decref(o->tokenizer);
    json_decref(o->tokenizer_config);
    json_decref(o->index);
}

// ---- weights ------------------------------------------------------------------------------------

static enum status list_files(struct folder *o) {
    static const char *only[] = {"model.safetensors"};
    char file[LIMIT_PATH_BYTES];

    o->files = (struct safetensors_index){.files = only, .n_files = 1};
    if (!o->index) return OK;
    snprintf(file, sizeof(file), "%s/model.safetensors.index.json", shown(o));
    return safetensors_index_read(&o->files, o->index, file, o->f->arena, o->err);
}

// Each tensor is where the index says, and the index names no other.
static enum status check_index(const struct folder *o) {
    uint64_t n_tensors = 0;
    for (int i = 0; o->index && i < o->files.n_files; i++) {
        const struct safetensors *s = &o->weights[i];
        for (uint64_t j = 0; j < s->n_tensors; j++) {
            const char *name = s->tensors[j].name;
            uint32_t file;
            bool is_named = table_get(&o->files.file_of, name, strlen(name), &file);
            if (is_named && file == (uint32_t)i) continue;
            return error_set_param(o->err, ERR_FORMAT, "weight_map",
                                   "%s/%s: tensor %.64s: the index has it in another file; "
                                   "are the files of one model?",
                                   shown(o), o->files.files[i], name);
        }
        n_tensors += s->n_tensors;
    }
    if (!o->index || n_tensors == o->files.file_of.n_entries) return OK;
    return error_set_param(o->err, ERR_FORMAT, "weight_map",
                           "%s: its index names %zu tensors, but the files hold %llu",
                           shown(o), o->files.file_of.n_entries,
                           (unsigned long long)n_tensors);
}

static enum status open_weights(struct folder *o) {
    struct model_file *f = o->f;
    int n = o->files.n_files;
    char path[LIMIT_PATH_BYTES];
    struct gguf_part *parts = ARENA_NEW(f->arena, struct gguf_part, n);
    o->weights = ARENA_NEW(f->arena, struct safetensors, n);
    enum status st = model_file_reserve(f, n, o->path, o->err);

    if (!parts || !o->weights || st != OK) return no_memory(o);
    for (int i = 0; i < n; i++) {
        if ((st = hf_path(path, o->path, o->files.files[i], o->err)) != OK) return st;
        if ((st = model_file_map(f, path, o->err)) != OK) return st;
        const char *copy = arena_copy(f->arena, path, strlen(path));
        if (!copy) return no_memory(o);
        const struct mapped_file *map = &f->maps[i];
        parts[i] = (struct gguf_part){error_path(copy), map->bytes};
        st = safetensors_parse(&o->weights[i], map->bytes, map->n_bytes, parts[i].name,
                               f->arena, o->err);
        if (st != OK) return st;
    }
    f->gguf.parts = parts;
    f->gguf.n_parts = (uint32_t)n;
    return check_index(o);
}

// ---- tensors ------------------------------------------------------------------------------------

// A tied output that is stored all the same is the embedding once more, and old folders hold tables that
// follow from the config.
static bool is_needless(const struct folder *o, const char *name) {
    static const char table[] = ".rotary_emb.inv_freq";
    size_t n = strlen(name), n_table = sizeof(table) - 1;
    if (n > n_table && strcmp(name + n - n_table, table) == 0) return true;
    return o->facts.tie == HF_TIED && strcmp(name, "lm_head.weight") == 0;
}

static enum status add_tensor(struct folder *o, const struct safetensors_tensor *from,
                              uint32_t part) {
    struct gguf *g = &o->f->gguf;
    char name[HF_NAME_BYTES];

    if (is_needless(o, from->name)) return OK;
    hf_name_to(name, from->name, arch_traits(o->facts.arch)->has_post_norms);
    const char *copy = arena_copy(o->f->arena, name, strlen(name));
    if (!copy) return no_memory(o);
    g->tensors[g->n_tensors] = (struct gguf_tensor){
        .name = {copy, strlen(copy)},
        .offset = from->begin,
        .view = from->view,
        .part = part,
        .spelled = from->name
    };
    if (!table_put(&g->tensor_table, copy, strlen(copy), (uint32_t)g->n_tensors))
        return error_set_param(o->err, ERR_FORMAT, from->name,
                               "%s: tensor %.64s: is there twice", g->parts[part].name,
                               from->name);
    g->n_tensors++;
    return OK;
}

static enum status add_tensors(struct folder *o) {
    struct gguf *g = &o->f->gguf;
    uint64_t n = 0;
    enum status st = OK;

    for (int i = 0; i < o->files.n_files; i++) n += o->weights[i].n_tensors;
    if (n > LIMIT_GGUF_TENSORS)
        return error_set(o->err, ERR_LIMIT, "%s: more than %d tensors", shown(o),
                         LIMIT_GGUF_TENSORS);
    g->tensors = ARENA_NEW(o->f->arena, struct gguf_tensor, n);
    if (!g->tensors || table_init(&g->tensor_table, o->f->arena, (size_t)n, NULL) != OK)
        return no_memory(o);
    for (int i = 0; i < o->files.n_files; i++)
        for (uint64_t j = 0; st == OK && j < o->weights[i].n_tensors; j++)
            st = add_tensor(o, &o->weights[i].tensors[j], (uint32_t)i);
    return st;
}

// Asked before the vocabulary is laid out: its size must be one that the weights justify.
static enum status check_vocab(const struct folder *o) {
    const struct gguf_tensor *t = gguf_find_tensor(&o->f->gguf, "token_embd.weight");
    char file[LIMIT_PATH_BYTES];

    snprintf(file, sizeof(file), "%s/config.json", shown(o));
    if (!t)
        return error_set_param(o->err, ERR_FORMAT, "model.embed_tokens.weight",
                               "%s: tensor model.embed_tokens.weight: missing", shown(o));
    if (t->view.dim[1] != (uint64_t)o->facts.n_vocab)
        return hf_json_refuse(o->err, ERR_FORMAT, file, "vocab_size",
                              "%d, but %s has %llu rows", o->facts.n_vocab, t->spelled,
                              (unsigned long long)t->view.dim[1]);
    if (o->facts.tie == HF_UNTIED && !gguf_find_tensor(&o->f->gguf, "output.weight"))
        return error_set_param(o->err, ERR_FORMAT, "lm_head.weight",
                               "%s: tensor lm_head.weight: missing, and config.json: "
                               "tie_word_embeddings is false",
                               shown(o));
    return OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static enum status read_folder(struct folder *o) {
    key_list_init(&o->keys, HF_FOLDER_KEYS, o->f->arena);
    enum status st = open_json(o);
    if (st == OK)
        st =
            hf_config_read(&o->facts, &o->keys, o->config, o->generation, shown(o), o->err);
    if (st == OK) st = list_files(o);
    if (st == OK) st = open_weights(o);
    if (st == OK) st = add_tensors(o);
    if (st == OK) st = check_vocab(o);
    if (st == OK)
        st = tokenizer_json_read(&o->keys, o->tokenizer, o->tokenizer_config,
                                 o->facts.n_vocab, shown(o), o->err);
    if (st == OK) st = hf_template_read(&o->keys, o->tokenizer_config, o->path, o->err);
    if (st == OK && !key_list_finish(&o->keys, &o->f->gguf)) st = no_memory(o);
    return st;
}

enum status hf_folder_open(struct model_file *f, const char *path, struct error *err) {
    struct folder o = {.f = f, .path = path, .err = err};

    f->gguf.is_converted = true;
    enum status st = read_folder(&o);
    close_json(&o);
    return st;
}

enum status hf_file_open(struct model_file *f, const char *path, struct error *err) {
    struct gguf *g = &f->gguf;
    struct key_list keys;
    struct safetensors s;
    enum status st = model_file_reserve(f, 1, path, err);

    if (st == OK) st = model_file_map(f, path, err);
    if (st != OK) return st;
    const struct mapped_file *map = &f->maps[0];
    st = safetensors_parse(&s, map->bytes, map->n_bytes, error_path(path), f->arena, err);
    if (st != OK) return st;

    *g = (struct gguf){.bytes = map->bytes, .data_offset = s.data_offset, .n_parts = 1};
    g->tensors = ARENA_NEW(f->arena, struct gguf_tensor, s.n_tensors);
    key_list_init(&keys, s.n_notes, f->arena);
    for (uint64_t i = 0; i < s.n_notes; i++)
        key_list_string(&keys, s.notes[i].key, s.notes[i].value, strlen(s.notes[i].value),
                        NULL);
    if (!g->tensors || !key_list_finish(&keys, g) ||
        table_init(&g->tensor_table, f->arena, (size_t)s.n_tensors, NULL) != OK)
        return error_set(err, ERR_MEMORY, "%s: no memory for its tables", error_path(path));
    for (; g->n_tensors < s.n_tensors; g->n_tensors++) {
        const struct safetensors_tensor *t = &s.tensors[g->n_tensors];
        g->tensors[g->n_tensors] = (struct gguf_tensor){
            .name = {t->name, strlen(t->name)},
            .offset = t->begin,
            .view = t->view,
            .spelled = t->name
        };
        table_put(&g->tensor_table, t->name, strlen(t->name), (uint32_t)g->n_tensors);
    }
    return OK;
}
