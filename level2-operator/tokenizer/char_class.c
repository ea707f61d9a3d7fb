// Classes of characters: a table for ASCII, Unicode's categories for the rest.
#include "level2-operator/tokenizer/char_class.h"

#include <utf8proc.h>

#include "common/utf8.h"

enum { E = CLASS_LINE, S = CLASS_SPACE, L = CLASS_LETTER, N = CLASS_NUMBER };
enum { P = CLASS_SIGN, o = CLASS_OTHER };

// The back quote is no \p{P} and not in the list of signs; the controls FS to US are no space.
const uint8_t char_class_ascii[128] = {
    o, o, o, o, o, o, o, o, o, S, E, S, S, E, o, o, // 00: \t \n \v \f \r
    o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, // 10
    S, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, // 20:  !"#$%&'()*+,-./
    N, N, N, N, N, N, N, N, N, N, P, P, P, P, P, P, // 30: 0123456789:;<=>?
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, // 40: @ABC...
    L, L, L, L, L, L, L, L, L, L, L, P, P, P, P, P, // 50: ...XYZ[\]^_
    o, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, // 60: `abc...
    L, L, L, L, L, L, L, L, L, L, L, P, P, P, P, o, // 70: ...xyz{|}~
};

bool char_is_wide_space(int32_t c) {
    utf8proc_category_t category = utf8proc_category(c);
    return c == 0x85 || category == UTF8PROC_CATEGORY_ZS ||
           category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

enum char_class char_class_wide(const char *text, size_t n_bytes, size_t *n_used) {
    int32_t c = utf8_next(text, n_bytes, n_used);
    if (c < 0) return CLASS_OTHER;
    if (char_is_wide_space(c)) return CLASS_SPACE;
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
        return CLASS_LETTER;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return CLASS_NUMBER;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
        return CLASS_SIGN;
    default:
        return CLASS_OTHER;
    }
}
