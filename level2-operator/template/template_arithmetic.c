// + - * / // % **, with Python's meaning for texts and lists.
#include "level2-operator/template/template_python.h"

#include <math.h>
#include <string.h>

#include "level2-operator/template/template_render.h"

static struct value too_large(struct render *r) {
    return render_fail(r, ERR_UNSUPPORTED, "a number beyond 64 bits");
}

// Rounded down, as Python does; C rounds towards zero.
static int64_t floor_quotient(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static struct value power(struct render *r, int64_t base, int64_t exponent) {
    int64_t result = 1;
    if (exponent < 0) return value_float(pow((double)base, (double)exponent));
    if (base == 0 || base == 1) return value_int(exponent == 0 ? 1 : base);
    if (base == -1) return value_int(exponent % 2 ? -1 : 1);
    for (; exponent > 0; exponent--)
        if (__builtin_mul_overflow(result, base, &result)) return too_large(r);
    return value_int(result);
}

static struct value whole(struct render *r, enum node_kind kind, int64_t a, int64_t b) {
    int64_t result = 0;
    bool overflows = false;

    if (kind == NODE_POWER) return power(r, a, b);
    if (kind == NODE_SUM) overflows = __builtin_add_overflow(a, b, &result);
    if (kind == NODE_DIFFERENCE) overflows = __builtin_sub_overflow(a, b, &result);
    if (kind == NODE_PRODUCT) overflows = __builtin_mul_overflow(a, b, &result);
    if (kind == NODE_SUM || kind == NODE_DIFFERENCE || kind == NODE_PRODUCT)
        return overflows ? too_large(r) : value_int(result);

    if (b == 0) return render_fail(r, ERR_INPUT, "division by zero");
    if (kind == NODE_QUOTIENT) return value_float((double)a / (double)b);
    if (a == INT64_MIN && b == -1)
        return kind == NODE_REMAINDER ? value_int(0) : too_large(r);
    int64_t quotient = floor_quotient(a, b);
    return value_int(kind == NODE_REMAINDER ? a - quotient * b : quotient);
}

static struct value real(struct render *r, enum node_kind kind, double a, double b) {
    switch (kind) {
    case NODE_SUM:
        return value_float(a + b);
    case NODE_DIFFERENCE:
        return value_float(a - b);
    case NODE_PRODUCT:
        return value_float(a * b);
    case NODE_POWER:
        return value_float(pow(a, b));
    default:
        break;
    }
    if (b == 0) return render_fail(r, ERR_INPUT, "division by zero");
    if (kind == NODE_QUOTIENT) return value_float(a / b);
    if (kind == NODE_FLOOR_QUOTIENT) return value_float(floor(a / b));
    double rest = fmod(a, b);
    return value_float(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

static struct value join_texts(struct render *r, struct text a, struct text b) {
    struct text_builder both;
    if (a.n_bytes == 0) return value_text(b);
    if (b.n_bytes == 0) return value_text(a);
    render_builder(r, &both);
    text_put(&both, a);
    text_put(&both, b);
    return render_built(r, &both);
}

static struct value join_lists(struct render *r, struct value a, struct value b) {
    size_t n = a.list.n_items + b.list.n_items;
    struct value *items = render_values(r, n);
    if (!items) return value_none();
    if (a.list.n_items) memcpy(items, a.list.items, a.list.n_items * sizeof(*items));
    if (b.list.n_items)
        memcpy(items + a.list.n_items, b.list.items, b.list.n_items * sizeof(*items));
    a.list = (struct list){items, n};
    return a;
}

static struct value repeat(struct render *r, struct value what, int64_t n_times) {
    struct text_builder b;
    if (what.kind == VALUE_TEXT) {
        render_builder(r, &b);
        for (int64_t i = 0; i < n_times && what.text.n_bytes && !b.failed && !r->st; i++)
            if (render_step(r, 1)) text_put(&b, what.text);
        return render_built(r, &b);
    }
    struct value all = what;
    all.list = (struct list){NULL, 0};
    for (int64_t i = 0; i < n_times && what.list.n_items && !r->st; i++)
        all = join_lists(r, all, what);
    return all;
}

static bool is_sequence(struct value v) {
    return v.kind == VALUE_TEXT || value_is_list(v);
}

static struct value format_with(struct render *r, struct text format, struct value v) {
    if (v.kind == VALUE_TUPLE) return print_format(r, format, v.list.items, v.list.n_items);
    return print_format(r, format, &v, 1);
}

struct value arithmetic(struct render *r, enum node_kind kind, struct value a,
                        struct value b) {
    static const char *const names[] = {
        [NODE_SUM] = "+",      [NODE_DIFFERENCE] = "-",      [NODE_PRODUCT] = "*",
        [NODE_QUOTIENT] = "/", [NODE_FLOOR_QUOTIENT] = "//", [NODE_REMAINDER] = "%",
        [NODE_POWER] = "**"};
    if (r->st) return value_none();
    if (value_is_whole(a) && value_is_whole(b))
        return whole(r, kind, value_whole(a), value_whole(b));
    if (value_is_number(a) && value_is_number(b))
        return real(r, kind, value_real(a), value_real(b));
    if (kind == NODE_SUM && a.kind == VALUE_TEXT && b.kind == VALUE_TEXT)
        return join_texts(r, a.text, b.text);
    if (kind == NODE_SUM && value_is_list(a) && a.kind == b.kind)
        return join_lists(r, a, b);
    if (kind == NODE_PRODUCT && is_sequence(a) && value_is_whole(b))
        return repeat(r, a, value_whole(b));
    if (kind == NODE_PRODUCT && is_sequence(b) && value_is_whole(a))
        return repeat(r, b, value_whole(a));
    if (kind == NODE_REMAINDER && a.kind == VALUE_TEXT) return format_with(r, a.text, b);
    return render_type_error(r, names[kind], a, &b);
}
