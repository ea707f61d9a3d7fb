// Pre-tokenizers as scanners: one look at each character, no regular-expression engine. Each
// function quotes the expression that it stands for; alternatives are tried in that order.
#include "level2-operator/tokenizer/pretokenize.h"

#include <string.h>

#include "level2-operator/tokenizer/char_class.h"

// Where the run of characters of these classes that starts at pos ends.
static size_t run_end(const char *text, size_t n_bytes, size_t pos, int classes) {
    size_t n_used;
    while (char_class_at(text, n_bytes, pos, &n_used) & classes) pos += n_used;
    return pos;
}

// A run of \s from the start of the text.
struct spaces {
    size_t end, last; // where it ends, and where its last character starts
    size_t line_end;  // behind the last \r or \n in it; 0: none
    enum char_class next;
};

static struct spaces spaces_scan(const char *text, size_t n_bytes) {
    struct spaces s = {0};
    size_t n_used;
    while ((s.next = char_class_at(text, n_bytes, s.end, &n_used)) & CLASS_SPACES) {
        s.last = s.end;
        s.end += n_used;
        if (s.next == CLASS_LINE) s.line_end = s.end;
    }
    return s;
}

// \s+(?!\S)|\s+    The last space is left for what follows, unless nothing does or it is the only one.
static size_t spaces_word(struct spaces s, int stop) {
    bool nothing_follows = s.next == CLASS_END || (s.next & stop);
    return nothing_follows || s.last == 0 ? s.end : s.last;
}

// 's|'t|'re|'ve|'m|'ll|'d
static size_t contraction(const char *text, size_t n_bytes) {
    static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
    if (text[0] != '\'') return 0;
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        size_t n = strlen(endings[i]);
        if (n <= n_bytes && memcmp(text, endings[i], n) == 0) return n;
    }
    return 0;
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)    Without case, the long s U+017F is an s.
static size_t contraction_any_case(const char *text, size_t n_bytes) {
    char folded[3] = {0}; // the longest ending; what follows it does not matter
    if (text[0] != '\'') return 0;
    if (n_bytes >= 3 && memcmp(text + 1, "\xc5\xbf", 2) == 0) return 3;
    for (size_t i = 0; i < 3 && i < n_bytes; i++) {
        bool is_capital = text[i] >= 'A' && text[i] <= 'Z';
        folded[i] = (char)(is_capital ? text[i] - 'A' + 'a' : text[i]);
    }
    return contraction(folded, n_bytes < 3 ? n_bytes : 3);
}

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// A character of the classes `stop` is the end of the text: it was cut off there before.
static size_t next_gpt2(const char *text, size_t n_bytes, int stop) {
    size_t n_first, n_second;
    enum char_class first = char_class_at(text, n_bytes, 0, &n_first), run = first;

    if (first & CLASS_SPACES) {
        run = char_class_at(text, n_bytes, n_first, &n_second);
        bool is_joined = text[0] == ' ' && run && !(run & (CLASS_SPACES | stop));
        if (!is_joined) return spaces_word(spaces_scan(text, n_bytes), stop);
    } else {
        size_t n = contraction(text, n_bytes);
        if (n) return n;
        n_first = 0;
    }
    int classes = run & CLASS_SIGNS ? CLASS_SIGNS : run;
    return run_end(text, n_bytes, n_first, classes & ~stop);
}

// \p{N} on its own, then between the numbers the GPT-2 pattern.
static size_t next_smollm(const char *text, size_t n_bytes) {
    size_t n_first;
    if (char_class_at(text, n_bytes, 0, &n_first) == CLASS_NUMBER) return n_first;
    return next_gpt2(text, n_bytes, CLASS_NUMBER);
}

// Up to max_numbers characters of \p{N}.
static size_t numbers_end(const char *text, size_t n_bytes, int max_numbers) {
    size_t pos = 0, n_used;
    for (int i = 0; i < max_numbers; i++, pos += n_used)
        if (char_class_at(text, n_bytes, pos, &n_used) != CLASS_NUMBER) break;
    return pos;
}

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,max}
// | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
static size_t next_llama3(const char *text, size_t n_bytes, int max_numbers) {
    size_t n_first, n_second, n = contraction_any_case(text, n_bytes);
    if (n) return n;
    enum char_class first = char_class_at(text, n_bytes, 0, &n_first);
    if (first == CLASS_LETTER) return run_end(text, n_bytes, n_first, CLASS_LETTER);
    if (first == CLASS_NUMBER) return numbers_end(text, n_bytes, max_numbers);

    enum char_class second = char_class_at(text, n_bytes, n_first, &n_second);
    if (first != CLASS_LINE && second == CLASS_LETTER)
        return run_end(text, n_bytes, n_first, CLASS_LETTER);
    if ((first & CLASS_SIGNS) || (text[0] == ' ' && (second & CLASS_SIGNS)))
        return run_end(text, n_bytes, run_end(text, n_bytes, n_first, CLASS_SIGNS),
                       CLASS_LINE);
    struct spaces s = spaces_scan(text, n_bytes);
    return s.line_end ? s.line_end : spaces_word(s, 0);
}

// [0-9][0-9][0-9] on its own, in a run of \p{N}: what stands before the first three, or they.
static size_t threes_end(const char *text, size_t n_bytes) {
    size_t pos = 0, n_used, n_digits = 0;
    while (char_class_at(text, n_bytes, pos, &n_used) == CLASS_NUMBER) {
        pos += n_used;
        n_digits = n_used == 1 ? n_digits + 1 : 0; // numbers of one byte are ASCII digits
        if (n_digits == 3) return pos > 3 ? pos - 3 : 3;
    }
    return pos;
}

// Four expressions, each applied to what the one before has left whole:
//   [\p{P}$+<=>^~|]+    the GPT-2 pattern    \p{N}+    [0-9][0-9][0-9]
static size_t next_default(const char *text, size_t n_bytes) {
    size_t n_first, n_second;
    enum char_class first = char_class_at(text, n_bytes, 0, &n_first);
    if (first == CLASS_SIGN) return run_end(text, n_bytes, 0, CLASS_SIGN);
    if (first == CLASS_NUMBER) return threes_end(text, n_bytes);
    if (text[0] == ' ' && char_class_at(text, n_bytes, 1, &n_second) == CLASS_NUMBER)
        return 1;
    return next_gpt2(text, n_bytes, CLASS_SIGN);
}

const char pretokenizer_names[] = "smollm, gpt-2, llama-bpe, qwen2, default";

bool pretokenizer_find(const char *name, size_t n_bytes, enum pretokenizer *pre) {
    static const struct {
        const char *name;
        enum pretokenizer pre;
    } known[] = {
        {"smollm",    PRE_SMOLLM },
        {"gpt-2",     PRE_GPT2   },
        {"llama-bpe", PRE_LLAMA3 },
        {"llama3",    PRE_LLAMA3 },
        {"llama-v3",  PRE_LLAMA3 },
        {"qwen2",     PRE_QWEN2  },
        {"default",   PRE_DEFAULT},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strlen(known[i].name) != n_bytes || memcmp(known[i].name, name, n_bytes) != 0)
            continue;
        *pre = known[i].pre;
        return true;
    }
    return false;
}

size_t pretokenize_next(enum pretokenizer pre, const char *text, size_t n_bytes) {
    switch (pre) {
    case PRE_GPT2:
        return next_gpt2(text, n_bytes, 0);
    case PRE_LLAMA3:
        return next_llama3(text, n_bytes, 3);
    case PRE_QWEN2:
        return next_llama3(text, n_bytes, 1);
    case PRE_DEFAULT:
        return next_default(text, n_bytes);
    case PRE_SMOLLM:
    case PRE_COUNT:
        break;
    }
    return next_smollm(text, n_bytes);
}
