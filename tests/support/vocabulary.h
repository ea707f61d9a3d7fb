// A vocabulary made by hand, as a file that can be spoilt in one place, and the tokenizer read from it.
//
//   first tokens | one symbol for each byte but z and FF | he ll hell hello Ġw Ã©
#ifndef TESTS_SUPPORT_VOCABULARY_H
#define TESTS_SUPPORT_VOCABULARY_H

#include "level2-operator/tokenizer/tokenizer_gguf.h"
#include "tests/support/gguf_file.h"

enum { MAX_IDS = 4096 };
enum { END_OF_TEXT, IM_START, IM_END, UNKNOWN, X, XY, THINK, N_FIRST };
enum { N_MERGES = 6, N_VOCAB = N_FIRST + 254 + N_MERGES };

struct fixture {
    struct gguf_file file;
    struct bytes bytes;
    struct arena arena, scratch;
    struct gguf gguf;
    struct tokenizer t;
    struct error err;
    token_id ids[MAX_IDS];
    int n_ids;
};

// The file only, so that it can be changed.
void fixture_prepare(struct fixture *x);
void set_kind(struct gguf_file *f, token_id id, enum token_kind kind);
void set_merges(struct gguf_file *f, const char *const *rows, int n);

// Reads what was prepared. pre: see tokenizer_from_gguf.
enum status fixture_init(struct fixture *x, const char *pre);

// Both, and no failure.
void fixture_open(struct fixture *x);
void fixture_close(struct fixture *x);

#endif
