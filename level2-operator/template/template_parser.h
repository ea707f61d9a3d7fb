// Lexemes to a tree of nodes, by recursive descent: one function per rule of the grammar. After the
// first error the parser stands at the end of the template, so that every loop ends by itself, and
// `st` says so once, at the end.
#ifndef LEVEL2_TEMPLATE_PARSER_H
#define LEVEL2_TEMPLATE_PARSER_H

#include "level2-operator/template/template_lexer.h"
#include "level2-operator/template/template_node.h"

struct parser {
    struct lexer lexer;
    struct lexeme now;    // the one to look at
    struct pool *pool;    // borrowed: nodes
    struct error *err;    // borrowed
    enum status st;       // of the first failure
    int depth;            // rules inside rules
    struct node *varargs; // the name, if the macro under way uses it; else NULL
    struct node none;     // written to after a failure, never read
};

// The whole template. NULL for an empty one, or for a failure: see p->st.
struct node *parse_template(struct parser *p, const char *source, size_t n_bytes,
                            struct pool *pool, struct error *err);

// ---- what its parts use of each other -----------------------------------------------------------

void parser_next(struct parser *p);
void parser_fail(struct parser *p, enum status code, const char *what); // at p->now
bool parser_sees(const struct parser *p, enum lexeme_type type, const char *word);
bool parser_takes(struct parser *p, enum lexeme_type type,
                  const char *word); // if it is there
void parser_expect(struct parser *p, enum lexeme_type type, const char *word);

static inline bool sees_sign(const struct parser *p, const char *sign) {
    return parser_sees(p, LEXEME_SIGN, sign);
}
static inline bool takes_sign(struct parser *p, const char *sign) {
    return parser_takes(p, LEXEME_SIGN, sign);
}
static inline bool sees_word(const struct parser *p, const char *word) {
    return parser_sees(p, LEXEME_NAME, word);
}
static inline bool takes_word(struct parser *p, const char *word) {
    return parser_takes(p, LEXEME_NAME, word);
}

// false, and the template is refused: too deep. Pairs with p->depth--.
bool parser_enter(struct parser *p);

// Of the line under way; never NULL: a dummy after a failure.
struct node *parser_node(struct parser *p, enum node_kind kind);

struct node *parser_node_of(struct parser *p, enum node_kind kind, struct node *a,
                            struct node *b); // of a's line

// Appends to a list by its tail: struct node *list = NULL, **tail = &list.
static inline void parser_append(struct node ***tail, struct node *node) {
    **tail = node;
    *tail = &node->next;
}

struct node *parse_expression(struct parser *p);
struct node *parse_primary(struct parser *p);
struct node *parse_postfix(struct parser *p, struct node *node);
struct node *parse_point(struct parser *p, struct node *of);
struct node *parse_filters_and_tests(struct parser *p, struct node *node);
struct node *parse_or(struct parser *p); // no "a if b else c"
// Expressions with commas between are a tuple. has_choice: see parse_expression.
struct node *parse_tuple(struct parser *p, bool has_choice);
struct node *parse_target(struct parser *p); // a, (a, b) or a.b: what can be assigned
struct node *parse_name(struct parser *p, enum node_kind kind);
struct node *parse_filters(struct parser *p, struct node *input); // | name(arguments) | ...
struct node *parse_filter(struct parser *p, struct node *input);  // name(arguments)

// A string's bytes, its escapes resolved as Python does.
struct text parse_literal(struct parser *p, const struct lexeme *string);

#endif
