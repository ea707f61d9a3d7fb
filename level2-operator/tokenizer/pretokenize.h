// Cuts text into words before BPE, as the model's training did. Hand-written scanners over Unicode
// categories; each stands for regular expressions, given at its function.
//
// do:    add a family as a scanner, with its expression, and judge it by tests/reference/tokenizer.py
// don't: guess a family that is not in the list: wrong words are wrong tokens
#ifndef LEVEL2_PRETOKENIZE_H
#define LEVEL2_PRETOKENIZE_H

#include <stdbool.h>
#include <stddef.h>

enum pretokenizer {
    PRE_SMOLLM, // digits one by one, then the GPT-2 pattern
    PRE_GPT2,   // the GPT-2 pattern alone
    PRE_LLAMA3, // a word takes one sign before it; up to three digits; line ends stay with signs
    PRE_QWEN2,   // the same with single digits
    PRE_DEFAULT, // punctuation by itself, the GPT-2 pattern, digits by threes
    PRE_COUNT
};

// The kind that tokenizer.ggml.pre names; false: unknown.
bool pretokenizer_find(const char *name, size_t n_bytes, enum pretokenizer *pre);

// The names that are known, for a message.
extern const char pretokenizer_names[];

// Length of the first word of text[0 .. n_bytes), n_bytes >= 1; result >= 1. Invalid UTF-8 counts
// byte by byte as "other". Words never depend on what came before them.
size_t pretokenize_next(enum pretokenizer pre, const char *text, size_t n_bytes);

#endif
