// What a tokenizer is made of, whatever container the model came in. A reader fills it and checks
// what only it can see: types, lengths, ranges (tokenizer_gguf.h). tokenizer_init builds from it.
#ifndef LEVEL2_TOKENIZER_FACTS_H
#define LEVEL2_TOKENIZER_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/token.h"
#include "level2-operator/tokenizer/pretokenize.h"

enum token_kind { // numbers of tokenizer.ggml.token_type
    TOKEN_NORMAL = 1,
    TOKEN_UNKNOWN,
    TOKEN_CONTROL,      // markup: found only where the caller says that text is markup
    TOKEN_USER_DEFINED, // found in all text, before anything is merged
    TOKEN_UNUSED,
    TOKEN_BYTE // "<0x0A>", for what no other token spells
};

enum tokenizer_family {
    FAMILY_BPE, // byte-level: words, bytes as symbols, merges by rank ("gpt2")
    FAMILY_SPM // SentencePiece's BPE: characters, merges by the score of the result ("llama")
};

struct token_fact {
    const char *bytes; // as the file spells it ("Ġthe", "▁the"); outlives the tokenizer
    uint32_t n_bytes;
    enum token_kind kind;
    float score;                    // SPM: a merge with a higher one comes first
    bool takes_before, takes_after; // white space beside the token in a text goes with it
};

struct merge_fact { // spelled as the tokens are; may be freed after init
    const char *left, *right;
    uint32_t n_left, n_right;
};

struct tokenizer_facts {
    // for messages
    const char *name;                    // of the file
    const char *tokens_key, *merges_key; // where in it these stand
    // the vocabulary
    enum tokenizer_family family;
    const struct token_fact *tokens; // (n_vocab)
    int n_vocab;
    const struct merge_fact *merges; // (n_merges), best first; BPE
    int n_merges;
    token_id bos, eos, unknown; // -1: none
    const token_id *ends; // (n_ends): ids that end a turn or a text; -1 is passed over
    int n_ends;
    // BPE: before merging
    enum pretokenizer pre;
    bool is_nfc; // text is put into Unicode's form NFC
    // a word that is a token is not merged, whatever merges would give
    bool whole_words_first;
    // SPM: before merging
    bool adds_space;            // in front of a text, and dropped again when one is decoded
    bool adds_space_everywhere; // behind each special token as well
    bool adds_missing_space;    // only where the text does not begin with one
    bool trims_spaces;          // at both ends, and runs of spaces are one
    // around a text
    bool add_bos, add_eos;
};

#endif
