// The grammar of statements, and the parser's hands and eyes.
#include "level2-operator/template/template_parser.h"

#include <stdio.h>
#include <string.h>

#include "common/limits.h"

// ---- looking and stepping -----------------------------------------------------------------------

void parser_fail(struct parser *p, enum status code, const char *what) {
    char seen[40] = "the end";
    if (p->st) return;
    if (p->now.type != LEXEME_FILE_END && p->now.n_bytes)
        snprintf(seen, sizeof(seen), "'%.*s'",
                 p->now.n_bytes < 30 ? (int)p->now.n_bytes : 30, p->now.bytes);
    p->st = template_refuse(p->err, code, p->now.line, "%s, at %s", what, seen);
    p->now.type = LEXEME_FILE_END;
}

void parser_next(struct parser *p) {
    if (p->st) return;
    p->st = lexer_next(&p->lexer, &p->now, p->err);
    if (p->st) p->now.type = LEXEME_FILE_END;
}

bool parser_sees(const struct parser *p, enum lexeme_type type, const char *word) {
    if (p->st || p->now.type != type) return false;
    return !word || (p->now.n_bytes == strlen(word) &&
                     memcmp(p->now.bytes, word, p->now.n_bytes) == 0);
}

bool parser_takes(struct parser *p, enum lexeme_type type, const char *word) {
    if (!parser_sees(p, type, word)) return false;
    parser_next(p);
    return true;
}

void parser_expect(struct parser *p, enum lexeme_type type, const char *word) {
    static const char *const names[] = {
        [LEXEME_PRINT_END] = "}}", [LEXEME_BLOCK_END] = "%}", [LEXEME_NAME] = "a name"};
    char what[40];
    if (parser_takes(p, type, word)) return;
    snprintf(what, sizeof(what), "expected %s", word ? word : names[type]);
    parser_fail(p, ERR_FORMAT, what);
}

bool parser_enter(struct parser *p) {
    if (p->depth >= LIMIT_TEMPLATE_DEPTH) {
        parser_fail(p, ERR_LIMIT, "nested too deep");
        return false;
    }
    p->depth++;
    return true;
}

struct node *parser_node(struct parser *p, enum node_kind kind) {
    struct node *node = p->st ? NULL : pool_take(p->pool, 1, sizeof(*node));
    if (!node) {
        parser_fail(p, p->pool->why ? p->pool->why : ERR_MEMORY, "no memory for its tree");
        return &p->none;
    }
    node->kind = kind;
    node->line = p->now.line;
    return node;
}

struct node *parser_node_of(struct parser *p, enum node_kind kind, struct node *a,
                            struct node *b) {
    struct node *node = parser_node(p, kind);
    node->a = a;
    node->b = b;
    if (a) node->line = a->line;
    return node;
}

// ---- statements ---------------------------------------------------------------------------------

// Of a list of statements: up to a block that begins with one of these words.
struct ends {
    const char *word[3];
};

static bool sees_end(const struct parser *p, const struct ends *ends) {
    for (int i = 0; ends && i < 3 && ends->word[i]; i++)
        if (sees_word(p, ends->word[i])) return true;
    return false;
}

static struct node *parse_statement(struct parser *p);

static struct node *parse_body_item(struct parser *p) {
    struct node *node = parser_node(p, NODE_TEXT);
    if (p->now.type == LEXEME_TEXT) {
        node->value = value_text((struct text){
            .bytes = p->now.bytes, .n_bytes = p->now.n_bytes, .is_own = true});
        parser_next(p);
        return node;
    }
    node->kind = NODE_PRINT;
    parser_next(p); // {{
    node->a = parse_tuple(p, true);
    parser_expect(p, LEXEME_PRINT_END, NULL);
    return node;
}

// Statements up to one of the ends, whose word is then what the parser sees; ends NULL: all.
static struct node *parse_body(struct parser *p, const struct ends *ends) {
    struct node *list = NULL, **tail = &list;

    if (!parser_enter(p)) return NULL;
    while (!p->st && p->now.type != LEXEME_FILE_END) {
        if (p->now.type == LEXEME_BLOCK) {
            parser_next(p);
            if (sees_end(p, ends)) break;
            parser_append(&tail, parse_statement(p));
            parser_expect(p, LEXEME_BLOCK_END, NULL);
        } else {
            parser_append(&tail, parse_body_item(p));
        }
    }
    p->depth--;
    if (ends && !sees_end(p, ends)) parser_fail(p, ERR_FORMAT, "a block without its end");
    return list;
}

// "%}", the body, and the word that ends it.
static struct node *parse_block_body(struct parser *p, const char *end) {
    const struct ends ends = {{end}};
    parser_expect(p, LEXEME_BLOCK_END, NULL);
    struct node *body = parse_body(p, &ends);
    parser_next(p);
    return body;
}

// At "if" or "elif": both read a condition and go on in the same way.
static struct node *parse_if(struct parser *p) {
    static const struct ends ends = {
        {"elif", "else", "endif"}
    };
    struct node *node = parser_node(p, NODE_IF);

    if (!parser_enter(p)) return node;
    parser_next(p);
    node->a = parse_tuple(p, false);
    parser_expect(p, LEXEME_BLOCK_END, NULL);
    node->b = parse_body(p, &ends);
    if (sees_word(p, "elif")) {
        node->c = parse_if(p);
    } else if (parser_takes(p, LEXEME_NAME, "else")) {
        node->c = parse_block_body(p, "endif");
    } else {
        parser_next(p); // endif
    }
    p->depth--;
    return node;
}

static struct node *parse_for(struct parser *p) {
    static const struct ends ends = {
        {"else", "endfor"}
    };
    struct node *node = parser_node(p, NODE_FOR);

    parser_next(p);
    node->a = parse_target(p);
    parser_expect(p, LEXEME_NAME, "in");
    node->b = parse_tuple(p, false);
    if (parser_takes(p, LEXEME_NAME, "if")) node->e = parse_expression(p);
    if (sees_word(p, "recursive"))
        parser_fail(p, ERR_UNSUPPORTED, "recursive loops are not supported");
    parser_expect(p, LEXEME_BLOCK_END, NULL);
    node->c = parse_body(p, &ends);
    if (parser_takes(p, LEXEME_NAME, "else"))
        node->d = parse_block_body(p, "endfor");
    else
        parser_next(p); // endfor
    return node;
}

static struct node *parse_set(struct parser *p) {
    struct node *node = parser_node(p, NODE_SET);
    parser_next(p);
    node->a = parse_target(p);
    if (parser_takes(p, LEXEME_SIGN, "=")) {
        node->b = parse_tuple(p, true);
        return node;
    }
    node->kind = NODE_SET_BLOCK;
    node->b = parse_filters(p, NULL);
    node->c = parse_block_body(p, "endset");
    return node;
}

static struct node *parse_with(struct parser *p) {
    struct node *node = parser_node(p, NODE_WITH), **tail = &node->a;
    parser_next(p);
    while (!p->st && p->now.type != LEXEME_BLOCK_END) {
        struct node *set = parser_node(p, NODE_SET);
        set->a = parse_name(p, NODE_NAME);
        parser_expect(p, LEXEME_SIGN, "=");
        set->b = parse_expression(p);
        parser_append(&tail, set);
        if (!parser_takes(p, LEXEME_SIGN, ",")) break;
    }
    node->b = parse_block_body(p, "endwith");
    return node;
}

static struct node *parse_parameters(struct parser *p) {
    struct node *list = NULL, **tail = &list;
    parser_expect(p, LEXEME_SIGN, "(");
    while (!p->st && !parser_sees(p, LEXEME_SIGN, ")")) {
        struct node *param = parse_name(p, NODE_PARAM);
        if (parser_takes(p, LEXEME_SIGN, "=")) param->a = parse_expression(p);
        parser_append(&tail, param);
        if (!parser_takes(p, LEXEME_SIGN, ",")) break;
    }
    parser_expect(p, LEXEME_SIGN, ")");
    return list;
}

static struct node *parse_macro(struct parser *p) {
    struct node *outer = p->varargs;
    parser_next(p);
    struct node *node = parse_name(p, NODE_MACRO);
    node->a = parse_parameters(p);
    p->varargs = NULL;
    node->b = parse_block_body(p, "endmacro");
    node->c = p->varargs;
    p->varargs = outer;
    return node;
}

static struct node *parse_call_block(struct parser *p) {
    struct node *node = parser_node(p, NODE_CALL_BLOCK);
    parser_next(p);
    if (parser_sees(p, LEXEME_SIGN, "(")) node->c = parse_parameters(p);
    node->a = parse_expression(p);
    if (!p->st && node->a->kind != NODE_CALL)
        parser_fail(p, ERR_FORMAT, "expected a call of a macro");
    node->b = parse_block_body(p, "endcall");
    return node;
}

static struct node *parse_filter_block(struct parser *p) {
    struct node *node = parser_node(p, NODE_FILTER_BLOCK);
    parser_next(p);
    node->a = parse_filters(p, parse_filter(p, NULL));
    node->b = parse_block_body(p, "endfilter");
    return node;
}

static struct node *parse_print(struct parser *p) {
    struct node *node = parser_node(p, NODE_PRINT);
    parser_next(p);
    node->a = parse_tuple(p, true);
    if (node->a->kind == NODE_TUPLE) node->a->kind = NODE_CONCAT; // one after the other
    return node;
}

// {% generation %}: marks what an assistant said, for training; here it is just text.
static struct node *parse_generation(struct parser *p) {
    struct node *node = parser_node(p, NODE_SCOPE);
    parser_next(p);
    node->a = parse_block_body(p, "endgeneration");
    return node;
}

static struct node *parse_break(struct parser *p) {
    struct node *node = parser_node(p, NODE_BREAK);
    parser_next(p);
    return node;
}

static struct node *parse_continue(struct parser *p) {
    struct node *node = parser_node(p, NODE_CONTINUE);
    parser_next(p);
    return node;
}

static struct node *parse_statement(struct parser *p) {
    static const struct {
        const char *word;
        struct node *(*parse)(struct parser *p);
    } statements[] = {
        {"if",         parse_if          },
        {"for",        parse_for         },
        {"set",        parse_set         },
        {"macro",      parse_macro       },
        {"with",       parse_with        },
        {"call",       parse_call_block  },
        {"filter",     parse_filter_block},
        {"print",      parse_print       },
        {"break",      parse_break       },
        {"continue",   parse_continue    },
        {"generation", parse_generation  },
    };
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++)
        if (sees_word(p, statements[i].word)) return statements[i].parse(p);
    parser_fail(p, ERR_UNSUPPORTED, "a block that is not supported");
    return parser_node(p, NODE_TEXT);
}

struct node *parse_template(struct parser *p, const char *source, size_t n_bytes,
                            struct pool *pool, struct error *err) {
    *p = (struct parser){.pool = pool, .err = err};
    lexer_init(&p->lexer, source, n_bytes);
    parser_next(p);
    struct node *tree = parse_body(p, NULL);
    return p->st ? NULL : tree;
}
