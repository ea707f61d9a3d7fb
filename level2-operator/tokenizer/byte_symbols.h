// Byte-level vocabularies spell each byte as one printable character: "Ġthe" is " the" (Radford et
// al. 2019, GPT-2). Printable Latin-1 stands for itself; the 68 others (space, controls, soft hyphen)
// take the code points from 256 on, in order.
#ifndef LEVEL2_BYTE_SYMBOLS_H
#define LEVEL2_BYTE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

enum { N_BYTE_SYMBOLS = 256 + 68 }; // code points below this may be symbols of bytes

struct byte_symbols {
    int32_t symbol[256];             // byte -> code point
    int16_t byte_of[N_BYTE_SYMBOLS]; // code point -> byte, -1: no symbol
};

void byte_symbols_init(struct byte_symbols *s);

// The symbol of a byte in UTF-8: one or two bytes, returns how many.
size_t byte_symbols_spell(const struct byte_symbols *s, unsigned char byte, char out[2]);

// The bytes that text spells, at most n_bytes of them. 0: empty, or a character in it is no symbol.
size_t byte_symbols_decode(const struct byte_symbols *s, char *out, const char *text,
                           size_t n_bytes);

#endif
