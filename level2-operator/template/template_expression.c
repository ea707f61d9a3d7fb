// The grammar of expressions, from the loosest binding to the tightest:
//
//   a if b else c     or     and     not     == < in     + -     ~     * / // %     **     -a
#include "level2-operator/template/template_parser.h"

// ---- operators ----------------------------------------------------------------------------------

// A filter binds tighter than a sign before the value, unless the sign is what it is for.
static struct node *parse_unary(struct parser *p, bool has_filters) {
    struct node *node;
    if (!parser_enter(p)) return parser_node(p, NODE_CONSTANT);
    if (takes_sign(p, "-"))
        node = parser_node_of(p, NODE_NEGATIVE, parse_unary(p, false), NULL);
    else if (takes_sign(p, "+"))
        node = parser_node_of(p, NODE_POSITIVE, parse_unary(p, false), NULL);
    else
        node = parse_primary(p);
    node = parse_postfix(p, node);
    if (has_filters) node = parse_filters_and_tests(p, node);
    p->depth--;
    return node;
}

static struct node *parse_power(struct parser *p) {
    struct node *left = parse_unary(p, true);
    while (takes_sign(p, "**"))
        left = parser_node_of(p, NODE_POWER, left, parse_unary(p, true));
    return left;
}

static struct node *parse_product(struct parser *p) {
    struct node *left = parse_power(p);
    for (;;) {
        if (takes_sign(p, "*"))
            left = parser_node_of(p, NODE_PRODUCT, left, parse_power(p));
        else if (takes_sign(p, "/"))
            left = parser_node_of(p, NODE_QUOTIENT, left, parse_power(p));
        else if (takes_sign(p, "//"))
            left = parser_node_of(p, NODE_FLOOR_QUOTIENT, left, parse_power(p));
        else if (takes_sign(p, "%"))
            left = parser_node_of(p, NODE_REMAINDER, left, parse_power(p));
        else
            return left;
    }
}

static struct node *parse_concat(struct parser *p) {
    struct node *first = parse_product(p);
    if (!sees_sign(p, "~")) return first;
    struct node *concat = parser_node_of(p, NODE_CONCAT, NULL, NULL), **tail = &concat->a;
    parser_append(&tail, first);
    while (takes_sign(p, "~")) parser_append(&tail, parse_product(p));
    return concat;
}

static struct node *parse_sum(struct parser *p) {
    struct node *left = parse_concat(p);
    for (;;) {
        if (takes_sign(p, "+"))
            left = parser_node_of(p, NODE_SUM, left, parse_concat(p));
        else if (takes_sign(p, "-"))
            left = parser_node_of(p, NODE_DIFFERENCE, left, parse_concat(p));
        else
            return left;
    }
}

static bool takes_comparison(struct parser *p, enum comparison *comparison) {
    static const struct {
        const char *sign;
        enum comparison comparison;
    } signs[] = {
        {"==", IS_EQUAL     },
        {"!=", IS_UNEQUAL   },
        {"<=", IS_LESS_EQUAL},
        {">=", IS_MORE_EQUAL},
        {"<",  IS_LESS      },
        {">",  IS_MORE      },
    };
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        *comparison = signs[i].comparison;
        if (takes_sign(p, signs[i].sign)) return true;
    }
    *comparison = sees_word(p, "not") ? IS_NOT_IN : IS_IN;
    if (takes_word(p, "in")) return true;
    if (!takes_word(p, "not")) return false; // behind a whole value it can only be "not in"
    parser_expect(p, LEXEME_NAME, "in");
    return true;
}

static struct node *parse_comparison(struct parser *p) {
    struct node *left = parse_sum(p), *operands = NULL, **tail = &operands;
    enum comparison comparison;

    while (!p->st && takes_comparison(p, &comparison)) {
        struct node *operand = parser_node(p, NODE_OPERAND);
        operand->comparison = comparison;
        operand->a = parse_sum(p);
        parser_append(&tail, operand);
    }
    return operands ? parser_node_of(p, NODE_COMPARE, left, operands) : left;
}

static struct node *parse_not(struct parser *p) {
    if (!sees_word(p, "not")) return parse_comparison(p);
    if (!parser_enter(p)) return parser_node(p, NODE_CONSTANT);
    parser_next(p);
    struct node *node = parser_node_of(p, NODE_NOT, parse_not(p), NULL);
    p->depth--;
    return node;
}

static struct node *parse_and(struct parser *p) {
    struct node *left = parse_not(p);
    while (takes_word(p, "and")) left = parser_node_of(p, NODE_AND, left, parse_not(p));
    return left;
}

struct node *parse_or(struct parser *p) {
    struct node *left = parse_and(p);
    while (takes_word(p, "or")) left = parser_node_of(p, NODE_OR, left, parse_and(p));
    return left;
}

struct node *parse_expression(struct parser *p) {
    if (!parser_enter(p)) return parser_node(p, NODE_CONSTANT);
    struct node *node = parse_or(p);
    while (takes_word(p, "if")) {
        struct node *choice = parser_node_of(p, NODE_CHOICE, parse_or(p), node);
        if (takes_word(p, "else")) choice->c = parse_expression(p);
        node = choice;
    }
    p->depth--;
    return node;
}

// ---- targets ------------------------------------------------------------------------------------

static struct node *parse_one_target(struct parser *p) {
    if (takes_sign(p, "(")) {
        struct node *inside = parse_target(p);
        parser_expect(p, LEXEME_SIGN, ")");
        return inside;
    }
    struct node *name = parse_name(p, NODE_NAME);
    return sees_sign(p, ".") ? parse_point(p, name) : name;
}

struct node *parse_target(struct parser *p) {
    if (!parser_enter(p)) return parser_node(p, NODE_NAME);
    struct node *first = parse_one_target(p);
    if (sees_sign(p, ",")) {
        struct node *tuple = parser_node_of(p, NODE_TUPLE, NULL, NULL), **tail = &tuple->a;
        parser_append(&tail, first);
        while (takes_sign(p, ",") && p->now.type == LEXEME_NAME)
            parser_append(&tail, parse_one_target(p));
        first = tuple;
    }
    p->depth--;
    return first;
}
