// The vocabulary is laid out by id first, then written down as three arrays and a list of merges.
#include "level2-operator/files/tokenizer_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/files/hf_json.h"
#include "level2-operator/files/tokenizer_rules.h"
#include "level2-operator/tokenizer/spm.h"
#include "level2-operator/tokenizer/tokenizer_facts.h"
#include "level2-operator/tokenizer/tokenizer_gguf.h"

enum { UNUSED_BYTES = 16, FILE_BYTES = 160 };

struct reader {
    struct key_list *keys;
    char file[FILE_BYTES]; // for messages
    struct error *err;
    const json_t *model; // of the tokenizer
    int n_vocab;
    struct token_fact *tokens; // (n_vocab); bytes NULL: no such token so far
    struct table by_text;      // -> id
    bool is_spm, takes_spaces;
};

static enum status no_memory(const struct reader *r) {
    return error_set(r->err, ERR_MEMORY, "%s: no memory for the vocabulary", r->file);
}

static enum status refuse(const struct reader *r, enum status code, const char *field,
                          const char *what) {
    return hf_json_refuse(r->err, code, r->file, field, "%s", what);
}

// ---- tokens -------------------------------------------------------------------------------------

static enum status put_token(struct reader *r, const char *field, const char *text,
                             size_t n_bytes, json_int_t id, enum token_kind kind) {
    if (n_bytes > LIMIT_PIECE_BYTES)
        return hf_json_refuse(r->err, ERR_LIMIT, r->file, field,
                              "a token is longer than %d bytes", LIMIT_PIECE_BYTES);
    struct token_fact *token = &r->tokens[id];
    bool is_same = token->bytes && token->n_bytes == n_bytes &&
                   memcmp(token->bytes, text, n_bytes) == 0;
    if (token->bytes && !is_same)
        return hf_json_refuse(r->err, ERR_FORMAT, r->file, field,
                              "id %lld stands for two texts", (long long)id);
    *token = (struct token_fact){
        .bytes = text, .n_bytes = (uint32_t)n_bytes, .kind = kind, .score = -INFINITY};
    if (!is_same && !table_put(&r->by_text, text, n_bytes, (uint32_t)id))
        return hf_json_refuse(r->err, ERR_FORMAT, r->file, field,
                              "the text of id %lld has another id, too", (long long)id);
    return OK;
}

static enum status read_vocab(struct reader *r) {
    static const char field[] = "model.vocab";
    json_t *vocab = json_object_get(r->model, "vocab"), *id;
    const char *text;
    enum status st = OK;

    if (!json_is_object(vocab)) return refuse(r, ERR_FORMAT, field, "must be an object");
    json_object_foreach(vocab, text, id) {
        json_int_t number = json_integer_value(id);
        if (!json_is_integer(id) || number < 0 || number >= r->n_vocab)
            return hf_json_refuse(r->err, ERR_FORMAT, r->file, field,
                                  "an id is not in 0 .. vocab_size - 1 (%d)",
                                  r->n_vocab - 1);
        bool is_byte = r->is_spm && spm_byte_of(text, strlen(text)) >= 0;
        st = put_token(r, field, text, strlen(text), number,
                       is_byte ? TOKEN_BYTE : TOKEN_NORMAL);
        if (st != OK) break;
    }
    return st;
}

// Tokens found in text before anything else.
static enum status read_added(struct reader *r, const json_t *added) {
    static const char field[] = "added_tokens";
    enum status st = OK;

    for (size_t i = 0; st == OK && i < json_array_size(added); i++) {
        const json_t *token = json_array_get(added, i), *id = json_object_get(token, "id");
        const json_t *text = json_object_get(token, "content");
        if (!json_is_integer(id) || json_integer_value(id) < 0 || !json_string_length(text))
            return hf_json_refuse(r->err, ERR_FORMAT, r->file, field,
                                  "token %zu needs an id and a content", i);
        if (json_integer_value(id) >= r->n_vocab) continue; // of a larger sibling
        if (json_is_true(json_object_get(token, "single_word")))
            return hf_json_refuse(r->err, ERR_UNSUPPORTED, r->file, field,
                                  "single_word of token %zu is not supported", i);
        bool is_special = json_is_true(json_object_get(token, "special"));
        st = put_token(r, field, json_string_value(text), json_string_length(text),
                       json_integer_value(id),
                       is_special ? TOKEN_CONTROL : TOKEN_USER_DEFINED);
        struct token_fact *fact = &r->tokens[json_integer_value(id)];
        fact->takes_before = json_is_true(json_object_get(token, "lstrip"));
        fact->takes_after = json_is_true(json_object_get(token, "rstrip"));
        r->takes_spaces |= fact->takes_before || fact->takes_after;
    }
    return st;
}

// Ids that no token has, as converters fill them.
static enum status fill_gaps(struct reader *r) {
    for (int id = 0; id < r->n_vocab; id++) {
        if (r->tokens[id].bytes) continue;
        char *text = ARENA_NEW(r->keys->arena, char, UNUSED_BYTES);
        if (!text) return no_memory(r);
        int n = snprintf(text, UNUSED_BYTES, "[PAD%d]", id);
        r->tokens[id] = (struct token_fact){.bytes = text,
                                            .n_bytes = (uint32_t)n,
                                            .kind = TOKEN_UNUSED,
                                            .score = -INFINITY};
    }
    return OK;
}

static enum status read_unknown(struct reader *r) {
    const json_t *text = json_object_get(r->model, "unk_token");
    uint32_t id;

    if (!json_is_string(text)) return OK;
    if (!table_get(&r->by_text, json_string_value(text), json_string_length(text), &id))
        return refuse(r, ERR_FORMAT, "model.unk_token", "is no token");
    if (r->is_spm) r->tokens[id].kind = TOKEN_UNKNOWN;
    key_list_u64(r->keys, "tokenizer.ggml.unknown_token_id", id,
                 "tokenizer.json: model.unk_token");
    return OK;
}

// ---- merges -------------------------------------------------------------------------------------

struct merge {
    const char *left, *right;
    size_t n_left, n_right;
};

// "left right" in older files, ["left", "right"] in newer ones.
static bool merge_of(struct merge *m, const json_t *item) {
    if (json_is_array(item)) {
        const json_t *left = json_array_get(item, 0), *right = json_array_get(item, 1);
        if (json_array_size(item) != 2) return false;
        *m = (struct merge){json_string_value(left), json_string_value(right),
                            json_string_length(left), json_string_length(right)};
        return m->n_left && m->n_right;
    }
    const char *text = json_string_value(item);
    const char *space = text && *text ? strchr(text + 1, ' ') : NULL;
    if (!space) return false;
    *m = (struct merge){text, space + 1, (size_t)(space - text), strlen(space + 1)};
    return m->n_right > 0;
}

// The first merge that makes a token gives its score.
static enum status score_merge(struct reader *r, const struct merge *m, size_t rank,
                               char *joined) {
    size_t n_joined = m->n_left + m->n_right;
    bool is_short = n_joined <= LIMIT_PIECE_BYTES; // no token is longer
    uint32_t id;
    if (is_short) memcpy(joined, m->left, m->n_left);
    if (is_short) memcpy(joined + m->n_left, m->right, m->n_right);
    if (!is_short || !table_get(&r->by_text, joined, n_joined, &id))
        return hf_json_refuse(r->err, ERR_FORMAT, r->file, "model.merges",
                              "merge %zu makes no token", rank);
    if (isinf(r->tokens[id].score)) r->tokens[id].score = -(float)rank;
    return OK;
}

static enum status read_merges(struct reader *r) {
    static const char field[] = "model.merges";
    const json_t *merges = json_object_get(r->model, "merges");
    size_t n = json_array_size(merges), n_bytes = 0;
    struct merge m;

    if (!json_is_array(merges)) return refuse(r, ERR_FORMAT, field, "must be a list");
    if (n > LIMIT_VOCAB)
        return hf_json_refuse(r->err, ERR_LIMIT, r->file, field, "more than %d merges",
                              LIMIT_VOCAB);
    for (size_t i = 0; i < n; i++) {
        if (!merge_of(&m, json_array_get(merges, i)))
            return hf_json_refuse(r->err, ERR_FORMAT, r->file, field,
                                  "merge %zu is not two tokens", i);
        n_bytes += 8 + m.n_left + 1 + m.n_right;
    }
    unsigned char *items =
        ARENA_NEW(r->keys->arena, unsigned char, r->is_spm ? LIMIT_PIECE_BYTES : n_bytes);
    if (!items) return no_memory(r);
    unsigned char *to = items;
    enum status st = OK;
    for (size_t i = 0; st == OK && i < n; i++) {
        merge_of(&m, json_array_get(merges, i));
        if (r->is_spm) {
            st = score_merge(r, &m, i, (char *)items);
            continue;
        }
        store_le(to, m.n_left + 1 + m.n_right, 8);
        memcpy(to + 8, m.left, m.n_left);
        to[8 + m.n_left] = ' ';
        memcpy(to + 9 + m.n_left, m.right, m.n_right);
        to += 9 + m.n_left + m.n_right;
    }
    if (st == OK && !r->is_spm)
        key_list_array(r->keys, "tokenizer.ggml.merges", GGUF_STRING, n, items, n_bytes,
                       "tokenizer.json: model.merges");
    return st;
}

// ---- written down -------------------------------------------------------------------------------

static enum status write_tokens(struct reader *r) {
    size_t n_bytes = 0, n = (size_t)r->n_vocab;
    for (size_t i = 0; i < n; i++) n_bytes += 8 + (size_t)r->tokens[i].n_bytes;
    unsigned char *texts = ARENA_NEW(r->keys->arena, unsigned char, n_bytes), *to = texts;
    unsigned char *kinds = ARENA_NEW(r->keys->arena, unsigned char, 4 * n);
    unsigned char *scores = ARENA_NEW(r->keys->arena, unsigned char, 4 * n);

    unsigned char *takes = ARENA_NEW(r->keys->arena, unsigned char, n);

    if (!texts || !kinds || !scores || !takes) return no_memory(r);
    for (size_t i = 0; i < n; i++) {
        const struct token_fact *token = &r->tokens[i];
        uint32_t score;
        store_le(to, token->n_bytes, 8);
        memcpy(to + 8, token->bytes, token->n_bytes);
        to += 8 + token->n_bytes;
        store_le(kinds + 4 * i, (uint64_t)token->kind, 4);
        memcpy(&score, &token->score, sizeof(score));
        store_le(scores + 4 * i, score, 4);
        takes[i] = (unsigned char)((token->takes_before ? TAKES_BEFORE : 0) |
                                   (token->takes_after ? TAKES_AFTER : 0));
    }
    key_list_array(r->keys, "tokenizer.ggml.tokens", GGUF_STRING, n, texts, n_bytes,
                   "tokenizer.json: model.vocab");
    key_list_array(r->keys, "tokenizer.ggml.token_type", GGUF_I32, n, kinds, 4 * n,
                   "tokenizer.json: added_tokens");
    if (r->takes_spaces)
        key_list_array(r->keys, key_takes_spaces, GGUF_U8, n, takes, n,
                       "tokenizer.json: added_tokens");
    if (r->is_spm)
        key_list_array(r->keys, "tokenizer.ggml.scores", GGUF_F32, n, scores, 4 * n,
                       "tokenizer.json: model.merges");
    return OK;
}

// What tokenizer_gguf.c concludes from the name of the words' rule must be what the file says.
static enum status check_family(const struct reader *r,
                                const struct tokenizer_rules *rules) {
    const char *pre = rules->pre ? rules->pre : "";
    bool ignores = json_is_true(json_object_get(r->model, "ignore_merges"));

    if (rules->refused)
        return refuse(r, ERR_UNSUPPORTED, rules->refused,
                      "not one that is built here; take a GGUF file of this model");
    if (r->is_spm || !rules->pre) return OK;
    if (rules->is_nfc != (strcmp(pre, "qwen2") == 0))
        return refuse(r, ERR_UNSUPPORTED, "normalizer", "NFC and qwen2 go together here");
    if (ignores != (strcmp(pre, "llama-bpe") == 0))
        return refuse(r, ERR_UNSUPPORTED, "model.ignore_merges",
                      "it and llama-bpe go together here");
    return OK;
}

static enum status write_rules(struct reader *r, const json_t *tokenizer,
                               const json_t *config) {
    struct tokenizer_rules rules = tokenizer_rules_of(tokenizer, r->is_spm);
    const char *family = r->is_spm ? "llama" : "gpt2";
    const char *pre = rules.pre ? rules.pre : "this pre_tokenizer";
    enum status st = check_family(r, &rules);

    if (st != OK) return st;
    if (json_is_true(json_object_get(config, "add_bos_token"))) rules.adds_bos = true;
    if (json_is_true(json_object_get(config, "add_eos_token"))) rules.adds_eos = true;
    key_list_string(r->keys, "tokenizer.ggml.model", family, strlen(family),
                    "tokenizer.json: model.type");
    if (!r->is_spm)
        key_list_string(r->keys, "tokenizer.ggml.pre", pre, strlen(pre),
                        "tokenizer.json: pre_tokenizer");
    key_list_bool(r->keys, "tokenizer.ggml.add_bos_token", rules.adds_bos,
                  "tokenizer.json: post_processor");
    key_list_bool(r->keys, "tokenizer.ggml.add_eos_token", rules.adds_eos,
                  "tokenizer.json: post_processor");
    if (!r->is_spm) return OK;
    key_list_bool(r->keys, "tokenizer.ggml.add_space_prefix", rules.adds_space,
                  "tokenizer.json: normalizer");
    key_list_bool(r->keys, key_space_everywhere, rules.adds_space_everywhere,
                  "tokenizer.json: normalizer");
    key_list_bool(r->keys, key_missing_space, rules.adds_missing_space,
                  "tokenizer.json: pre_tokenizer");
    return OK;
}

enum status tokenizer_json_read(struct key_list *keys, const json_t *tokenizer,
                                const json_t *config, int n_vocab, const char *folder,
                                struct error *err) {
    const json_t *model = json_object_get(tokenizer, "model");
    const char *type = json_string_value(json_object_get(model, "type"));
    struct reader r = {.keys = keys, .err = err, .model = model, .n_vocab = n_vocab};

    snprintf(r.file, sizeof(r.file), "%s/tokenizer.json", folder);
    r.is_spm = json_is_true(json_object_get(model, "byte_fallback"));
    if (!type || strcmp(type, "BPE") != 0)
        return refuse(&r, ERR_UNSUPPORTED, "model.type", "not supported; only BPE is");
    r.tokens = ARENA_NEW(keys->arena, struct token_fact, n_vocab);
    if (!r.tokens || table_init(&r.by_text, keys->arena, (size_t)n_vocab, NULL) != OK)
        return no_memory(&r);
    enum status st = read_vocab(&r);
    if (st == OK) st = read_added(&r, json_object_get(tokenizer, "added_tokens"));
    if (st == OK) st = fill_gaps(&r);
    if (st == OK) st = read_unknown(&r);
    if (st == OK) st = read_merges(&r);
    if (st == OK) st = write_tokens(&r);
    return st == OK ? write_rules(&r, tokenizer, config) : st;
}
