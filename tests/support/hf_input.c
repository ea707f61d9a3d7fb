// Each goes the whole way: from bytes over keys to what the engine would build of them.
#include "tests/support/hf_input.h"

#include "common/limits.h"
#include "level2-operator/files/hf_config.h"
#include "level2-operator/files/hf_folder.h"
#include "level2-operator/files/hf_json.h"
#include "level2-operator/files/safetensors_index.h"
#include "level2-operator/files/tokenizer_json.h"
#include "level2-operator/model/config.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"

static enum status finish(struct key_list *keys, struct gguf *g, struct error *err) {
    g->is_converted = true;
    if (key_list_finish(keys, g)) return OK;
    return error_set(err, ERR_MEMORY, "no memory for keys");
}

enum status hf_input_config(const char *bytes, size_t n_bytes, struct arena *arena,
                            struct error *err) {
    struct key_list keys;
    struct hf_config facts;
    struct config config;
    struct gguf g = {0};
    json_t *root;

    enum status st =
        hf_json_parse(&root, bytes, n_bytes, LIMIT_JSON_VALUES, "f/config.json", 0, err);
    key_list_init(&keys, HF_FOLDER_KEYS, arena);
    if (st == OK) st = hf_config_read(&facts, &keys, root, root, "f", err);
    if (st == OK) st = finish(&keys, &g, err);
    if (st == OK) st = config_read(&config, &g, "f", err);
    json_decref(root);
    return st;
}

enum status hf_input_tokenizer(const char *bytes, size_t n_bytes, int n_vocab,
                               struct arena *arena, struct error *err) {
    struct key_list keys;
    struct tokenizer t;
    struct gguf g = {0};
    json_t *root;

    enum status st = hf_json_parse(&root, bytes, n_bytes, LIMIT_HF_TOKENIZER_VALUES,
                                   "f/tokenizer.json", 0, err);
    key_list_init(&keys, HF_FOLDER_KEYS, arena);
    if (st == OK) st = tokenizer_json_read(&keys, root, NULL, n_vocab, "f", err);
    if (st == OK) st = finish(&keys, &g, err);
    if (st == OK) st = tokenizer_from_gguf(&t, &g, NULL, "f", arena, err);
    json_decref(root);
    return st;
}

enum status hf_input_index(const char *bytes, size_t n_bytes, struct arena *arena,
                           struct error *err) {
    struct safetensors_index index;
    json_t *root;

    enum status st =
        hf_json_parse(&root, bytes, n_bytes, LIMIT_JSON_VALUES, "f/index.json", 0, err);
    if (st == OK) st = safetensors_index_read(&index, root, "f/index.json", arena, err);
    json_decref(root);
    return st;
}
