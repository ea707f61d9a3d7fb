// Values by themselves, and what follows one at once: constants, names, lists, dicts, parentheses; then
//
//   x.name    x[0]    x[1:]    x(1, b=2)    x | filter    x is test

#include "level2-operator/template/template_filter.h"
#include "level2-operator/template/template_parser.h"
#include "level2-operator/template/template_test.h"

struct node *parse_name(struct parser *p, enum node_kind kind) {
    struct node *node = parser_node(p, kind);
    struct text name = {.bytes = p->now.bytes, .n_bytes = p->now.n_bytes, .is_own = true};
    node->value = value_text(name);
    parser_expect(p, LEXEME_NAME, NULL);
    return node;
}

// ---- constants, names, brackets -----------------------------------------------------------------

static struct node *parse_constant(struct parser *p, struct value value) {
    struct node *node = parser_node(p, NODE_CONSTANT);
    node->value = value;
    parser_next(p);
    return node;
}

// Strings side by side are one.
static struct node *parse_string(struct parser *p) {
    struct node *node = parser_node(p, NODE_CONSTANT);
    struct text_builder b;

    node->value = value_text(parse_literal(p, &p->now));
    parser_next(p);
    if (p->now.type != LEXEME_STRING) return node;
    text_builder_init(&b, p->pool, p->lexer.n_bytes * 2);
    text_put(&b, node->value.text);
    for (; p->now.type == LEXEME_STRING; parser_next(p))
        text_put(&b, parse_literal(p, &p->now));
    if (b.failed) parser_fail(p, ERR_MEMORY, "no memory for a string");
    node->value = value_text(text_built(&b));
    return node;
}

static struct node *parse_word(struct parser *p) {
    if (sees_word(p, "true") || sees_word(p, "True"))
        return parse_constant(p, value_bool(true));
    if (sees_word(p, "false") || sees_word(p, "False"))
        return parse_constant(p, value_bool(false));
    if (sees_word(p, "none") || sees_word(p, "None"))
        return parse_constant(p, value_none());
    struct node *name = parse_name(p, NODE_NAME);
    if (text_is(name->value.text, "varargs")) p->varargs = name;
    return name;
}

static struct node *parse_list(struct parser *p) {
    struct node *list = parser_node(p, NODE_LIST), **tail = &list->a;
    parser_next(p); // [
    while (!p->st && !sees_sign(p, "]")) {
        parser_append(&tail, parse_expression(p));
        if (!takes_sign(p, ",")) break;
    }
    parser_expect(p, LEXEME_SIGN, "]");
    return list;
}

static struct node *parse_dict(struct parser *p) {
    struct node *dict = parser_node(p, NODE_DICT), **tail = &dict->a;
    parser_next(p); // {
    while (!p->st && !sees_sign(p, "}")) {
        struct node *pair = parser_node(p, NODE_PAIR);
        pair->a = parse_expression(p);
        parser_expect(p, LEXEME_SIGN, ":");
        pair->b = parse_expression(p);
        parser_append(&tail, pair);
        if (!takes_sign(p, ",")) break;
    }
    parser_expect(p, LEXEME_SIGN, "}");
    return dict;
}

static bool ends_tuple(const struct parser *p) {
    return p->st || p->now.type == LEXEME_PRINT_END || p->now.type == LEXEME_BLOCK_END ||
           sees_sign(p, ")") || sees_word(p, "recursive");
}

struct node *parse_tuple(struct parser *p, bool has_choice) {
    struct node *first = has_choice ? parse_expression(p) : parse_or(p);
    if (!sees_sign(p, ",")) return first;

    struct node *tuple = parser_node_of(p, NODE_TUPLE, NULL, NULL), **tail = &tuple->a;
    parser_append(&tail, first);
    while (takes_sign(p, ",") && !ends_tuple(p))
        parser_append(&tail, has_choice ? parse_expression(p) : parse_or(p));
    return tuple;
}

static struct node *parse_parentheses(struct parser *p) {
    struct node *inside;
    parser_next(p); // (
    if (sees_sign(p, ")"))
        inside = parser_node(p, NODE_TUPLE);
    else
        inside = parse_tuple(p, true);
    parser_expect(p, LEXEME_SIGN, ")");
    return inside;
}

struct node *parse_primary(struct parser *p) {
    switch (p->now.type) {
    case LEXEME_NAME:
        return parse_word(p);
    case LEXEME_STRING:
        return parse_string(p);
    case LEXEME_INT:
        return parse_constant(p, value_int(p->now.integer));
    case LEXEME_REAL:
        return parse_constant(p, value_float(p->now.real));
    default:
        break;
    }
    if (sees_sign(p, "(")) return parse_parentheses(p);
    if (sees_sign(p, "[")) return parse_list(p);
    if (sees_sign(p, "{")) return parse_dict(p);
    parser_fail(p, ERR_FORMAT, "expected an expression");
    return parser_node(p, NODE_CONSTANT);
}

// ---- what follows a value -----------------------------------------------------------------------

static bool sees_keyword_argument(const struct parser *p) {
    struct lexer ahead = p->lexer;
    struct lexeme then;
    return p->now.type == LEXEME_NAME && lexer_next(&ahead, &then, NULL) == OK &&
           then.type == LEXEME_SIGN && then.n_bytes == 1 && *then.bytes == '=';
}

static struct node *parse_argument(struct parser *p) {
    struct node *argument = parser_node(p, NODE_ARGUMENT);
    argument->value = value_text(text_own(""));
    if (sees_sign(p, "*") || sees_sign(p, "**")) {
        argument->value = value_text(text_own(p->now.n_bytes == 1 ? "*" : "**"));
        parser_next(p);
    } else if (sees_keyword_argument(p)) {
        argument = parse_name(p, NODE_ARGUMENT);
        parser_next(p); // =
    }
    argument->a = parse_expression(p);
    return argument;
}

static struct node *parse_arguments(struct parser *p) {
    struct node *list = NULL, **tail = &list;
    bool has_keyword = false;

    parser_expect(p, LEXEME_SIGN, "(");
    while (!p->st && !sees_sign(p, ")")) {
        struct node *argument = parse_argument(p);
        bool is_keyword = argument->value.text.n_bytes > 0;
        if (has_keyword && !is_keyword)
            parser_fail(p, ERR_FORMAT, "an argument without a name behind one with a name");
        has_keyword |= is_keyword;
        parser_append(&tail, argument);
        if (!takes_sign(p, ",")) break;
    }
    parser_expect(p, LEXEME_SIGN, ")");
    return list;
}

struct node *parse_point(struct parser *p, struct node *of) {
    parser_next(p); // .
    if (p->now.type == LEXEME_INT)
        return parser_node_of(p, NODE_ITEM, of,
                              parse_constant(p, value_int(p->now.integer)));
    struct node *field = parse_name(p, NODE_FIELD);
    field->a = of;
    return field;
}

static bool ends_bound(const struct parser *p) {
    return sees_sign(p, ":") || sees_sign(p, "]");
}

// x[1], x[1:], x[:2], x[::-1]
static struct node *parse_brackets(struct parser *p, struct node *of) {
    parser_next(p); // [
    struct node *first = ends_bound(p) ? NULL : parse_expression(p);
    struct node *item = parser_node_of(p, NODE_ITEM, of, first);

    if (takes_sign(p, ":")) {
        item->kind = NODE_SLICE;
        if (!ends_bound(p)) item->c = parse_expression(p);
        if (takes_sign(p, ":") && !ends_bound(p)) item->d = parse_expression(p);
    } else if (!first) {
        parser_fail(p, ERR_FORMAT, "expected an index");
    }
    parser_expect(p, LEXEME_SIGN, "]");
    return item;
}

struct node *parse_postfix(struct parser *p, struct node *node) {
    while (!p->st) {
        if (sees_sign(p, "."))
            node = parse_point(p, node);
        else if (sees_sign(p, "["))
            node = parse_brackets(p, node);
        else if (sees_sign(p, "("))
            node = parser_node_of(p, NODE_CALL, node, parse_arguments(p));
        else
            break;
    }
    return node;
}

struct node *parse_filter(struct parser *p, struct node *input) {
    struct node *filter = parse_name(p, NODE_FILTER);
    filter->a = input;
    filter->found = filter_find(filter->value.text);
    if (sees_sign(p, "(")) filter->b = parse_arguments(p);
    return filter;
}

struct node *parse_filters(struct parser *p, struct node *input) {
    while (takes_sign(p, "|")) input = parse_filter(p, input);
    return input;
}

static bool begins_test_argument(const struct parser *p) {
    switch (p->now.type) {
    case LEXEME_NAME:
        return !sees_word(p, "else") && !sees_word(p, "or") && !sees_word(p, "and");
    case LEXEME_STRING:
    case LEXEME_INT:
    case LEXEME_REAL:
        return true;
    default:
        return sees_sign(p, "[") || sees_sign(p, "{");
    }
}

// x is name, x is not name, x is name(1), x is name 1
static struct node *parse_test(struct parser *p, struct node *input) {
    parser_next(p); // is
    bool is_negated = takes_word(p, "not");
    struct node *test = parse_name(p, NODE_TEST);

    test->a = input;
    test->found = test_find(test->value.text);
    if (sees_sign(p, "(")) {
        test->b = parse_arguments(p);
    } else if (sees_word(p, "is")) {
        parser_fail(p, ERR_FORMAT, "a test behind a test");
    } else if (begins_test_argument(p)) {
        struct node *argument = parser_node(p, NODE_ARGUMENT);
        argument->value = value_text(text_own(""));
        argument->a = parse_postfix(p, parse_primary(p));
        test->b = argument;
    }
    return is_negated ? parser_node_of(p, NODE_NOT, test, NULL) : test;
}

struct node *parse_filters_and_tests(struct parser *p, struct node *node) {
    while (!p->st) {
        if (sees_sign(p, "|"))
            node = parse_filters(p, node);
        else if (sees_word(p, "is"))
            node = parse_test(p, node);
        else if (sees_sign(p, "("))
            node = parser_node_of(p, NODE_CALL, node, parse_arguments(p));
        else
            break;
    }
    return node;
}
