// A template's bytes to lexemes, one at a time (tokens are what models read). Outside of tags there is
// text; inside there are names, strings, numbers and signs. White space is decided here, as jinja2 does
// with trim_blocks and lstrip_blocks:
//
//   ␣␣␣␣{% if x %}↵     the spaces before a tag that begins its line go, and the line end behind it
//   a {%- if x -%} b    a minus takes all white space on its side; a plus keeps what is there
//   {{ x }}↵            a printed value takes nothing
#ifndef LEVEL2_TEMPLATE_LEXER_H
#define LEVEL2_TEMPLATE_LEXER_H

#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

enum lexeme_type {
    LEXEME_TEXT,      // outside of tags
    LEXEME_PRINT,     // {{
    LEXEME_PRINT_END, // }}
    LEXEME_BLOCK,     // {%
    LEXEME_BLOCK_END, // %}
    LEXEME_NAME,      // keywords too
    LEXEME_STRING,    // between its quotes, escapes not yet resolved
    LEXEME_INT,
    LEXEME_REAL,
    LEXEME_SIGN, // one or two characters: "==", "("
    LEXEME_FILE_END
};

struct lexeme {
    enum lexeme_type type;
    int line;          // counted from 1
    const char *bytes; // in the source
    size_t n_bytes;
    int64_t integer; // LEXEME_INT
    double real;     // LEXEME_REAL
};

// May be copied: a copy looks ahead.
struct lexer {
    const char *source; // borrowed: valid UTF-8, line ends are \n
    size_t n_bytes, at; // at: the next byte
    int line;           // of it
    int n_open; // brackets that are open: "}}" closes two of them before it ends a tag
    enum { OUTSIDE, IN_PRINT, IN_BLOCK, IN_RAW } place;
};

void lexer_init(struct lexer *l, const char *source, size_t n_bytes);

// ERR_FORMAT: no lexeme begins here, or its end is missing; err says the line.
enum status lexer_next(struct lexer *l, struct lexeme *t, struct error *err);

// "chat template, line 3: ...": how every message about a template begins.
enum status template_refuse(struct error *err, enum status code, int line,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
