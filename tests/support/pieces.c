// The vocabulary of a dozen pieces.
#include "tests/support/pieces.h"

static struct token_piece pieces[PIECE_COUNT] = {
    {"The quick br", 12, TOKEN_NORMAL },
    {"own",          3,  TOKEN_NORMAL },
    {" fox",         4,  TOKEN_NORMAL },
    {"\xF0\x9F\x98", 3,  TOKEN_NORMAL },
    {"\x80",         1,  TOKEN_NORMAL },
    {"E",            1,  TOKEN_NORMAL },
    {"N",            1,  TOKEN_NORMAL },
    {"D",            1,  TOKEN_NORMAL },
    {"<|end|>",      7,  TOKEN_CONTROL},
    {"\xC3\xA9",     2,  TOKEN_NORMAL },
    {"",             1,  TOKEN_NORMAL },
    {"\xFF",         1,  TOKEN_NORMAL },
};

struct tokenizer pieces_tokenizer(void) {
    return (struct tokenizer){.pieces = pieces, .n_vocab = PIECE_COUNT};
}
