// The table of symbols, and both ways through it.
#include "level2-operator/tokenizer/byte_symbols.h"

#include <stdbool.h>
#include <utf8proc.h>

#include "common/utf8.h"

void byte_symbols_init(struct byte_symbols *s) {
    int32_t n_taken = 0;
    for (int i = 0; i < N_BYTE_SYMBOLS; i++) s->byte_of[i] = -1;
    for (int byte = 0; byte < 256; byte++) {
        bool is_printable = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);
        s->symbol[byte] = is_printable ? byte : 256 + n_taken++;
        s->byte_of[s->symbol[byte]] = (int16_t)byte;
    }
}

size_t byte_symbols_spell(const struct byte_symbols *s, unsigned char byte, char out[2]) {
    // symbols are below U+0800: at most two bytes
    return (size_t)utf8proc_encode_char(s->symbol[byte], (utf8proc_uint8_t *)out);
}

size_t byte_symbols_decode(const struct byte_symbols *s, char *out, const char *text,
                           size_t n_bytes) {
    size_t n = 0;
    for (size_t pos = 0, n_used; pos < n_bytes; pos += n_used) {
        int32_t c = utf8_next(text + pos, n_bytes - pos, &n_used);
        if (c < 0 || c >= N_BYTE_SYMBOLS || s->byte_of[c] < 0) return 0;
        out[n++] = (char)s->byte_of[c];
    }
    return n;
}
