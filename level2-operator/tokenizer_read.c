// A tokenizer from the metadata of a GGUF file. Nothing here is trusted: types, lengths and ids are
// checked one by one, and what does not fit is refused with the key's name.
//
//   tokenizer.ggml.model       "gpt2": byte-level BPE; nothing else is built here
//   tokenizer.ggml.pre         how words are cut
//   tokenizer.ggml.tokens      n_vocab strings, bytes spelled as symbols ("Ġthe" is " the")
//   tokenizer.ggml.token_type  n_vocab kinds; missing: all are normal
//   tokenizer.ggml.scores      not needed for BPE, but must fit if there
//   tokenizer.ggml.merges      "left right", best first; both and "leftright" must be tokens
//   tokenizer.ggml.*_token_id  bos, eos, eot, eom, unknown
//   tokenizer.ggml.add_bos_token
#include "level2-operator/tokenizer.h"

#include <string.h>

#include "common/limits.h"
#include "common/utf8.h"
#include "level2-operator/gguf_value.h"

// Control tokens that end a turn or a text in some family, whatever the file's eos is.
static const char *const end_texts[] = {
    "<|im_end|>",    "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>",
    "<end_of_turn>", "<|end|>",       "</s>",       "<eos>",
};
enum { N_END_TEXTS = sizeof(end_texts) / sizeof(*end_texts) };

enum { N_SYMBOLS = 256 + 68 }; // code points below this may be symbols of bytes

// The symbol of each byte. Printable Latin-1 stands for itself; the 68 others (space, controls, soft
// hyphen) take the code points from 256 on, in order.
struct symbols {
    int32_t symbol[256];        // byte -> code point
    int16_t byte_of[N_SYMBOLS]; // code point -> byte, -1: no symbol
};

// What reading needs beside the tokenizer.
struct reader {
    struct tokenizer *t;
    const struct gguf *g;
    const char *name;
    struct arena *arena;
    struct error *err;
    struct symbols symbols;
    size_t longest; // bytes of the longest token as the file spells it
};

static void symbols_init(struct symbols *s) {
    int32_t n_taken = 0;
    for (int i = 0; i < N_SYMBOLS; i++) s->byte_of[i] = -1;
    for (int byte = 0; byte < 256; byte++) {
        bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
        s->symbol[byte] = is_printable ? byte : 256 + n_taken++;
        s->byte_of[s->symbol[byte]] = (int16_t)byte;
    }
}

static enum status read_failed(const struct reader *r, enum status code, const char *key,
                               const char *what) {
    return error_set_param(r->err, code, key, "%s: %s: %s", r->name, key, what);
}

static enum status no_memory(const struct reader *r) {
    return read_failed(r, ERR_MEMORY, "tokenizer.ggml.tokens",
                       "no memory for the vocabulary");
}

static enum status read_model(const struct reader *r) {
    static const char key[] = "tokenizer.ggml.model";
    const struct gguf_value *value = gguf_find(r->g, key);
    struct gguf_string model;

    if (!value) return read_failed(r, ERR_FORMAT, key, "missing; not a language model?");
    if (!gguf_get_string(value, &model))
        return read_failed(r, ERR_FORMAT, key, "no string");
    if (model.n_bytes == 4 && memcmp(model.bytes, "gpt2", 4) == 0) return OK;
    return error_set_param(r->err, ERR_UNSUPPORTED, key,
                           "%s: %s: '%.*s' is not built here; use a file with gpt2 "
                           "(byte-level BPE)",
                           r->name, key, model.n_bytes < 64 ? (int)model.n_bytes : 64,
                           model.bytes);
}

static enum status read_pre(const struct reader *r, const char *pre) {
    static const char key[] = "tokenizer.ggml.pre";
    const struct gguf_value *value = gguf_find(r->g, key);
    struct gguf_string text = {pre, pre ? strlen(pre) : 0};

    if (!pre && !value)
        return read_failed(
            r, ERR_UNSUPPORTED, key,
            "missing, and a guess would give wrong tokens; name it (smollm)");
    if (!pre && !gguf_get_string(value, &text))
        return read_failed(r, ERR_FORMAT, key, "no string");
    if (pretokenizer_find(text.bytes, text.n_bytes, &r->t->pre)) return OK;
    return error_set_param(r->err, ERR_UNSUPPORTED, key,
                           "%s: %s: pre-tokenizer '%.*s' is not built here; known: smollm",
                           r->name, key, text.n_bytes < 64 ? (int)text.n_bytes : 64,
                           text.bytes);
}

// An optional array beside the tokens: NULL when missing. Its type and length must fit.
static enum status read_column(const struct reader *r, const char *key, enum gguf_type type,
                               const struct gguf_value **column) {
    *column = gguf_find(r->g, key);
    const struct gguf_value *v = *column;
    if (!v) return OK;
    if (v->type != GGUF_ARRAY || v->item_type != type)
        return error_set_param(r->err, ERR_FORMAT, key, "%s: %s: must be an array of %s",
                               r->name, key, gguf_type_name(type));
    if (v->n_items != (uint64_t)r->t->n_vocab)
        return error_set_param(r->err, ERR_FORMAT, key,
                               "%s: %s: %llu items, but there are %d tokens", r->name, key,
                               (unsigned long long)v->n_items, r->t->n_vocab);
    return OK;
}

// Counts the tokens' bytes, and refuses what no vocabulary needs.
static enum status read_sizes(struct reader *r, const struct gguf_value **tokens,
                              size_t *n_total) {
    static const char key[] = "tokenizer.ggml.tokens";
    const struct gguf_value *v = *tokens = gguf_find(r->g, key);
    struct gguf_string text;

    *n_total = 0;
    if (!v) return read_failed(r, ERR_FORMAT, key, "missing; not a language model?");
    if (v->type != GGUF_ARRAY || v->item_type != GGUF_STRING || v->n_items == 0)
        return read_failed(r, ERR_FORMAT, key, "must be an array of strings, not empty");
    if (v->n_items > LIMIT_VOCAB)
        return error_set_param(r->err, ERR_LIMIT, key, "%s: %s: more than %d tokens",
                               r->name, key, LIMIT_VOCAB);
    for (uint64_t pos = 0; gguf_next_string(v, &pos, &text); *n_total += text.n_bytes) {
        if (text.n_bytes > LIMIT_PIECE_BYTES)
            return error_set_param(r->err, ERR_LIMIT, key,
                                   "%s: %s: a token is longer than %d bytes", r->name, key,
                                   LIMIT_PIECE_BYTES);
        if (text.n_bytes > r->longest) r->longest = text.n_bytes;
    }
    r->t->n_vocab = (int)v->n_items;
    return OK;
}

// The bytes that the symbols of text stand for, written to out (room for n_text); 0: text has a
// character that is no symbol.
static size_t symbols_decode(const struct symbols *s, char *out, const char *text,
                             size_t n_text) {
    size_t n = 0, n_used;
    for (size_t pos = 0; pos < n_text; pos += n_used) {
        int32_t c = utf8_next(text + pos, n_text - pos, &n_used);
        if (c < 0 || c >= N_SYMBOLS || s->byte_of[c] < 0) return 0;
        out[n++] = (char)s->byte_of[c];
    }
    return n;
}

static enum status read_kind(const struct reader *r, const struct gguf_value *kinds, int id,
                             enum token_kind *kind) {
    struct gguf_value item;
    uint64_t number;
    *kind = TOKEN_NORMAL;
    if (!kinds) return OK;
    bool is_known = gguf_item(kinds, (uint64_t)id, &item) && gguf_get_u64(&item, &number) &&
                    number >= TOKEN_NORMAL && number <= TOKEN_BYTE;
    if (!is_known)
        return read_failed(r, ERR_FORMAT, "tokenizer.ggml.token_type",
                           "a kind is not one of 1 to 6");
    *kind = (enum token_kind)number;
    return OK;
}

// pieces and by_text. Only normal tokens are spelled in symbols; the others, and a normal one with a
// character that is no symbol, stand for their own text.
static enum status read_pieces(struct reader *r) {
    const struct gguf_value *tokens, *kinds, *scores;
    struct tokenizer *t = r->t;
    struct gguf_string text;
    enum status st;
    size_t n_total;

    if ((st = read_sizes(r, &tokens, &n_total)) != OK) return st;
    st = read_column(r, "tokenizer.ggml.token_type", GGUF_I32, &kinds);
    if (st != OK) return st;
    st = read_column(r, "tokenizer.ggml.scores", GGUF_F32, &scores);
    if (st != OK) return st;

    char *bytes = ARENA_NEW(r->arena, char, n_total);
    t->pieces = ARENA_NEW(r->arena, struct token_piece, t->n_vocab);
    if (!bytes || !t->pieces) return no_memory(r);
    st = table_init(&t->by_text, r->arena, (size_t)t->n_vocab, r->err);
    if (st != OK) return st;

    uint64_t pos = 0;
    for (int id = 0; id < t->n_vocab && gguf_next_string(tokens, &pos, &text); id++) {
        struct token_piece *piece = &t->pieces[id];
        *piece =
            (struct token_piece){.bytes = text.bytes, .n_bytes = (uint32_t)text.n_bytes};
        if ((st = read_kind(r, kinds, id, &piece->kind)) != OK) return st;
        table_put(&t->by_text, text.bytes, text.n_bytes, (uint32_t)id);
        size_t n = 0;
        if (piece->kind == TOKEN_NORMAL)
            n = symbols_decode(&r->symbols, bytes, text.bytes, text.n_bytes);
        if (n == 0) continue;
        piece->bytes = bytes;
        piece->n_bytes = (uint32_t)n;
        bytes += n;
    }
    return OK;
}

static token_id find_text(const struct tokenizer *t, const char *text, size_t n_bytes) {
    uint32_t id;
    return table_get(&t->by_text, text, n_bytes, &id) ? (token_id)id : -1;
}

// The single-byte tokens that every word starts as. Code points below 0x800: at most two bytes.
static void find_byte_tokens(struct reader *r) {
    for (int byte = 0; byte < 256; byte++) {
        int32_t c = r->symbols.symbol[byte];
        char text[2] = {(char)c};
        if (c >= 0x80) text[0] = (char)(0xc0 | c >> 6), text[1] = (char)(0x80 | (c & 0x3f));
        r->t->bpe.byte_token[byte] = find_text(r->t, text, c < 0x80 ? 1 : 2);
    }
}

// "left right" as three ids. joined has room for the longest token. false: one of them is no token.
static bool merge_parse(const struct reader *r, struct gguf_string text, char *joined,
                        struct bpe_merge *merge) {
    if (text.n_bytes < 3 || text.n_bytes - 1 > r->longest) return false;
    const char *space = memchr(text.bytes, ' ', text.n_bytes);
    if (!space) return false;
    size_t n_left = (size_t)(space - text.bytes), n_right = text.n_bytes - n_left - 1;
    memcpy(joined, text.bytes, n_left);
    memcpy(joined + n_left, space + 1, n_right);
    merge->left = find_text(r->t, text.bytes, n_left);
    merge->right = find_text(r->t, space + 1, n_right);
    merge->merged = find_text(r->t, joined, n_left + n_right);
    return merge->left >= 0 && merge->right >= 0 && merge->merged >= 0;
}

static enum status read_merges(struct reader *r) {
    static const char key[] = "tokenizer.ggml.merges";
    const struct gguf_value *v = gguf_find(r->g, key);
    struct bpe *bpe = &r->t->bpe;
    struct gguf_string text;

    if (!v || v->type != GGUF_ARRAY || v->item_type != GGUF_STRING)
        return read_failed(r, ERR_FORMAT, key, "must be there, an array of strings");
    if (v->n_items > LIMIT_VOCAB)
        return error_set_param(r->err, ERR_LIMIT, key, "%s: %s: more than %d merges",
                               r->name, key, LIMIT_VOCAB);
    char *joined = ARENA_NEW(r->arena, char, r->longest);
    bpe->merges = ARENA_NEW(r->arena, struct bpe_merge, v->n_items);
    if (!joined || !bpe->merges) return no_memory(r);
    enum status st = table_init(&bpe->pairs, r->arena, (size_t)v->n_items, r->err);
    if (st != OK) return st;

    for (uint64_t pos = 0; gguf_next_string(v, &pos, &text); bpe->n_merges++) {
        struct bpe_merge *merge = &bpe->merges[bpe->n_merges];
        if (!merge_parse(r, text, joined, merge))
            return error_set_param(r->err, ERR_FORMAT, key,
                                   "%s: %s: merge %d is not two tokens that make a third",
                                   r->name, key, bpe->n_merges);
        // a pair given twice keeps its better rank: put refuses the second
        table_put(&bpe->pairs, merge, 2 * sizeof(token_id), (uint32_t)bpe->n_merges);
    }
    return OK;
}

static bool is_special(const struct token_piece *piece) {
    return piece->n_bytes > 0 &&
           (piece->kind == TOKEN_CONTROL || piece->kind == TOKEN_USER_DEFINED);
}

// Where the scan in tokenizer.c has to look, and for how many bytes.
static enum status find_special(struct reader *r) {
    struct tokenizer *t = r->t;
    bool occurs[LIMIT_SPECIAL_BYTES + 1] = {false}; // a special token of this length
    for (int id = 0; id < t->n_vocab; id++) {
        const struct token_piece *piece = &t->pieces[id];
        if (!is_special(piece)) continue;
        if (piece->n_bytes > LIMIT_SPECIAL_BYTES)
            return error_set_param(r->err, ERR_LIMIT, "tokenizer.ggml.token_type",
                                   "%s: tokenizer.ggml.token_type: control token %d is "
                                   "longer than %d bytes",
                                   r->name, id, LIMIT_SPECIAL_BYTES);
        t->starts_special[(unsigned char)piece->bytes[0]] = true;
        t->n_special_bytes += !occurs[piece->n_bytes];
        occurs[piece->n_bytes] = true;
    }
    t->special_bytes = ARENA_NEW(r->arena, uint32_t, t->n_special_bytes);
    if (!t->special_bytes) return no_memory(r);
    uint32_t *next = t->special_bytes;
    for (size_t n = LIMIT_SPECIAL_BYTES; n > 0; n--)
        if (occurs[n]) *next++ = (uint32_t)n;
    return OK;
}

static enum status read_id(const struct reader *r, const char *key, token_id *id) {
    const struct gguf_value *v = gguf_find(r->g, key);
    uint64_t number;
    *id = -1;
    if (!v) return OK;
    if (!gguf_get_u64(v, &number) || number >= (uint64_t)r->t->n_vocab)
        return read_failed(r, ERR_FORMAT, key, "not the id of a token");
    *id = (token_id)number;
    return OK;
}

static enum status read_ids(const struct reader *r) {
    struct tokenizer *t = r->t;
    const struct gguf_value *add_bos = gguf_find(r->g, "tokenizer.ggml.add_bos_token");
    token_id eot, eom;
    enum status st;

    if ((st = read_id(r, "tokenizer.ggml.bos_token_id", &t->bos)) != OK) return st;
    if ((st = read_id(r, "tokenizer.ggml.eos_token_id", &t->eos)) != OK) return st;
    if ((st = read_id(r, "tokenizer.ggml.eot_token_id", &eot)) != OK) return st;
    if ((st = read_id(r, "tokenizer.ggml.eom_token_id", &eom)) != OK) return st;
    if ((st = read_id(r, "tokenizer.ggml.unknown_token_id", &t->unknown)) != OK) return st;
    if (add_bos && !gguf_get_bool(add_bos, &t->add_bos))
        return read_failed(r, ERR_FORMAT, "tokenizer.ggml.add_bos_token", "no bool");

    t->is_end = ARENA_NEW(r->arena, bool, t->n_vocab);
    if (!t->is_end) return no_memory(r);
    const token_id named[] = {t->eos, eot, eom};
    for (int i = 0; i < 3; i++)
        if (named[i] >= 0) t->is_end[named[i]] = true;
    for (int i = 0; i < N_END_TEXTS; i++) {
        token_id id = find_text(t, end_texts[i], strlen(end_texts[i]));
        if (id >= 0 && t->pieces[id].kind == TOKEN_CONTROL) t->is_end[id] = true;
    }
    return OK;
}

enum status tokenizer_init(struct tokenizer *t, const struct gguf *g, const char *pre,
                           const char *name, struct arena *arena, struct error *err) {
    struct reader r = {.t = t, .g = g, .name = name, .arena = arena, .err = err};
    enum status st;

    *t = (struct tokenizer){0};
    symbols_init(&r.symbols);
    if ((st = read_model(&r)) != OK) goto failed;
    if ((st = read_pre(&r, pre)) != OK) goto failed;
    if ((st = read_pieces(&r)) != OK) goto failed;
    find_byte_tokens(&r);
    if ((st = read_merges(&r)) != OK) goto failed;
    if ((st = find_special(&r)) != OK) goto failed;
    if ((st = read_ids(&r)) != OK) goto failed;
    return OK;

failed:
    *t = (struct tokenizer){0};
    return st;
}
