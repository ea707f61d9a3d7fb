// tokenizer.json and tokenizer_config.json of a model folder, as the keys that tokenizer_gguf.h reads. A
// tokenizer there is a chain of parts, each a small program by name; the few chains that our families
// (pretokenize.h, spm.h) compute are recognised, every other is refused by name: one rule passed over
// would give other tokens than in training, and nobody would see it.
//
//   model           BPE with vocab and merges; byte_fallback makes it SentencePiece's
//   added_tokens    special: control; else user-defined
//   normalizer, pre_tokenizer, post_processor    tokenizer_rules.h
//
// SentencePiece's scores are not in the file, but its merges are, best first: a token's score is the
// number of the first merge that makes it, below zero.
#ifndef LEVEL2_TOKENIZER_JSON_H
#define LEVEL2_TOKENIZER_JSON_H

#include <jansson.h>

#include "level2-operator/gguf/key_list.h"

// n_vocab is the model's: ids without a token become unused ones, and added tokens from there on are
// those of a larger sibling. config may be NULL. ERR_FORMAT, ERR_UNSUPPORTED, ERR_LIMIT, ERR_MEMORY.
// A pre_tokenizer that is not recognised is no error yet: the key that names it says so, and whoever
// opens the model may name another.
enum status tokenizer_json_read(struct key_list *keys, const json_t *tokenizer,
                                const json_t *config, int n_vocab, const char *folder,
                                struct error *err);

#endif
