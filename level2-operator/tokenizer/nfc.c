// utf8proc composes; here texts are cut into pieces that it can compose one by one. It puts marks
// in order by exchanging neighbours, so a letter with a million marks would take a day.
#include "level2-operator/tokenizer/nfc.h"

#include <string.h>
#include <utf8proc.h>

#include "common/utf8.h"

enum {
    FIRST_COMPOSED = 0x300, // below it nothing changes or joins what stands before
    NFC_CHUNK_BYTES = 512,
    CHUNK_CHARACTERS = 4 * NFC_CHUNK_BYTES // one character is at most four when taken apart
};

// Never changes, and never joins a character before it. There are more; these end most chunks.
static bool stands_alone(int32_t c) {
    return c < FIRST_COMPOSED || (c >= 0x3400 && c <= 0x9fff) ||
           (c >= 0xac00 && c <= 0xd7a3);
}

bool nfc_is_sure(const char *text, size_t n_bytes) {
    for (size_t i = 0; i < n_bytes; i++)
        if ((unsigned char)text[i] >= 0xcc) return false; // starts U+0300 or a later one
    return true;
}

// Where the chunk ends that starts at text: before a character that stands alone, or a broken byte.
static size_t chunk_end(const char *text, size_t n_bytes) {
    size_t end = 0, n_used;
    if (utf8_next(text, n_bytes, &n_used) < 0) return 0;
    for (end = n_used; end < n_bytes; end += n_used) {
        int32_t c = utf8_next(text + end, n_bytes - end, &n_used);
        if (c < 0 || stands_alone(c) || end + n_used > NFC_CHUNK_BYTES) break;
    }
    return end;
}

static size_t compose(char *out, const char *text, size_t n_bytes) {
    const utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE;
    utf8proc_int32_t characters[CHUNK_CHARACTERS + 1]; // utf8proc ends them with a zero
    utf8proc_ssize_t n =
        utf8proc_decompose((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)n_bytes,
                           characters, CHUNK_CHARACTERS, options);
    if (n < 0 || n > CHUNK_CHARACTERS) { // cannot be: they are UTF-8, and fit
        memcpy(out, text, n_bytes);
        return n_bytes;
    }
    n = utf8proc_normalize_utf32(characters, n, options);
    size_t n_out = 0;
    for (utf8proc_ssize_t i = 0; i < n; i++)
        n_out +=
            (size_t)utf8proc_encode_char(characters[i], (utf8proc_uint8_t *)out + n_out);
    return n_out;
}

size_t nfc_normalize(char *out, const char *text, size_t n_bytes) {
    size_t n_out = 0;
    for (size_t pos = 0, n; pos < n_bytes; pos += n) {
        n = chunk_end(text + pos, n_bytes - pos);
        if (n > 1) {
            n_out += compose(out + n_out, text + pos, n);
            continue;
        }
        out[n_out++] = text[pos]; // ASCII by itself, or a broken byte
        n = 1;
    }
    return n_out;
}
