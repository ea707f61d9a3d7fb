// The parts of a tokenizer.json that work on text, recognised as a whole:
//
//   normalizer      nothing; NFC; " " becomes "▁", perhaps with one in front
//   pre_tokenizer   ByteLevel (gpt-2); Digits, ByteLevel (smollm); Split by one of two expressions and
//                   ByteLevel (llama-bpe, qwen2); for SentencePiece nothing, Metaspace, or Split at " "
//   post_processor  which tokens stand around a text
#ifndef LEVEL2_TOKENIZER_RULES_H
#define LEVEL2_TOKENIZER_RULES_H

#include <jansson.h>
#include <stdbool.h>

struct tokenizer_rules {
    const char *pre; // as tokenizer.ggml.pre names it; NULL: not recognised. BPE
    bool is_nfc;     // BPE
    // SentencePiece: a space in front of a text; behind special tokens, too; only where there is none
    bool adds_space, adds_space_everywhere, adds_missing_space;
    bool adds_bos, adds_eos;
    const char *refused; // the part that is none of ours; NULL: all are
};

// Never fails: what is not recognised is said in the rules.
struct tokenizer_rules tokenizer_rules_of(const json_t *tokenizer, bool is_spm);

#endif
