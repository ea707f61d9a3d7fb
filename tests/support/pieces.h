// A vocabulary of a dozen pieces, for tests of what becomes of tokens that are drawn. It decodes;
// it cannot encode.
#ifndef TESTS_SUPPORT_PIECES_H
#define TESTS_SUPPORT_PIECES_H

#include "level2-operator/tokenizer/tokenizer.h"

enum piece_id {
    PIECE_THE_QUICK_BR, // "The quick br"
    PIECE_OWN,          // "own"
    PIECE_FOX,          // " fox"
    PIECE_GRIN_3,       // the first three bytes of U+1F600
    PIECE_GRIN_1,       // the last one
    PIECE_E,
    PIECE_N,
    PIECE_D,
    PIECE_END_MARK, // "<|end|>", a control token
    PIECE_E_ACUTE,  // U+00E9, two bytes
    PIECE_NUL,      // one zero byte
    PIECE_FF,       // a byte that is never UTF-8
    PIECE_COUNT
};

enum { PIECE_MAX_BYTES = 12 };

struct tokenizer pieces_tokenizer(void);

#endif
