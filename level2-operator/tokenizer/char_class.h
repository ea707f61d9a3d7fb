// What a character is to a pre-tokenizer. One bit each, so that a set of classes is a number and
// reads like the expression that it stands for: [^\s\p{L}\p{N}] is CLASS_SIGN | CLASS_OTHER.
#ifndef LEVEL2_CHAR_CLASS_H
#define LEVEL2_CHAR_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum char_class {
    CLASS_END = 0,         // of the text: in no set
    CLASS_LINE = 1 << 0,   // \r and \n
    CLASS_SPACE = 1 << 1,  // the rest of \s, Unicode's White_Space
    CLASS_LETTER = 1 << 2, // \p{L}
    CLASS_NUMBER = 1 << 3, // \p{N}
    CLASS_SIGN = 1 << 4,   // \p{P} and $+<=>^~|
    CLASS_OTHER = 1 << 5,  // all else, invalid bytes included

    CLASS_SPACES = CLASS_LINE | CLASS_SPACE, // \s
    CLASS_SIGNS = CLASS_SIGN | CLASS_OTHER   // [^\s\p{L}\p{N}]
};

extern const uint8_t char_class_ascii[128]; // most text is read from this table

// Of a character that is no ASCII, and of a byte that is no UTF-8; its length in *n_used.
enum char_class char_class_wide(const char *text, size_t n_bytes, size_t *n_used);

// Unicode's White_Space beyond ASCII: the next-line control, and all spaces and separators.
bool char_is_wide_space(int32_t code_point);

// The class of the character at pos, and its length (0 at the end).
static inline enum char_class char_class_at(const char *text, size_t n_bytes, size_t pos,
                                            size_t *n_used) {
    *n_used = pos < n_bytes;
    if (pos >= n_bytes) return CLASS_END;
    unsigned char byte = (unsigned char)text[pos];
    if (byte < 128) return (enum char_class)char_class_ascii[byte];
    return char_class_wide(text + pos, n_bytes - pos, n_used);
}

#endif
