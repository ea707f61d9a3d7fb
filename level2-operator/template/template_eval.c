// Expressions to values: one function per kind of node, and a switch.
#include <string.h>

#include "level2-operator/template/template_filter.h"
#include "level2-operator/template/template_python.h"
#include "level2-operator/template/template_render.h"
#include "level2-operator/template/template_test.h"

static size_t count_nodes(const struct node *list) {
    size_t n = 0;
    for (; list; list = list->next) n++;
    return n;
}

static struct value eval_name(struct render *r, struct text name) {
    const struct value *found = scope_find(r, name);
    const struct function *function = found ? NULL : function_find(name);
    if (found) return *found;
    if (function) return (struct value){.kind = VALUE_FUNCTION, .function = function};
    return value_undefined(name);
}

static struct value eval_items(struct render *r, const struct node *node) {
    size_t n = 0;
    struct value *items = render_values(r, count_nodes(node->a));
    if (!items) return value_none();
    for (const struct node *item = node->a; item; item = item->next)
        items[n++] = eval(r, item);
    return node->kind == NODE_LIST ? value_list(items, n) : value_tuple(items, n);
}

static struct value eval_dict(struct render *r, const struct node *node) {
    struct dict *d = pool_take(r->pool, 1, sizeof(*d));
    if (!d) return render_no_memory(r);
    for (const struct node *pair = node->a; pair && !r->st; pair = pair->next) {
        struct value key = eval(r, pair->a), value = eval(r, pair->b);
        bool has_memory = true;
        if (key.kind == VALUE_TEXT)
            render_dict_set(r, d, key.text, value);
        else if (value_is_number(key) || key.kind == VALUE_NONE)
            has_memory = dict_append(d, key, value, r->pool);
        else
            render_type_error(r, "a key of a dict", key, NULL);
        if (!has_memory) render_no_memory(r);
    }
    return (struct value){.kind = VALUE_DICT, .dict = d};
}

static struct value eval_slice(struct render *r, const struct node *node) {
    const struct node *given[3] = {node->b, node->c, node->d};
    struct value of = eval(r, node->a), bounds[3];
    for (int i = 0; i < 3; i++) bounds[i] = given[i] ? eval(r, given[i]) : value_none();
    return slice_get(r, of, bounds);
}

static struct value eval_concat(struct render *r, const struct node *node) {
    struct text_builder b;
    render_builder(r, &b);
    for (const struct node *part = node->a; part && !r->st; part = part->next) {
        struct value v = eval(r, part);
        if (!r->st) print_value(r, &b, v);
    }
    return render_built(r, &b);
}

static bool compare(struct render *r, enum comparison how, struct value a, struct value b) {
    switch (how) {
    case IS_EQUAL:
        return value_equal(r, a, b);
    case IS_UNEQUAL:
        return !value_equal(r, a, b);
    case IS_LESS:
        return value_order(r, a, b) < 0;
    case IS_LESS_EQUAL:
        return value_order(r, a, b) <= 0;
    case IS_MORE:
        return value_order(r, a, b) > 0;
    case IS_MORE_EQUAL:
        return value_order(r, a, b) >= 0;
    case IS_IN:
        return value_contains(r, b, a);
    case IS_NOT_IN:
        return !value_contains(r, b, a);
    }
    return false;
}

// a < b < c: all must hold, and b is worked out once.
static struct value eval_compare(struct render *r, const struct node *node) {
    struct value left = eval(r, node->a);
    for (const struct node *operand = node->b; operand && !r->st; operand = operand->next) {
        struct value right = eval(r, operand->a);
        if (r->st || !compare(r, operand->comparison, left, right))
            return value_bool(false);
        left = right;
    }
    return value_bool(true);
}

static struct value eval_sign(struct render *r, const struct node *node) {
    struct value v = eval(r, node->a);
    if (r->st) return value_none();
    if (!value_is_number(v)) return render_type_error(r, "a sign", v, NULL);
    if (node->kind == NODE_POSITIVE)
        return v.kind == VALUE_FLOAT ? v : value_int(value_whole(v));
    return v.kind == VALUE_FLOAT ? value_float(-v.real)
                                 : arithmetic(r, NODE_DIFFERENCE, value_int(0), v);
}

// The value of either side, as in Python: '' or 'x' is 'x'.
static struct value eval_logic(struct render *r, const struct node *node) {
    struct value left = eval(r, node->a);
    bool is_decided = value_is_true(left) == (node->kind == NODE_OR);
    return is_decided ? left : eval(r, node->b);
}

static struct value eval_choice(struct render *r, const struct node *node) {
    if (value_is_true(eval(r, node->a))) return eval(r, node->b);
    if (node->c) return eval(r, node->c);
    return value_undefined(text_own("a choice without else"));
}

// f(*list): each item is an argument.
static void add_items(struct render *r, struct arguments *a, struct value v) {
    struct list more = iterate(r, v);
    struct value *items = render_values(r, a->n_items + more.n_items);
    if (r->st) return;
    if (a->n_items) memcpy(items, a->items, a->n_items * sizeof(*items));
    if (more.n_items) memcpy(items + a->n_items, more.items, more.n_items * sizeof(*items));
    a->items = items;
    a->n_items += more.n_items;
}

// f(**dict): each entry is an argument with a name.
static void add_entries(struct render *r, struct arguments *a, struct value v) {
    if (v.kind != VALUE_DICT) {
        render_type_error(r, "**", v, NULL);
        return;
    }
    for (size_t i = 0; i < v.dict->n_entries && render_step(r, 1); i++) {
        const struct entry *e = &v.dict->entries[i];
        if (e->key.kind != VALUE_TEXT)
            render_type_error(r, "the name of an argument", e->key, NULL);
        else
            render_dict_set(r, &a->named, e->key.text, e->value);
    }
}

static void add_argument(struct render *r, struct arguments *a, const struct node *node,
                         struct value *items) {
    struct text name = node->value.text;
    struct value v = eval(r, node->a);
    if (r->st) return;
    if (name.n_bytes == 0)
        items[a->n_items++] = v;
    else if (text_is(name, "*"))
        add_items(r, a, v);
    else if (text_is(name, "**"))
        add_entries(r, a, v);
    else
        render_dict_set(r, &a->named, name, v);
}

struct arguments eval_arguments(struct render *r, const struct node *list) {
    struct arguments a = {0};
    struct value *items = render_values(r, count_nodes(list));
    a.items = items;
    for (const struct node *node = list; node && !r->st; node = node->next)
        add_argument(r, &a, node, items);
    return a;
}

static struct value eval_call(struct render *r, const struct node *node) {
    struct value callee = eval(r, node->a);
    struct arguments a = eval_arguments(r, node->b);
    r->line = node->line;
    return r->st ? value_none() : call(r, callee, &a);
}

static struct value unknown(struct render *r, const char *what, struct text name) {
    return render_fail(r, ERR_UNSUPPORTED, "there is no %s '%.*s'", what,
                       (int)(name.n_bytes < 80 ? name.n_bytes : 80), name.bytes);
}

struct value eval_filters(struct render *r, const struct node *filter, struct value input) {
    if (!render_enter(r)) return value_none();
    struct value v = input;
    if (filter->a && filter->a->kind == NODE_FILTER)
        v = eval_filters(r, filter->a, input);
    else if (filter->a)
        v = eval(r, filter->a);
    struct arguments a = eval_arguments(r, filter->b);
    r->line = filter->line;
    struct value result = filter->found ? filter_run(r, filter->found, v, &a)
                                        : unknown(r, "filter", filter->value.text);
    r->depth--;
    return result;
}

static struct value eval_test(struct render *r, const struct node *node) {
    struct value v = eval(r, node->a);
    struct arguments a = eval_arguments(r, node->b);
    r->line = node->line;
    if (!node->found) return unknown(r, "test", node->value.text);
    return value_bool(test_holds(r, node->found, v, &a));
}

static struct value eval_node(struct render *r, const struct node *node) {
    switch (node->kind) {
    case NODE_CONSTANT:
        return node->value;
    case NODE_NAME:
        return eval_name(r, node->value.text);
    case NODE_LIST:
    case NODE_TUPLE:
        return eval_items(r, node);
    case NODE_DICT:
        return eval_dict(r, node);
    case NODE_FIELD: {
        struct value of = eval(r, node->a);
        r->line = node->line;
        return field_get(r, of, node->value.text);
    }
    case NODE_ITEM: {
        struct value of = eval(r, node->a), index = eval(r, node->b);
        r->line = node->line;
        return item_get(r, of, index);
    }
    case NODE_SLICE:
        return eval_slice(r, node);
    case NODE_CALL:
        return eval_call(r, node);
    case NODE_FILTER:
        return eval_filters(r, node, value_none());
    case NODE_TEST:
        return eval_test(r, node);
    case NODE_NOT:
        return value_bool(!value_is_true(eval(r, node->a)));
    case NODE_NEGATIVE:
    case NODE_POSITIVE:
        return eval_sign(r, node);
    case NODE_AND:
    case NODE_OR:
        return eval_logic(r, node);
    case NODE_CONCAT:
        return eval_concat(r, node);
    case NODE_COMPARE:
        return eval_compare(r, node);
    case NODE_CHOICE:
        return eval_choice(r, node);
    default: {
        struct value left = eval(r, node->a), right = eval(r, node->b);
        r->line = node->line;
        return arithmetic(r, node->kind, left, right);
    }
    }
}

struct value eval(struct render *r, const struct node *node) {
    if (!render_enter(r)) return value_none();
    struct value v = eval_node(r, node);
    r->depth--;
    return r->st ? value_none() : v;
}
