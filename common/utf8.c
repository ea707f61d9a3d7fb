// UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
//
//   0xxxxxxx                               U+0000  .. U+007F
//   110xxxxx 10xxxxxx                      U+0080  .. U+07FF
//   1110xxxx 10xxxxxx 10xxxxxx             U+0800  .. U+FFFF    but D800 .. DFFF
//   11110xxx 10xxxxxx 10xxxxxx 10xxxxxx    U+10000 .. U+10FFFF
#include "common/utf8.h"

#include <string.h>

// What a first byte promises: how long the character is, and which second bytes keep it legal
// (RFC 3629, section 4). length 0: no character starts with it.
struct lead {
    size_t length;
    unsigned char low, high; // of the second byte
};

static struct lead lead_of(unsigned char c) {
    if (c < 0x80) return (struct lead){1, 0, 0};
    if (c < 0xc2) return (struct lead){0, 0, 0};
    if (c < 0xe0) return (struct lead){2, 0x80, 0xbf};
    if (c == 0xe0) return (struct lead){3, 0xa0, 0xbf}; // below: overlong
    if (c == 0xed) return (struct lead){3, 0x80, 0x9f}; // above: surrogates
    if (c < 0xf0) return (struct lead){3, 0x80, 0xbf};
    if (c == 0xf0) return (struct lead){4, 0x90, 0xbf}; // below: overlong
    if (c < 0xf4) return (struct lead){4, 0x80, 0xbf};
    if (c == 0xf4) return (struct lead){4, 0x80, 0x8f}; // above: past U+10FFFF
    return (struct lead){0, 0, 0};
}

// How many bytes of text fit the character that its first byte promises; 0: none can start here.
static size_t n_fitting(const unsigned char *text, size_t n_bytes, struct lead lead) {
    if (lead.length < 2) return lead.length;
    if (n_bytes < 2 || text[1] < lead.low || text[1] > lead.high) return 1;
    size_t n = 2;
    while (n < lead.length && n < n_bytes && (text[n] & 0xc0) == 0x80) n++;
    return n;
}

int32_t utf8_next(const char *text, size_t n_bytes, size_t *n_used) {
    const unsigned char *c = (const unsigned char *)text;
    struct lead lead = lead_of(c[0]);
    if (lead.length == 0 || n_fitting(c, n_bytes, lead) < lead.length) {
        *n_used = 1;
        return -1;
    }
    *n_used = lead.length;
    switch (lead.length) {
    case 1:
        return c[0];
    case 2:
        return (c[0] & 0x1f) << 6 | (c[1] & 0x3f);
    case 3:
        return (c[0] & 0x0f) << 12 | (c[1] & 0x3f) << 6 | (c[2] & 0x3f);
    default:
        return (c[0] & 0x07) << 18 | (c[1] & 0x3f) << 12 | (c[2] & 0x3f) << 6 |
               (c[3] & 0x3f);
    }
}

size_t utf8_whole(const char *text, size_t n_bytes) {
    const unsigned char *c = (const unsigned char *)text;
    for (size_t n_tail = 1; n_tail <= 3 && n_tail <= n_bytes; n_tail++) {
        const unsigned char *tail = c + n_bytes - n_tail;
        if ((*tail & 0xc0) == 0x80) continue; // not a first byte: look further back
        struct lead lead = lead_of(*tail);
        bool is_cut = lead.length > n_tail && n_fitting(tail, n_tail, lead) == n_tail;
        return is_cut ? n_bytes - n_tail : n_bytes;
    }
    return n_bytes;
}

bool utf8_valid(const char *text, size_t n_bytes) {
    size_t n_used;
    for (size_t i = 0; i < n_bytes; i += n_used) {
        if (utf8_next(text + i, n_bytes - i, &n_used) < 0) return false;
    }
    return true;
}

size_t utf8_repair(char *out, const char *text, size_t n_bytes) {
    size_t n_out = 0, n_used;
    for (size_t i = 0; i < n_bytes; i += n_used) {
        bool is_valid = utf8_next(text + i, n_bytes - i, &n_used) >= 0;
        const char *from = is_valid ? text + i : "\xef\xbf\xbd";
        size_t n = is_valid ? n_used : 3;
        memcpy(out + n_out, from, n);
        n_out += n;
    }
    return n_out;
}
