// What a value looks like as text: Python's str for what is printed, its repr for what stands inside
// lists and dicts, and the formats of "%s".
#include "level2-operator/template/template_python.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "common/utf8.h"
#include "level2-operator/template/template_render.h"

// ---- numbers ------------------------------------------------------------------------------------

// The fewest digits that read back as the same number.
static int shortest_digits(char *out, size_t capacity, double real) {
    int n_digits = 1;
    for (; n_digits <= 17; n_digits++) {
        snprintf(out, capacity, "%.*e", n_digits - 1, real);
        if (strtod(out, NULL) == real) break;
    }
    return n_digits;
}

// As Python: with an exponent below 1e-4 and from 1e16 on, else with a point.
void print_real(char out[NUMBER_BYTES], double real) {
    char digits[NUMBER_BYTES];
    if (isnan(real) || isinf(real)) {
        snprintf(out, NUMBER_BYTES, "%s", isnan(real) ? "nan" : real < 0 ? "-inf" : "inf");
        return;
    }
    int n_digits = shortest_digits(digits, sizeof(digits), real);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < -4 || exponent >= 16) {
        snprintf(out, NUMBER_BYTES, "%s", digits);
        return;
    }
    int n_behind = n_digits - 1 - exponent;
    snprintf(out, NUMBER_BYTES, "%.*f", n_behind > 0 ? n_behind : 1, real);
}

static void print_number(struct text_builder *b, struct value v) {
    char number[NUMBER_BYTES];
    if (v.kind == VALUE_INT)
        snprintf(number, sizeof(number), "%" PRId64, v.integer);
    else
        print_real(number, v.real);
    text_put_made(b, number);
}

// ---- repr ---------------------------------------------------------------------------------------

static bool is_shown(int32_t c) {
    if (c == ' ') return true;
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    default:
        return true;
    }
}

static void print_escaped(struct text_builder *b, int32_t c) {
    char escape[16];
    if (c == '\n' || c == '\r' || c == '\t')
        snprintf(escape, sizeof(escape), "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
    else if (is_shown(c)) // a quote or a backslash
        snprintf(escape, sizeof(escape), "\\%c", (char)c);
    else if (c < 0x100)
        snprintf(escape, sizeof(escape), "\\x%02x", (unsigned)c);
    else if (c < 0x10000)
        snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
    else
        snprintf(escape, sizeof(escape), "\\U%08x", (unsigned)c);
    text_put_made(b, escape);
}

static void print_quoted(struct text_builder *b, struct text t) {
    bool has_single = text_find(t, text_own("'"), 0) != SIZE_MAX;
    bool has_double = text_find(t, text_own("\""), 0) != SIZE_MAX;
    const char *quote = has_single && !has_double ? "\"" : "'";
    size_t n_used;

    text_put_made(b, quote);
    for (size_t at = 0; at < t.n_bytes && !b->failed; at += n_used) {
        int32_t c = utf8_next(t.bytes + at, t.n_bytes - at, &n_used);
        if (is_shown(c) && c != '\\' && c != *quote)
            text_put(b, text_foreign(t.bytes + at, n_used));
        else
            print_escaped(b, c);
    }
    text_put_made(b, quote);
}

static void print_repr(struct render *r, struct text_builder *b, struct value v) {
    if (v.kind == VALUE_TEXT)
        print_quoted(b, v.text);
    else if (v.kind == VALUE_UNDEFINED)
        text_put_made(b, "Undefined");
    else
        print_value(r, b, v);
}

static void print_list(struct render *r, struct text_builder *b, struct value v) {
    bool is_tuple = v.kind == VALUE_TUPLE;
    text_put_made(b, is_tuple ? "(" : "[");
    for (size_t i = 0; i < v.list.n_items && !r->st; i++) {
        if (i > 0) text_put_made(b, ", ");
        print_repr(r, b, v.list.items[i]);
    }
    if (is_tuple && v.list.n_items == 1) text_put_made(b, ",");
    text_put_made(b, is_tuple ? ")" : "]");
}

static void print_dict(struct render *r, struct text_builder *b, const struct dict *d) {
    text_put_made(b, "{");
    for (size_t i = 0; i < d->n_entries && !r->st; i++) {
        if (i > 0) text_put_made(b, ", ");
        print_repr(r, b, d->entries[i].key);
        text_put_made(b, ": ");
        print_repr(r, b, d->entries[i].value);
    }
    text_put_made(b, "}");
}

static void print_inside(struct render *r, struct text_builder *b, struct value v) {
    switch (v.kind) {
    case VALUE_UNDEFINED:
        break;
    case VALUE_NONE:
        text_put_made(b, "None");
        break;
    case VALUE_BOOL:
        text_put_made(b, v.boolean ? "True" : "False");
        break;
    case VALUE_INT:
    case VALUE_FLOAT:
        print_number(b, v);
        break;
    case VALUE_TEXT:
        text_put(b, v.text);
        break;
    case VALUE_LIST:
    case VALUE_TUPLE:
        print_list(r, b, v);
        break;
    case VALUE_DICT:
        print_dict(r, b, v.dict);
        break;
    default:
        render_type_error(r, "printing", v, NULL);
    }
}

void print_value(struct render *r, struct text_builder *b, struct value v) {
    if (!render_enter(r)) return;
    if (v.kind == VALUE_TEXT) render_bytes(r, v.text.n_bytes);
    print_inside(r, b, v);
    r->depth--;
}

struct text value_string(struct render *r, struct value v) {
    struct text_builder b;
    if (v.kind == VALUE_TEXT) return v.text;
    render_builder(r, &b);
    print_value(r, &b, v);
    struct value built = render_built(r, &b);
    return r->st ? text_own("") : built.text;
}

// ---- "%s" ---------------------------------------------------------------------------------------

static void print_whole(struct render *r, struct text_builder *b, struct value v) {
    if (value_is_whole(v))
        print_number(b, value_int(value_whole(v)));
    else if (v.kind == VALUE_FLOAT && fabs(v.real) < 9e18)
        print_number(b, value_int((int64_t)v.real));
    else
        render_type_error(r, "%d", v, NULL);
}

static void print_fraction(struct render *r, struct text_builder *b, struct value v) {
    char number[NUMBER_BYTES];
    if (!value_is_number(v) || !(fabs(value_real(v)) < 1e15)) {
        render_type_error(r, "%f", v, NULL);
        return;
    }
    snprintf(number, sizeof(number), "%f", value_real(v));
    text_put_made(b, number);
}

static void print_formatted(struct render *r, struct text_builder *b, char how,
                            struct value v) {
    switch (how) {
    case 's':
        print_value(r, b, v);
        break;
    case 'r':
        print_repr(r, b, v);
        break;
    case 'd':
    case 'i':
        print_whole(r, b, v);
        break;
    case 'f':
        print_fraction(r, b, v);
        break;
    default:
        render_fail(r, ERR_UNSUPPORTED, "the format %%%c is not supported", how);
    }
}

struct value print_format(struct render *r, struct text format, const struct value *items,
                          size_t n_items) {
    struct text_builder b;
    size_t i = 0, begin = 0, at;

    render_builder(r, &b);
    while (!r->st && (at = text_find(format, text_own("%"), begin)) != SIZE_MAX) {
        char how = at + 1 < format.n_bytes ? format.bytes[at + 1] : ' ';
        text_put(&b, text_slice(format, begin, at));
        begin = at + 2;
        if (how == '%')
            text_put(&b, text_slice(format, at, at + 1));
        else if (i < n_items)
            print_formatted(r, &b, how, items[i++]);
        else
            render_fail(r, ERR_INPUT, "a format with too few values");
    }
    if (begin < format.n_bytes) text_put(&b, text_slice(format, begin, format.n_bytes));
    if (i < n_items) render_fail(r, ERR_INPUT, "a format with too many values");
    return render_built(r, &b);
}
