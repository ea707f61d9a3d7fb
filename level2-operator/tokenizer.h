// Text to token ids and back, by the rules that the model file carries.
//
//   text ──special tokens──▶ stretches ──pre-tokenizer──▶ words ──byte-level BPE──▶ ids
//
// Byte-level: each byte of the text stands for one printable character of the vocabulary (Radford
// et al. 2019, GPT-2). Bytes whose symbol the vocabulary lacks are dropped, as other engines do.
#ifndef LEVEL2_TOKENIZER_H
#define LEVEL2_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"
#include "common/table.h"
#include "common/token.h"
#include "level2-operator/bpe.h"
#include "level2-operator/gguf.h"
#include "level2-operator/pretokenize.h"

enum token_kind { // numbers of tokenizer.ggml.token_type
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN,
    TOKEN_CONTROL,
    TOKEN_USER_DEFINED,
    TOKEN_UNUSED,
    TOKEN_BYTE
};

struct token_piece {
    const char *bytes; // what the id stands for in text, not terminated
    uint32_t n_bytes;
    enum token_kind kind;
};

struct tokenizer {
    // owned by the arena given at init; pieces that need no decoding and the keys of by_text lie in
    // the file's bytes, which must outlive the tokenizer
    struct token_piece *pieces; // (n_vocab)
    struct table by_text;       // a token as the file spells it -> id; the lowest of equals
    struct bpe bpe;
    bool starts_special[256]; // bytes that a control or user-defined token begins with
    uint32_t
        *special_bytes; // (n_special_bytes): lengths that such tokens have, longest first
    int n_special_bytes;
    bool *is_end; // (n_vocab): the end-of-generation set
    // read from the file
    int n_vocab;
    enum pretokenizer pre;
    token_id bos, eos, unknown; // -1: none
    bool add_bos;
};

// A stretch of text in which control tokens are markup. Outside of all stretches the same letters
// are plain text, so that no user can start a system turn. A stretch does not cut words: only a
// token found does. User-defined tokens are found everywhere, as they were in training.
struct markup {
    size_t begin, end; // bytes; stretches ascend and do not overlap
};

// pre: name of the pre-tokenizer in place of the file's, or NULL. A missing or unknown name is
// refused (ERR_UNSUPPORTED): guessing costs tokens and quality. name is for messages only.
// The end-of-generation set: the file's eos, eot and eom ids, and every control token whose text is
// known to end a turn or a text (<|im_end|>, <|endoftext|>, <|eot_id|>, ...: tokenizer_read.c).
enum status tokenizer_init(struct tokenizer *t, const struct gguf *g, const char *pre,
                           const char *name, struct arena *arena, struct error *err);

// Upper bound for the ids of a text: one per byte, and one for bos.
static inline size_t tokenizer_max_ids(size_t n_bytes) {
    return n_bytes + 1;
}

// ids needs room for tokenizer_max_ids(n_bytes). Work memory comes from scratch: 28 bytes per byte of
// the longest word, at most three times that when words keep growing. markup is (n_markup); NULL:
// no control token is recognised anywhere. Broken UTF-8 is kept: its bytes are encoded as they are.
// add_bos: puts bos first if the file asks for it and the text does not begin with it already.
enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n_bytes,
                             const struct markup *markup, int n_markup, bool add_bos,
                             token_id *ids, int *n_ids, struct arena *scratch,
                             struct error *err);

// The bytes of one id; with_special false: control and unknown tokens are empty. id must be valid.
struct token_piece tokenizer_piece(const struct tokenizer *t, token_id id,
                                   bool with_special);

static inline bool tokenizer_is_end(const struct tokenizer *t, token_id id) {
    return t->is_end[id];
}

#endif
