// Questions about a value: x is defined, x is string, x is equalto 1.
#include "level2-operator/template/template_test.h"

#include "level2-operator/template/template_filter.h"
#include "level2-operator/template/template_python.h"
#include "level2-operator/template/template_render.h"

// arg: the one argument; undefined if there is none.
typedef bool test_fn(struct render *r, struct value v, struct value arg);

struct test {
    const char *name;
    test_fn *holds;
    int n_arguments;
};

static bool is_defined(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind != VALUE_UNDEFINED;
}

static bool is_undefined(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_UNDEFINED;
}

static bool is_none(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_NONE;
}

static bool is_string(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_TEXT;
}

static bool is_mapping(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_DICT;
}

static bool is_iterable(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return value_has_length(v) || v.kind == VALUE_LOOP;
}

static bool is_sequence(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return value_has_length(v);
}

static bool is_boolean(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_BOOL;
}

static bool is_true(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_BOOL && v.boolean;
}

static bool is_false(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_BOOL && !v.boolean;
}

static bool is_number(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return value_is_number(v);
}

static bool is_integer(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_INT;
}

static bool is_float(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_FLOAT;
}

static bool is_callable(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_MACRO || v.kind == VALUE_FUNCTION || v.kind == VALUE_METHOD ||
           v.kind == VALUE_UNDEFINED;
}

static bool has_remainder(struct render *r, struct value v, struct value by, int64_t rest) {
    struct value left = arithmetic(r, NODE_REMAINDER, v, by);
    return !r->st && value_equal(r, left, value_int(rest));
}

static bool is_odd(struct render *r, struct value v, struct value arg) {
    (void)arg;
    return has_remainder(r, v, value_int(2), 1);
}

static bool is_even(struct render *r, struct value v, struct value arg) {
    (void)arg;
    return has_remainder(r, v, value_int(2), 0);
}

static bool is_divisible(struct render *r, struct value v, struct value arg) {
    return has_remainder(r, v, arg, 0);
}

static bool is_equal(struct render *r, struct value v, struct value arg) {
    return value_equal(r, v, arg);
}

static bool is_unequal(struct render *r, struct value v, struct value arg) {
    return !value_equal(r, v, arg);
}

static bool is_less(struct render *r, struct value v, struct value arg) {
    return value_order(r, v, arg) < 0;
}

static bool is_less_or_equal(struct render *r, struct value v, struct value arg) {
    return value_order(r, v, arg) <= 0;
}

static bool is_more(struct render *r, struct value v, struct value arg) {
    return value_order(r, v, arg) > 0;
}

static bool is_more_or_equal(struct render *r, struct value v, struct value arg) {
    return value_order(r, v, arg) >= 0;
}

static bool is_in(struct render *r, struct value v, struct value arg) {
    return value_contains(r, arg, v);
}

static bool is_same(struct render *r, struct value v, struct value arg) {
    return v.kind == arg.kind && value_equal(r, v, arg);
}

static bool is_lower(struct render *r, struct value v, struct value arg) {
    (void)arg;
    struct text t = value_string(r, v), lower = text_lower(r, t), upper = text_upper(r, t);
    return text_equal(t, lower) && !text_equal(lower, upper);
}

static bool is_upper(struct render *r, struct value v, struct value arg) {
    (void)arg;
    struct text t = value_string(r, v), lower = text_lower(r, t), upper = text_upper(r, t);
    return text_equal(t, upper) && !text_equal(lower, upper);
}

static bool is_filter(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_TEXT && filter_find(v.text);
}

static bool is_test(struct render *r, struct value v, struct value arg) {
    (void)r, (void)arg;
    return v.kind == VALUE_TEXT && test_find(v.text);
}

const struct test *test_find(struct text name) {
    static const struct test tests[] = {
        {"defined",     is_defined,       0},
        {"undefined",   is_undefined,     0},
        {"none",        is_none,          0},
        {"string",      is_string,        0},
        {"mapping",     is_mapping,       0},
        {"iterable",    is_iterable,      0},
        {"sequence",    is_sequence,      0},
        {"boolean",     is_boolean,       0},
        {"true",        is_true,          0},
        {"false",       is_false,         0},
        {"number",      is_number,        0},
        {"integer",     is_integer,       0},
        {"float",       is_float,         0},
        {"callable",    is_callable,      0},
        {"odd",         is_odd,           0},
        {"even",        is_even,          0},
        {"divisibleby", is_divisible,     1},
        {"eq",          is_equal,         1},
        {"equalto",     is_equal,         1},
        {"==",          is_equal,         1},
        {"ne",          is_unequal,       1},
        {"!=",          is_unequal,       1},
        {"lt",          is_less,          1},
        {"lessthan",    is_less,          1},
        {"<",           is_less,          1},
        {"le",          is_less_or_equal, 1},
        {"<=",          is_less_or_equal, 1},
        {"gt",          is_more,          1},
        {"greaterthan", is_more,          1},
        {">",           is_more,          1},
        {"ge",          is_more_or_equal, 1},
        {">=",          is_more_or_equal, 1},
        {"in",          is_in,            1},
        {"sameas",      is_same,          1},
        {"lower",       is_lower,         0},
        {"upper",       is_upper,         0},
        {"filter",      is_filter,        0},
        {"test",        is_test,          0},
    };
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        if (text_is(name, tests[i].name)) return &tests[i];
    return NULL;
}

bool test_holds(struct render *r, const struct test *test, struct value v,
                const struct arguments *a) {
    if (r->st) return false;
    if (a->n_items != (size_t)test->n_arguments || a->named.n_entries) {
        render_fail(r, ERR_INPUT, "the test %s takes %d arguments", test->name,
                    test->n_arguments);
        return false;
    }
    return test->holds(r, v,
                       a->n_items ? a->items[0] : value_undefined(text_own("argument")));
}
