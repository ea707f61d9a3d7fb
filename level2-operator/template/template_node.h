// The tree that a template is parsed to: one struct for all kinds, so that the table below is the whole
// of its grammar. Lists hang together by `next`. A tree is read-only once it is parsed; any number of
// renderings may walk it.
//
//   kind             name / value    a                b              c            d        e
//   ---------------  --------------  ---------------  -------------  -----------  -------  ---------
//   NODE_TEXT        the text
//   NODE_PRINT                       expression
//   NODE_IF                          condition        body           else
//   NODE_FOR                         target           values         body         else     condition
//   NODE_SET                         target           expression
//   NODE_SET_BLOCK                   target           filters        body
//   NODE_WITH                        SETs             body
//   NODE_MACRO       its name        PARAMs           body           the name varargs, if used
//   NODE_CALL_BLOCK                  CALL             body           PARAMs
//   NODE_FILTER_BLOCK                filters          body
//   NODE_SCOPE                       body                            (generation)
//   NODE_BREAK, NODE_CONTINUE
//
//   NODE_CONSTANT    the value
//   NODE_NAME        the name
//   NODE_LIST, NODE_TUPLE            items
//   NODE_DICT                        PAIRs
//   NODE_PAIR                        key              value
//   NODE_FIELD       the field       of what          (x.name)
//   NODE_ITEM                        of what          index          (x[0])
//   NODE_SLICE                       of what          first          behind       step
//   NODE_CALL                        callee           ARGUMENTs
//   NODE_FILTER      its name        input            ARGUMENTs      (input NULL: a filter block's)
//   NODE_TEST        its name        input            ARGUMENTs
//   NODE_ARGUMENT    keyword or ""   value                            (or "*", "**": many at once)
//   NODE_PARAM       its name        default or NULL
//   NODE_NOT, NODE_NEGATIVE, NODE_POSITIVE   operand
//   NODE_AND, NODE_OR                left             right
//   NODE_SUM ... NODE_POWER          left             right
//   NODE_CONCAT                      operands         (~)
//   NODE_COMPARE                     left             OPERANDs
//   NODE_OPERAND     the sign        right            (== != < <= > >= in, "not in")
//   NODE_CHOICE                      condition        then           else         (a if x else b)
#ifndef LEVEL2_TEMPLATE_NODE_H
#define LEVEL2_TEMPLATE_NODE_H

#include "level2-operator/template/template_value.h"

enum node_kind {
    NODE_TEXT,
    NODE_PRINT,
    NODE_IF,
    NODE_FOR,
    NODE_SET,
    NODE_SET_BLOCK,
    NODE_WITH,
    NODE_MACRO,
    NODE_CALL_BLOCK,
    NODE_FILTER_BLOCK,
    NODE_SCOPE,
    NODE_BREAK,
    NODE_CONTINUE,
    NODE_CONSTANT,
    NODE_NAME,
    NODE_LIST,
    NODE_TUPLE,
    NODE_DICT,
    NODE_PAIR,
    NODE_FIELD,
    NODE_ITEM,
    NODE_SLICE,
    NODE_CALL,
    NODE_FILTER,
    NODE_TEST,
    NODE_ARGUMENT,
    NODE_PARAM,
    NODE_NOT,
    NODE_NEGATIVE,
    NODE_POSITIVE,
    NODE_AND,
    NODE_OR,
    NODE_SUM,
    NODE_DIFFERENCE,
    NODE_PRODUCT,
    NODE_QUOTIENT,
    NODE_FLOOR_QUOTIENT,
    NODE_REMAINDER,
    NODE_POWER,
    NODE_CONCAT,
    NODE_COMPARE,
    NODE_OPERAND,
    NODE_CHOICE
};

enum comparison {
    IS_EQUAL,
    IS_UNEQUAL,
    IS_LESS,
    IS_LESS_EQUAL,
    IS_MORE,
    IS_MORE_EQUAL,
    IS_IN,
    IS_NOT_IN
};

struct node {
    enum node_kind kind;
    int line;
    enum comparison comparison; // NODE_OPERAND
    struct node *next;
    struct node *a, *b, *c, *d, *e;
    struct value value; // names are VALUE_TEXT
    const void *found;  // NODE_FILTER, NODE_TEST: what the name stands for; NULL: nothing
};

#endif
