// String constants: what a backslash means in Python.
#include "level2-operator/template/template_parser.h"

#include <string.h>

#include "common/utf8.h"

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

// Up to n_max digits from *at on; their number must be n_min at least, else -1.
static int32_t read_digits(const struct lexeme *s, size_t *at, int base, int n_min,
                           int n_max) {
    uint32_t code = 0;
    int n = 0;
    for (; n < n_max && *at < s->n_bytes && digit_of(s->bytes[*at]) < base; n++)
        code = code * (uint32_t)base + (uint32_t)digit_of(s->bytes[(*at)++]);
    bool is_character = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
    return n >= n_min && is_character ? (int32_t)code : -1;
}

// The character after a backslash at *at - 1. -1: refused. -2: the backslash stands for itself.
static int32_t read_escape(const struct lexeme *s, size_t *at) {
    static const char names[] = "abfnrtv\\'\"", meanings[] = "\a\b\f\n\r\t\v\\'\"";
    const char *name = strchr(names, s->bytes[*at]);

    if (name && *name) {
        (*at)++;
        return meanings[name - names];
    }
    switch (s->bytes[*at]) {
    case 'x':
        ++*at;
        return read_digits(s, at, 16, 2, 2);
    case 'u':
        ++*at;
        return read_digits(s, at, 16, 4, 4);
    case 'U':
        ++*at;
        return read_digits(s, at, 16, 8, 8);
    case 'N':
        return -1; // names of Unicode
    default:
        return digit_of(s->bytes[*at]) < 8 ? read_digits(s, at, 8, 1, 3) : -2;
    }
}

struct text parse_literal(struct parser *p, const struct lexeme *s) {
    struct text_builder b;
    struct text whole = {.bytes = s->bytes, .n_bytes = s->n_bytes, .is_own = true};

    if (text_find(whole, text_own("\\"), 0) == SIZE_MAX) return whole;
    text_builder_init(&b, p->pool, s->n_bytes * 2);
    for (size_t at = 0; at < s->n_bytes && !p->st;) {
        size_t begin = at;
        while (at < s->n_bytes && s->bytes[at] != '\\') at++;
        text_put(&b, text_slice(whole, begin, at));
        if (at++ >= s->n_bytes) break;
        if (s->bytes[at] == '\n') { // a line that goes on
            at++;
            continue;
        }
        int32_t c = read_escape(s, &at);
        if (c == -1) parser_fail(p, ERR_FORMAT, "a string with a wrong escape");
        if (c == -2) text_put(&b, text_own("\\"));
        if (c >= 0) text_put_character(&b, c, true);
    }
    if (b.failed) parser_fail(p, ERR_MEMORY, "no memory for a string");
    return text_built(&b);
}
