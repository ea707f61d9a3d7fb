// The tokenizer of a GGUF file: its metadata as facts, and the tokenizer built from them.
#ifndef LEVEL2_TOKENIZER_GGUF_H
#define LEVEL2_TOKENIZER_GGUF_H

#include "common/arena.h"
#include "common/status.h"
#include "level2-operator/gguf/gguf.h"
#include "level2-operator/tokenizer/tokenizer.h"
#include "level2-operator/tokenizer/tokenizer_facts.h"

// What the tokenizer of a model folder may say and GGUF has no key for: tokenizer_json.h writes these.
extern const char key_takes_spaces[];     // n_vocab bytes: bits of enum takes_spaces
extern const char key_space_everywhere[]; // flags of struct tokenizer_facts
extern const char key_missing_space[];
enum takes_spaces { TAKES_BEFORE = 1, TAKES_AFTER = 2 };

// pre: name of the pre-tokenizer in place of the file's, or NULL. A missing or unknown name is
// refused (ERR_UNSUPPORTED): guessing costs tokens and quality. SPM has none and ignores both.
// name: of the file, for messages. The facts point into the file's bytes and into arena.
enum status tokenizer_gguf_read(struct tokenizer_facts *facts, const struct gguf *g,
                                const char *pre, const char *name, struct arena *arena,
                                struct error *err);

// Reads and builds. The file's bytes must outlive the tokenizer; the facts do not.
enum status tokenizer_from_gguf(struct tokenizer *t, const struct gguf *g, const char *pre,
                                const char *name, struct arena *arena, struct error *err);

#endif
