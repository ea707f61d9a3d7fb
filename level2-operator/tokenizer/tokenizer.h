// Text to token ids and back, by the rules that came with the model.
//
//   text ──special tokens──▶ stretches ──words──▶ words ──merging──▶ ids
//          special.h                    BPE: nfc.h, pretokenize.h    bpe.h
//                                       SPM: spaces, spm_next        spm.h
//
// BPE is byte-level: bytes whose symbol the vocabulary lacks are dropped, as other engines do. SPM
// spells them by byte tokens, or puts the unknown token in their place.
//
// do:    fill struct tokenizer_facts from another container to read its tokenizer
// don't: free what facts.tokens point to before the tokenizer
#ifndef LEVEL2_TOKENIZER_H
#define LEVEL2_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/arena.h"
#include "common/status.h"
#include "common/token.h"
#include "level2-operator/tokenizer/bpe.h"
#include "level2-operator/tokenizer/nfc.h"
#include "level2-operator/tokenizer/pretokenize.h"
#include "level2-operator/tokenizer/special.h"
#include "level2-operator/tokenizer/spm.h"
#include "level2-operator/tokenizer/tokenizer_facts.h"

struct token_piece {
    const char *bytes; // what the id stands for in text, not terminated
    uint32_t n_bytes;
    enum token_kind kind;
};

struct tokenizer {
    // owned by the arena given at init; pieces that need no decoding lie where the facts had them
    struct token_piece *pieces; // (n_vocab)
    struct special special;
    struct bpe bpe;       // FAMILY_BPE
    struct table by_text; // whole_words_first: what a normal token stands for -> id
    struct spm spm;       // FAMILY_SPM
    bool *is_end;         // (n_vocab): the end-of-generation set
    // facts
    int n_vocab;
    enum tokenizer_family family;
    enum pretokenizer pre;
    token_id bos, eos, unknown; // -1: none
    bool is_nfc, whole_words_first, adds_space, trims_spaces, add_bos, add_eos;
    bool adds_space_everywhere, adds_missing_space; // see struct tokenizer_facts
};

// A stretch of text in which control tokens are markup. Outside of all stretches the same letters
// are plain text, so that no user can start a system turn. A stretch does not cut words: only a
// token found does. User-defined tokens are found everywhere, as they were in training.
struct markup {
    size_t begin, end; // bytes; stretches ascend and do not overlap
};

// scratch holds what is needed only here. On failure *t is zero; err names file and key.
// The end-of-generation set: facts->ends, and every control token whose text is known to end a turn
// or a text (<|im_end|>, <|endoftext|>, <end_of_turn>, ...: tokenizer_init.c).
enum status tokenizer_init(struct tokenizer *t, const struct tokenizer_facts *facts,
                           struct arena *arena, struct arena *scratch, struct error *err);

// Upper bound for the ids of a text: one per byte of what is merged, SPM's space (perhaps behind each
// special token), bos and eos.
static inline size_t tokenizer_max_ids(const struct tokenizer *t, size_t n_bytes) {
    size_t growth = t->is_nfc ? NFC_GROWTH : t->adds_space_everywhere ? 2 : 1;
    return growth * n_bytes + 3;
}

// Upper bound for what encoding takes from an arena, its ids included, whatever the text: 2 bytes for each
// of what is merged, and for each of the longest word 28 (BPE) or 40 (SPM, where a text without spaces
// is one word). A work space that is too short is left behind for one of twice the size, so that words
// which grow and grow take that for each byte of theirs twice.
static inline size_t tokenizer_work_bytes(const struct tokenizer *t, size_t n_bytes) {
    enum { BPE_WORD = 28, SPM_WORD = 40, SHORT_TEXT = 64 << 10 };
    size_t word = t->family == FAMILY_BPE ? BPE_WORD : SPM_WORD;
    return (2 + 2 * word + sizeof(token_id)) * tokenizer_max_ids(t, n_bytes) + SHORT_TEXT;
}

enum { ADD_BOS = 1, ADD_EOS = 2 };

// Broken UTF-8 is kept: its bytes are encoded as they are.
// add: ADD_BOS puts bos first if the file asks for it and the text does not begin with it already;
// ADD_EOS the same behind it. A prompt that is to be continued wants no eos.
// Work memory comes from scratch: tokenizer_work_bytes, less the ids. ERR_MEMORY; ERR_LIMIT: a text of
// 350 MB or more.
enum status tokenizer_encode(const struct tokenizer *t, const char *text, size_t n_bytes,
                             const struct markup *markup, // (n_markup); NULL: no control
                             int n_markup,                // token is recognised anywhere
                             int add,
                             token_id *ids, // (tokenizer_max_ids)  out
                             int *n_ids, struct arena *scratch, struct error *err);

// The bytes of one id in the midst of a text; with_special false: control and unknown tokens are
// empty. id must be valid.
struct token_piece tokenizer_piece(const struct tokenizer *t, token_id id,
                                   bool with_special);

// A text from its first id on: the space that encoding puts in front of it is not shown, nor are
// spaces that encoding would have trimmed.
struct decoding {
    const struct tokenizer *t;
    bool with_special;
    bool drops_space; // of the next piece that is shown
};
struct decoding decoding_start(const struct tokenizer *t, bool with_special);
struct token_piece decoding_next(struct decoding *d, token_id id);

static inline bool tokenizer_is_end(const struct tokenizer *t, token_id id) {
    return t->is_end[id];
}

#endif
