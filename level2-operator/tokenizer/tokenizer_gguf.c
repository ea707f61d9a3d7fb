// Reads the facts of a tokenizer from the metadata of a GGUF file. Nothing here is trusted: types,
// lengths and ids are checked one by one, and what does not fit is refused with the key's name.
//
//   tokenizer.ggml.model       "gpt2": byte-level BPE; "llama": SentencePiece's BPE
//   tokenizer.ggml.pre         BPE: how words are cut
//   tokenizer.ggml.tokens      n_vocab strings, as the family spells them ("Ġthe" or "▁the")
//   tokenizer.ggml.token_type  n_vocab kinds; missing: all are normal
//   tokenizer.ggml.scores      SPM: n_vocab numbers; not needed for BPE, but must fit if there
//   tokenizer.ggml.merges      BPE: "left right", best first; both and "leftright" must be tokens
//   tokenizer.ggml.*_token_id  bos, eos, eot, eom, unknown
//   tokenizer.ggml.add_bos_token, add_eos_token, add_space_prefix, remove_extra_whitespaces
//
// A flag that is missing means what it means to the files' makers: SPM adds bos and the space, BPE
// adds nothing, but Llama 3 adds bos.
#include "level2-operator/tokenizer/tokenizer_gguf.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/gguf/gguf_place.h"
#include "level2-operator/gguf/gguf_value.h"

#define KEY(name) "tokenizer.ggml." name // a macro, since only literals can be joined

const char key_takes_spaces[] = "tokenizer.hf.takes_spaces";
const char key_space_everywhere[] = "tokenizer.hf.add_space_everywhere";
const char key_missing_space[] = "tokenizer.hf.add_missing_space";

struct reader {
    struct tokenizer_facts *facts;
    const struct gguf *g;
    const char *name;
    struct arena *arena;
    struct error *err;
    struct token_fact *tokens; // facts->tokens, still being written
};

static enum status read_failed(const struct reader *r, enum status code, const char *key,
                               const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// "m.gguf: key tokenizer.ggml.pre at byte 230: what is wrong"; of a folder, as its files spell it.
static enum status read_failed(const struct reader *r, enum status code, const char *key,
                               const char *format, ...) {
    char what[160], place[PLACE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    gguf_place_key(place, r->g, r->name, key);
    return error_set_param(r->err, code, key, "%s: %s", place, what);
}

static enum status no_memory(const struct reader *r) {
    return read_failed(r, ERR_MEMORY, KEY("tokens"), "no memory for the vocabulary");
}

static enum status read_family(const struct reader *r) {
    static const char key[] = KEY("model");
    const struct gguf_value *value = gguf_find(r->g, key);
    struct gguf_string model;

    if (!value) return read_failed(r, ERR_FORMAT, key, "missing; not a language model?");
    if (!gguf_get_string(value, &model))
        return read_failed(r, ERR_FORMAT, key, "must be a string");
    r->facts->family = gguf_string_is(model, "llama") ? FAMILY_SPM : FAMILY_BPE;
    if (gguf_string_is(model, "llama") || gguf_string_is(model, "gpt2")) return OK;
    return read_failed(r, ERR_UNSUPPORTED, key,
                       "'%.*s' is not built here; use a file with gpt2 (byte-level BPE) or "
                       "llama (SentencePiece)",
                       model.n_bytes < 64 ? (int)model.n_bytes : 64, model.bytes);
}

static enum status read_pre(const struct reader *r, const char *pre) {
    static const char key[] = KEY("pre");
    const struct gguf_value *value = gguf_find(r->g, key);
    struct gguf_string text = {pre, pre ? strlen(pre) : 0};

    if (!pre && !value)
        return read_failed(r, ERR_UNSUPPORTED, key,
                           "missing, and a guess would give wrong tokens; name it with "
                           "--pre: %s",
                           pretokenizer_names);
    if (!pre && !gguf_get_string(value, &text))
        return read_failed(r, ERR_FORMAT, key, "must be a string");
    if (pretokenizer_find(text.bytes, text.n_bytes, &r->facts->pre)) return OK;
    return read_failed(r, ERR_UNSUPPORTED, key, "'%.*s' is not built here; known: %s",
                       text.n_bytes < 32 ? (int)text.n_bytes : 32, text.bytes,
                       pretokenizer_names);
}

// An optional array beside the tokens: NULL when missing. Its type and length must fit.
static enum status read_column(const struct reader *r, const char *key, enum gguf_type type,
                               const struct gguf_value **column) {
    *column = gguf_find(r->g, key);
    const struct gguf_value *v = *column;
    if (!v) return OK;
    if (v->type != GGUF_ARRAY || v->item_type != type)
        return read_failed(r, ERR_FORMAT, key, "must be an array of %s",
                           gguf_type_name(type));
    if (v->n_items != (uint64_t)r->facts->n_vocab)
        return read_failed(r, ERR_FORMAT, key, "%llu items, but there are %d tokens",
                           (unsigned long long)v->n_items, r->facts->n_vocab);
    return OK;
}

// The tokens' texts. All are normal until their kinds are read.
static enum status read_texts(struct reader *r) {
    static const char key[] = KEY("tokens");
    const struct gguf_value *v = gguf_find(r->g, key);
    struct gguf_string text;

    if (!v) return read_failed(r, ERR_FORMAT, key, "missing; not a language model?");
    if (v->type != GGUF_ARRAY || v->item_type != GGUF_STRING || v->n_items == 0)
        return read_failed(r, ERR_FORMAT, key, "must be an array of strings, not empty");
    if (v->n_items > LIMIT_VOCAB)
        return read_failed(r, ERR_LIMIT, key, "more than %d tokens", LIMIT_VOCAB);
    r->tokens = ARENA_NEW(r->arena, struct token_fact, v->n_items);
    if (!r->tokens) return no_memory(r);
    struct token_fact *next = r->tokens;
    for (uint64_t pos = 0; gguf_next_string(v, &pos, &text); next++) {
        if (text.n_bytes > LIMIT_PIECE_BYTES)
            return read_failed(r, ERR_LIMIT, key, "token %td is longer than %d bytes",
                               next - r->tokens, LIMIT_PIECE_BYTES);
        *next = (struct token_fact){
            .bytes = text.bytes, .n_bytes = (uint32_t)text.n_bytes, .kind = TOKEN_NORMAL};
    }
    r->facts->tokens = r->tokens;
    r->facts->n_vocab = (int)v->n_items;
    return OK;
}

static enum status read_kinds(const struct reader *r) {
    static const char key[] = KEY("token_type");
    const struct gguf_value *kinds;
    enum status st = read_column(r, key, GGUF_I32, &kinds);
    if (st != OK || !kinds) return st;
    for (int id = 0; id < r->facts->n_vocab; id++) {
        struct gguf_value item;
        uint64_t number;
        bool is_known = gguf_item(kinds, (uint64_t)id, &item) &&
                        gguf_get_u64(&item, &number) && number >= TOKEN_NORMAL &&
                        number <= TOKEN_BYTE;
        if (!is_known)
            return read_failed(r, ERR_FORMAT, key,
                               "the kind of token %d is not one of 1 to 6", id);
        r->tokens[id].kind = (enum token_kind)number;
    }
    return OK;
}

// Of a folder's added tokens: who takes the white space beside it.
static enum status read_takes(const struct reader *r) {
    const char *key = key_takes_spaces;
    const struct gguf_value *takes;
    enum status st = read_column(r, key, GGUF_U8, &takes);
    for (int id = 0; st == OK && takes && id < r->facts->n_vocab; id++) {
        struct gguf_value item;
        uint64_t bits = 0;
        if (!gguf_item(takes, (uint64_t)id, &item) || !gguf_get_u64(&item, &bits) ||
            bits > (TAKES_BEFORE | TAKES_AFTER))
            return read_failed(r, ERR_FORMAT, key, "an item is not one of 0 to 3");
        r->tokens[id].takes_before = bits & TAKES_BEFORE;
        r->tokens[id].takes_after = bits & TAKES_AFTER;
    }
    return st;
}

static enum status read_scores(const struct reader *r) {
    static const char key[] = KEY("scores");
    const struct gguf_value *scores;
    enum status st = read_column(r, key, GGUF_F32, &scores);
    if (st != OK || r->facts->family != FAMILY_SPM) return st;
    if (!scores)
        return read_failed(r, ERR_FORMAT, key, "missing; SentencePiece merges by them");
    for (int id = 0; id < r->facts->n_vocab; id++) {
        struct gguf_value item;
        double score;
        if (!gguf_item(scores, (uint64_t)id, &item) || !gguf_get_f64(&item, &score) ||
            isnan(score))
            return read_failed(r, ERR_FORMAT, key, "the score of token %d is not a number",
                               id);
        r->tokens[id].score = (float)score;
    }
    return OK;
}

// "left right": cut at the first space, which no symbol is. Without one, right is empty: no token.
static struct merge_fact merge_of(struct gguf_string text) {
    const char *space = memchr(text.bytes, ' ', text.n_bytes);
    size_t n_left = space ? (size_t)(space - text.bytes) : (size_t)text.n_bytes;
    size_t n_cut = space ? 1 : 0;
    return (struct merge_fact){
        .left = text.bytes,
        .n_left = (uint32_t)n_left,
        .right = text.bytes + n_left + n_cut,
        .n_right = (uint32_t)(text.n_bytes - n_left - n_cut),
    };
}

static enum status read_merges(const struct reader *r) {
    static const char key[] = KEY("merges");
    const struct gguf_value *v = gguf_find(r->g, key);
    struct gguf_string text;

    if (r->facts->family == FAMILY_SPM) return OK;
    if (!v || v->type != GGUF_ARRAY || v->item_type != GGUF_STRING)
        return read_failed(r, ERR_FORMAT, key, "must be there, an array of strings");
    if (v->n_items > LIMIT_VOCAB)
        return read_failed(r, ERR_LIMIT, key, "more than %d merges", LIMIT_VOCAB);
    struct merge_fact *merges = ARENA_NEW(r->arena, struct merge_fact, v->n_items), *next;
    if (!merges) return no_memory(r);
    next = merges;
    for (uint64_t pos = 0; gguf_next_string(v, &pos, &text); next++) {
        if (text.n_bytes > 2 * LIMIT_PIECE_BYTES + 1)
            return read_failed(r, ERR_LIMIT, key, "merge %td is longer than two tokens",
                               next - merges);
        *next = merge_of(text);
    }
    r->facts->merges = merges;
    r->facts->n_merges = (int)v->n_items;
    return OK;
}

static enum status read_id(const struct reader *r, const char *key, token_id *id) {
    const struct gguf_value *v = gguf_find(r->g, key);
    uint64_t number;
    *id = -1;
    if (!v) return OK;
    if (!gguf_get_u64(v, &number) || number >= (uint64_t)r->facts->n_vocab)
        return read_failed(r, ERR_FORMAT, key, "must be the id of a token, below %d",
                           r->facts->n_vocab);
    *id = (token_id)number;
    return OK;
}

static enum status read_ids(const struct reader *r) {
    enum { N_ENDS = 3 };
    struct tokenizer_facts *f = r->facts;
    token_id *ends = ARENA_NEW(r->arena, token_id, N_ENDS);
    enum status st;

    if (!ends) return no_memory(r);
    if ((st = read_id(r, KEY("bos_token_id"), &f->bos)) != OK) return st;
    if ((st = read_id(r, KEY("eos_token_id"), &f->eos)) != OK) return st;
    if ((st = read_id(r, KEY("unknown_token_id"), &f->unknown)) != OK) return st;
    if ((st = read_id(r, KEY("eot_token_id"), &ends[0])) != OK) return st;
    if ((st = read_id(r, KEY("eom_token_id"), &ends[1])) != OK) return st;
    ends[2] = f->eos;
    f->ends = ends;
    f->n_ends = N_ENDS;
    return OK;
}

// Left as it is when the key is missing.
static enum status read_flag(const struct reader *r, const char *key, bool *flag) {
    const struct gguf_value *v = gguf_find(r->g, key);
    if (!v || gguf_get_bool(v, flag)) return OK;
    return read_failed(r, ERR_FORMAT, key, "must be true or false");
}

static enum status read_flags(const struct reader *r) {
    struct tokenizer_facts *f = r->facts;
    bool is_spm = f->family == FAMILY_SPM;
    enum status st;

    f->is_nfc = !is_spm && f->pre == PRE_QWEN2;
    f->whole_words_first = !is_spm && f->pre == PRE_LLAMA3;
    f->add_bos = is_spm || f->pre == PRE_LLAMA3;
    f->adds_space = is_spm;
    if ((st = read_flag(r, KEY("add_bos_token"), &f->add_bos)) != OK) return st;
    if ((st = read_flag(r, KEY("add_eos_token"), &f->add_eos)) != OK) return st;
    if ((st = read_flag(r, KEY("add_space_prefix"), &f->adds_space)) != OK) return st;
    st = read_flag(r, key_space_everywhere, &f->adds_space_everywhere);
    if (st == OK) st = read_flag(r, key_missing_space, &f->adds_missing_space);
    if (st != OK) return st;
    return read_flag(r, KEY("remove_extra_whitespaces"), &f->trims_spaces);
}

enum status tokenizer_gguf_read(struct tokenizer_facts *facts, const struct gguf *g,
                                const char *pre, const char *name, struct arena *arena,
                                struct error *err) {
    struct reader r = {.facts = facts, .g = g, .name = name, .arena = arena, .err = err};
    enum status st;

    *facts = (struct tokenizer_facts){
        .name = name, .tokens_key = KEY("tokens"), .merges_key = KEY("merges")};
    if ((st = read_family(&r)) != OK) return st;
    if (facts->family == FAMILY_BPE && (st = read_pre(&r, pre)) != OK) return st;
    if ((st = read_texts(&r)) != OK) return st;
    if ((st = read_kinds(&r)) != OK) return st;
    if ((st = read_takes(&r)) != OK) return st;
    if ((st = read_scores(&r)) != OK) return st;
    if ((st = read_merges(&r)) != OK) return st;
    if ((st = read_ids(&r)) != OK) return st;
    return read_flags(&r);
}

enum status tokenizer_from_gguf(struct tokenizer *t, const struct gguf *g, const char *pre,
                                const char *name, struct arena *arena, struct error *err) {
    struct tokenizer_facts facts;
    struct arena scratch;

    *t = (struct tokenizer){0};
    arena_init(&scratch, arena->limit);
    arena_fail_after(&scratch, arena->allocs_left); // tests count the allocations of both
    enum status st = tokenizer_gguf_read(&facts, g, pre, name, &scratch, err);
    arena_fail_after(arena, scratch.allocs_left);
    if (st == OK) st = tokenizer_init(t, &facts, arena, &scratch, err);
    arena_free(&scratch);
    return st;
}
