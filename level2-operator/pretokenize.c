// Pre-tokenizers as scanners: one look at each character, no regular-expression engine. Each
// function quotes the expression that it stands for; alternatives are tried in that order.
#include "level2-operator/pretokenize.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "common/utf8.h"

enum char_class {
    CLASS_END,    // of the text
    CLASS_SPACE,  // \s: Unicode's White_Space
    CLASS_LETTER, // \p{L}
    CLASS_NUMBER, // \p{N}
    CLASS_OTHER   // all else, invalid bytes included
};

static bool is_space(int32_t c) {
    return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
           c == 0x205f || c == 0x3000;
}

static enum char_class class_of(int32_t c) {
    if (c < 0) return CLASS_OTHER;
    if (is_space(c)) return CLASS_SPACE;
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
    default:
        return CLASS_OTHER;
    }
}

// The class of the character at pos, and its length (0 at the end).
static enum char_class class_at(const char *text, size_t n_bytes, size_t pos,
                                size_t *n_used) {
    *n_used = 0;
    if (pos == n_bytes) return CLASS_END;
    return class_of(utf8_next(text + pos, n_bytes - pos, n_used));
}

// Where the run of characters of one class that starts at pos ends. *last: where its last
// character starts; *next: the class of what follows.
static size_t run_end(const char *text, size_t n_bytes, size_t pos, enum char_class run,
                      size_t *last, enum char_class *next) {
    size_t n_used;
    *last = pos;
    while ((*next = class_at(text, n_bytes, pos, &n_used)) == run) {
        *last = pos;
        pos += n_used;
    }
    return pos;
}

// 's|'t|'re|'ve|'m|'ll|'d
static size_t contraction(const char *text, size_t n_bytes) {
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        size_t n = strlen(endings[i]);
        if (n <= n_bytes && memcmp(text, endings[i], n) == 0) return n;
    }
    return 0;
}

// \p{N} on its own, then between the numbers
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// The text is cut at the numbers first: to a run of spaces, a number is the end of the text.
static size_t next_smollm(const char *text, size_t n_bytes) {
    size_t n_first, n_second, last;
    enum char_class next, first = class_at(text, n_bytes, 0, &n_first);

    if (first == CLASS_NUMBER) return n_first;
    if (first != CLASS_SPACE) {
        size_t n = contraction(text, n_bytes);
        return n ? n : run_end(text, n_bytes, 0, first, &last, &next);
    }
    enum char_class second = class_at(text, n_bytes, n_first, &n_second);
    if (text[0] == ' ' && (second == CLASS_LETTER || second == CLASS_OTHER))
        return run_end(text, n_bytes, 1, second, &last, &next);

    size_t end = run_end(text, n_bytes, 0, CLASS_SPACE, &last, &next);
    bool is_last_free = next == CLASS_END || next == CLASS_NUMBER || last == 0;
    return is_last_free ? end : last; // the last space belongs to what follows
}

bool pretokenizer_find(const char *name, size_t n_bytes, enum pretokenizer *pre) {
    static const char *const names[PRE_COUNT] = {[PRE_SMOLLM] = "smollm"};
    for (int i = 0; i < PRE_COUNT; i++) {
        if (strlen(names[i]) != n_bytes || memcmp(names[i], name, n_bytes) != 0) continue;
        *pre = (enum pretokenizer)i;
        return true;
    }
    return false;
}

size_t pretokenize_next(enum pretokenizer pre, const char *text, size_t n_bytes) {
    switch (pre) {
    case PRE_SMOLLM:
    case PRE_COUNT:
        break;
    }
    return next_smollm(text, n_bytes);
}
