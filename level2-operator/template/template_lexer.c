// Where text ends, where tags end, and which white space goes with them.
#include "level2-operator/template/template_lexer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/utf8.h"
#include "level2-operator/template/template_text.h"

enum status template_refuse(struct error *err, enum status code, int line,
                            const char *format, ...) {
    char what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return error_set_param(err, code, "messages", "chat template, line %d: %s", line, what);
}

void lexer_init(struct lexer *l, const char *source, size_t n_bytes) {
    *l = (struct lexer){.source = source, .n_bytes = n_bytes, .line = 1};
}

static size_t count_left(const struct lexer *l) {
    return l->n_bytes - l->at;
}

static bool stands_at(const struct lexer *l, size_t at, const char *string) {
    size_t n = strlen(string);
    return at <= l->n_bytes && n <= l->n_bytes - at &&
           memcmp(l->source + at, string, n) == 0;
}

static void advance_to(struct lexer *l, size_t at) {
    for (; l->at < at; l->at++) l->line += l->source[l->at] == '\n';
}

static size_t skip_space(const struct lexer *l, size_t at) {
    size_t n_used;
    while (at < l->n_bytes &&
           text_is_space(utf8_next(l->source + at, l->n_bytes - at, &n_used)))
        at += n_used;
    return at;
}

// ---- outside of tags ----------------------------------------------------------------------------

// The next "{{", "{%" or "{#"; the end of the source if there is none.
static size_t find_tag(const struct lexer *l) {
    for (size_t at = l->at; at + 1 < l->n_bytes; at++) {
        if (l->source[at] == '{' && strchr("{%#", l->source[at + 1]) && l->source[at + 1])
            return at;
    }
    return l->n_bytes;
}

// Where text that begins at `begin` ends, if the tag at `tag` takes the white space before it.
static size_t trim_before_tag(const struct lexer *l, size_t begin, size_t tag) {
    struct text text = text_own("");
    text.bytes = l->source + begin;
    text.n_bytes = tag - begin;
    if (stands_at(l, tag + 2, "-"))
        return begin + text_strip(text, NULL, TEXT_RIGHT).n_bytes;
    if (stands_at(l, tag + 2, "+") || stands_at(l, tag, "{{")) return tag;

    size_t line = tag; // the first byte of the tag's line, if it lies in this text
    while (line > begin && l->source[line - 1] != '\n') line--;
    bool is_line_start = line == 0 || l->source[line - 1] == '\n';
    return is_line_start && skip_space(l, line) >= tag ? line : tag;
}

// Behind "%}" or "#}" at `at`. A minus before it takes all white space, a plus none, else it is one
// line end.
static size_t skip_after_tag(const struct lexer *l, size_t at, char sign) {
    at += 2;
    if (sign == '-') return skip_space(l, at);
    return sign != '+' && stands_at(l, at, "\n") ? at + 1 : at;
}

static size_t skip_sign(const struct lexer *l, size_t at) {
    return stands_at(l, at, "-") || stands_at(l, at, "+") ? at + 1 : at;
}

static enum status skip_comment(struct lexer *l, struct error *err) {
    size_t begin = skip_sign(l, l->at + 2), end = begin;
    while (end < l->n_bytes && !stands_at(l, end, "#}")) end++;
    if (end >= l->n_bytes)
        return template_refuse(err, ERR_FORMAT, l->line, "a comment without an end");
    char sign = end > begin ? l->source[end - 1] : ' ';
    advance_to(l, skip_after_tag(l, end, sign));
    return OK;
}

// Behind a block that is just this word: {%- raw -%}. 0: it is another one.
static size_t match_word_block(const struct lexer *l, size_t tag, const char *word,
                               char *sign) {
    if (!stands_at(l, tag, "{%")) return 0;
    size_t at = skip_space(l, skip_sign(l, tag + 2));
    if (!stands_at(l, at, word)) return 0;
    at = skip_space(l, at + strlen(word));
    *sign = at < l->n_bytes ? l->source[at] : ' ';
    at = skip_sign(l, at);
    return stands_at(l, at, "%}") ? at : 0;
}

static void set_text(const struct lexer *l, struct lexeme *t, size_t begin, size_t end) {
    t->type = LEXEME_TEXT;
    t->bytes = l->source + begin;
    t->n_bytes = end - begin;
}

// Text up to {% endraw %}, whatever stands in it. l is behind {% raw %}.
static enum status read_raw(struct lexer *l, struct lexeme *t, struct error *err) {
    size_t begin = l->at;
    char sign;
    if (begin == l->n_bytes) {
        t->type = LEXEME_FILE_END;
        return OK;
    }
    for (size_t at = begin; at < l->n_bytes; at++) {
        size_t end = match_word_block(l, at, "endraw", &sign);
        if (!end) continue;
        set_text(l, t, begin, trim_before_tag(l, begin, at));
        advance_to(l, skip_after_tag(l, end, sign));
        l->place = OUTSIDE;
        return OK;
    }
    return template_refuse(err, ERR_FORMAT, l->line, "raw without endraw");
}

static void begin_tag(struct lexer *l, struct lexeme *t) {
    bool is_print = stands_at(l, l->at, "{{");
    char sign;
    size_t raw = match_word_block(l, l->at, "raw", &sign);

    set_text(l, t, l->at, l->at); // for raw: nothing yet
    if (raw) {
        advance_to(l, sign == '-' ? skip_space(l, raw + 2) : raw + 2);
        l->place = IN_RAW;
        return;
    }
    t->type = is_print ? LEXEME_PRINT : LEXEME_BLOCK;
    l->place = is_print ? IN_PRINT : IN_BLOCK;
    advance_to(l, skip_sign(l, l->at + 2));
}

static enum status read_outside(struct lexer *l, struct lexeme *t, struct error *err) {
    for (;;) {
        size_t begin = l->at, tag = find_tag(l);
        if (begin == l->n_bytes) {
            t->type = LEXEME_FILE_END;
            return OK;
        }
        if (tag > begin) { // the tag itself comes next
            size_t end = tag < l->n_bytes ? trim_before_tag(l, begin, tag) : tag;
            advance_to(l, tag);
            set_text(l, t, begin, end);
            return OK;
        }
        if (!stands_at(l, tag, "{#")) break;
        enum status st = skip_comment(l, err);
        if (st) return st;
    }
    begin_tag(l, t);
    return OK;
}

// ---- inside of tags -----------------------------------------------------------------------------

static bool ends_tag(struct lexer *l, struct lexeme *t) {
    size_t end = skip_sign(l, l->at);
    bool is_block = l->place == IN_BLOCK;
    char sign = l->source[l->at];

    if (l->n_open > 0 || !stands_at(l, end, is_block ? "%}" : "}}")) return false;
    if (!is_block && sign == '+') return false; // "+}}" is no end
    t->type = is_block ? LEXEME_BLOCK_END : LEXEME_PRINT_END;
    if (is_block) {
        advance_to(l, skip_after_tag(l, end, sign));
    } else {
        advance_to(l, sign == '-' ? skip_space(l, end + 2) : end + 2);
    }
    l->place = OUTSIDE;
    return true;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static void read_name(struct lexer *l, struct lexeme *t) {
    t->type = LEXEME_NAME;
    while (t->n_bytes < count_left(l) && is_word(t->bytes[t->n_bytes])) t->n_bytes++;
}

// Digits, and a line between two of them: 1_000.
static size_t skip_digits(const char *bytes, size_t n_bytes, size_t at) {
    for (; at < n_bytes; at++) {
        bool is_line = bytes[at] == '_' && at > 0 && is_digit(bytes[at - 1]) &&
                       at + 1 < n_bytes && is_digit(bytes[at + 1]);
        if (!is_digit(bytes[at]) && !is_line) break;
    }
    return at;
}

// 12, 1.5, 2e3, 1.5e-3. A point without a digit behind it is the sign of a field.
static enum status read_number(struct lexer *l, struct lexeme *t, struct error *err) {
    char copy[64];
    size_t n_left = count_left(l), n = skip_digits(t->bytes, n_left, 0), whole = n;

    if (n + 1 < n_left && t->bytes[n] == '.' && is_digit(t->bytes[n + 1]))
        n = skip_digits(t->bytes, n_left, n + 1);
    if (n + 1 < n_left && (t->bytes[n] == 'e' || t->bytes[n] == 'E')) {
        size_t digits = n + 1 + (t->bytes[n + 1] == '-' || t->bytes[n + 1] == '+');
        size_t end = skip_digits(t->bytes, n_left, digits);
        if (end > digits) n = end;
    }
    if (n >= sizeof(copy))
        return template_refuse(err, ERR_FORMAT, l->line, "a number with too many digits");
    size_t n_copied = 0;
    for (size_t i = 0; i < n; i++)
        if (t->bytes[i] != '_') copy[n_copied++] = t->bytes[i];
    copy[n_copied] = '\0';
    t->n_bytes = n;
    t->type = n == whole ? LEXEME_INT : LEXEME_REAL;
    t->real = strtod(copy, NULL);
    errno = 0;
    t->integer = strtoll(copy, NULL, 10);
    if (t->type == LEXEME_INT && errno)
        return template_refuse(err, ERR_FORMAT, l->line, "%s is too large a number", copy);
    return OK;
}

static enum status read_string(struct lexer *l, struct lexeme *t, struct error *err) {
    size_t n_left = count_left(l), n = 1;
    while (n < n_left && t->bytes[n] != t->bytes[0]) n += t->bytes[n] == '\\' ? 2 : 1;
    if (n >= n_left)
        return template_refuse(err, ERR_FORMAT, l->line, "a string without an end");
    t->type = LEXEME_STRING;
    t->bytes++;
    t->n_bytes = n - 1;
    advance_to(l, l->at + n + 1);
    return OK;
}

static bool read_sign(struct lexer *l, struct lexeme *t) {
    static const char *const pairs[] = {"==", "!=", ">=", "<=", "//", "**"};
    t->type = LEXEME_SIGN;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        if (stands_at(l, l->at, pairs[i])) t->n_bytes = 2;
    }
    if (t->n_bytes == 0) t->n_bytes = strchr("+-/*%~[](){}><=.:|,", *t->bytes) && *t->bytes;
    if (t->n_bytes == 1) {
        l->n_open += strchr("([{", *t->bytes) != NULL;
        l->n_open -= strchr(")]}", *t->bytes) != NULL;
    }
    return t->n_bytes > 0 && l->n_open >= 0;
}

static enum status read_inside(struct lexer *l, struct lexeme *t, struct error *err) {
    enum status st = OK;

    advance_to(l, skip_space(l, l->at));
    t->line = l->line;
    if (l->at == l->n_bytes)
        return template_refuse(err, ERR_FORMAT, l->line, "a tag without an end");
    if (ends_tag(l, t)) return OK;

    t->bytes = l->source + l->at;
    if (*t->bytes == '"' || *t->bytes == '\'') return read_string(l, t, err);
    if (is_digit(*t->bytes)) {
        st = read_number(l, t, err);
    } else if (is_word(*t->bytes)) {
        read_name(l, t);
    } else if (!read_sign(l, t)) {
        st = template_refuse(err, ERR_FORMAT, l->line, "unexpected '%c'", *t->bytes);
    }
    advance_to(l, l->at + t->n_bytes);
    return st;
}

enum status lexer_next(struct lexer *l, struct lexeme *t, struct error *err) {
    *t = (struct lexeme){.line = l->line, .bytes = l->source + l->at};
    switch (l->place) {
    case OUTSIDE:
        return read_outside(l, t, err);
    case IN_RAW:
        return read_raw(l, t, err);
    default:
        return read_inside(l, t, err);
    }
}
