// What Python does with values: fields, comparison, arithmetic, and the methods of its texts. A template
// is written in these terms, whatever statement or filter they stand in. Private to template_*.c.
//
// As everywhere in a rendering: after the first failure every function gives nothing, see
// template_render.h.
#ifndef LEVEL2_TEMPLATE_PYTHON_H
#define LEVEL2_TEMPLATE_PYTHON_H

#include "level2-operator/template/template_node.h"
#include "level2-operator/template/template_value.h"

struct render;

// ---- template_field.c: x.name, x[index], x[a:b:c]; undefined if there is none -------------------

struct value field_get(struct render *r, struct value of, struct text name);
struct value item_get(struct render *r, struct value of, struct value index);
struct value slice_get(struct render *r, struct value of, const struct value bounds[3]);
struct value path_get(struct render *r, struct value of, struct value path); // "a.b.0"

// ---- template_compare.c, template_arithmetic.c, template_iterate.c ------------------------------

bool value_equal(struct render *r, struct value a, struct value b);
int value_order(struct render *r, struct value a, struct value b); // < 0, 0, > 0
bool value_contains(struct render *r, struct value container, struct value v);
struct value arithmetic(struct render *r, enum node_kind kind, struct value a,
                        struct value b);
struct list iterate(struct render *r, struct value v); // items, keys, characters
int64_t value_length(struct render *r, struct value v);
bool value_has_length(struct value v);

// ---- template_print.c: Python's str, repr and format --------------------------------------------

struct text value_string(struct render *r, struct value v); // str(v)
void print_value(struct render *r, struct text_builder *b, struct value v);
struct value print_format(struct render *r, struct text format, const struct value *items,
                          size_t n_items); // "%s: %d" % items
enum { NUMBER_BYTES = 32 };
void print_real(char out[NUMBER_BYTES], double real);

// ---- template_case.c ----------------------------------------------------------------------------

struct text text_upper(struct render *r, struct text t);
struct text text_lower(struct render *r, struct text t);
struct text text_capitalize(struct render *r, struct text t);
struct text text_title(struct render *r, struct text t); // as the method: "It'S"
struct text text_words(struct render *r, struct text t); // as jinja2's filter title: "It's"

// ---- template_split.c ---------------------------------------------------------------------------

struct value text_split(struct render *r, struct text t, const struct text *separator,
                        int64_t max_splits); // below 0: all
struct value text_split_right(struct render *r, struct text t, struct text separator,
                              int64_t max_splits);
struct value text_split_lines(struct render *r, struct text t);
struct value text_replace(struct render *r, struct text t, struct text old, struct text new,
                          int64_t max_times); // below 0: all
struct value text_join(struct render *r, struct text separator, struct list items);

#endif
