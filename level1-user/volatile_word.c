// Shapes, tried at each place where a word may begin.
#include "level1-user/volatile_word.h"

#include <string.h>

#include "common/utf8.h"

enum { MAX_WORD = 40 };

// d: a digit; x: a hexadecimal digit; all else is itself.
static const char *const shapes[] = {
    "dddd-dd-dd",
    "dd.dd.dddd",
    "dd/dd/dddd",
    "dd:dd",
    "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool fits(const char *text, const char *shape) {
    for (; *shape; shape++, text++) {
        bool is_hex = is_digit(*text) || (*text && strchr("abcdefABCDEF", *text));
        bool is_it = *shape == 'd'   ? is_digit(*text)
                     : *shape == 'x' ? is_hex
                                     : *text == *shape;
        if (!is_it) return false; // the zero at the end of text, too
    }
    return !is_digit(*text); // 10:055 is no time
}

static bool is_volatile(const char *text) {
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (fits(text, shapes[i])) return true;
    }
    return false;
}

bool volatile_word_find(struct volatile_word *w, const char *text) {
    size_t n = strlen(text);
    for (size_t at = 0; at < n / 2; at++) {
        bool is_inside = at > 0 && (is_digit(text[at - 1]) || is_letter(text[at - 1]));
        if (is_inside || !is_volatile(text + at)) continue;
        size_t n_word = strcspn(text + at, " \t\r\n");
        if (n_word > MAX_WORD) n_word = utf8_whole(text + at, MAX_WORD);
        if (n - at - n_word <= at) return false;
        *w = (struct volatile_word){at, n_word, n - at - n_word};
        return true;
    }
    return false;
}
