// Cuts text into words before BPE, as the model's training did. Hand-written scanners over Unicode
// categories; each stands for a regular expression, given at its function.
#ifndef LEVEL2_PRETOKENIZE_H
#define LEVEL2_PRETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

enum pretokenizer {
    PRE_SMOLLM, // digits one by one, then the GPT-2 pattern
    PRE_COUNT
};

// The kind that tokenizer.ggml.pre names; false: unknown.
bool pretokenizer_find(const char *name, size_t n_bytes, enum pretokenizer *pre);

// Length of the first word of text[0 .. n_bytes), n_bytes >= 1; result >= 1. Invalid UTF-8 counts
// byte by byte as "other". Words never depend on what came before them.
size_t pretokenize_next(enum pretokenizer pre, const char *text, size_t n_bytes);

#endif
