// The methods of texts, dicts, lists and loops that read; those that would change something are not
// there, as in jinja2's sandbox.
#include "level2-operator/template/template_render.h"

#include "level2-operator/template/template_python.h"

typedef struct value method_fn(struct render *r, struct value of, const struct value *arg);

// A place in bytes as a number of characters.
static struct value place_value(struct text t, size_t at) {
    return value_int(at == SIZE_MAX ? -1 : (int64_t)text_length(text_slice(t, 0, at)));
}

// false: the argument is no text, and the rendering has failed.
static bool needs_text(struct render *r, struct value v) {
    if (v.kind == VALUE_TEXT) return true;
    render_type_error(r, "a method of a text", v, NULL);
    return false;
}

static int64_t whole_or(struct value v, int64_t otherwise) {
    return value_is_whole(v) ? value_whole(v) : otherwise;
}

// ---- texts --------------------------------------------------------------------------------------

static struct value strip(struct render *r, struct value of, const struct value *arg,
                          enum text_side side) {
    bool has_chars = arg[0].kind == VALUE_TEXT;
    return value_text(render_strip(r, of.text, has_chars ? &arg[0].text : NULL, side));
}

static struct value strip_both(struct render *r, struct value of, const struct value *arg) {
    return strip(r, of, arg, TEXT_BOTH);
}

static struct value strip_left(struct render *r, struct value of, const struct value *arg) {
    return strip(r, of, arg, TEXT_LEFT);
}

static struct value strip_right(struct render *r, struct value of,
                                const struct value *arg) {
    return strip(r, of, arg, TEXT_RIGHT);
}

static struct value split(struct render *r, struct value of, const struct value *arg) {
    bool has_separator = arg[0].kind == VALUE_TEXT;
    return text_split(r, of.text, has_separator ? &arg[0].text : NULL,
                      whole_or(arg[1], -1));
}

// Without a separator there is a difference from the left only when the number of cuts is limited.
static struct value split_from_right(struct render *r, struct value of,
                                     const struct value *arg) {
    int64_t n_times = whole_or(arg[1], -1);
    if (n_times < 0 && arg[0].kind != VALUE_TEXT) return split(r, of, arg);
    if (!needs_text(r, arg[0])) return value_none();
    return text_split_right(r, of.text, arg[0].text, n_times);
}

static struct value split_lines(struct render *r, struct value of,
                                const struct value *arg) {
    (void)arg;
    return text_split_lines(r, of.text);
}

static bool starts(struct render *r, struct text t, struct text with) {
    return with.n_bytes <= t.n_bytes && render_bytes(r, with.n_bytes) &&
           text_stands_at(t, with, 0);
}

static bool ends(struct render *r, struct text t, struct text with) {
    return with.n_bytes <= t.n_bytes && render_bytes(r, with.n_bytes) &&
           text_stands_at(t, with, t.n_bytes - with.n_bytes);
}

// One text, or a tuple of which any will do.
static struct value affix(struct render *r, struct text t, struct value with,
                          bool (*has)(struct render *r, struct text t, struct text with)) {
    bool is_found = false;
    if (with.kind != VALUE_TUPLE)
        return needs_text(r, with) ? value_bool(has(r, t, with.text)) : value_none();
    for (size_t i = 0; i < with.list.n_items && render_step(r, 1); i++) {
        if (!needs_text(r, with.list.items[i])) return value_none();
        is_found |= has(r, t, with.list.items[i].text);
    }
    return value_bool(is_found);
}

static struct value starts_with(struct render *r, struct value of,
                                const struct value *arg) {
    return affix(r, of.text, arg[0], starts);
}

static struct value ends_with(struct render *r, struct value of, const struct value *arg) {
    return affix(r, of.text, arg[0], ends);
}

static struct value remove_prefix(struct render *r, struct value of,
                                  const struct value *arg) {
    if (!needs_text(r, arg[0])) return value_none();
    if (!starts(r, of.text, arg[0].text)) return of;
    return value_text(text_slice(of.text, arg[0].text.n_bytes, of.text.n_bytes));
}

static struct value remove_suffix(struct render *r, struct value of,
                                  const struct value *arg) {
    if (!needs_text(r, arg[0])) return value_none();
    if (!ends(r, of.text, arg[0].text)) return of;
    return value_text(text_slice(of.text, 0, of.text.n_bytes - arg[0].text.n_bytes));
}

static struct value replace(struct render *r, struct value of, const struct value *arg) {
    if (!needs_text(r, arg[0]) || !needs_text(r, arg[1])) return value_none();
    return text_replace(r, of.text, arg[0].text, arg[1].text, whole_or(arg[2], -1));
}

static struct value upper(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return value_text(text_upper(r, of.text));
}

static struct value lower(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return value_text(text_lower(r, of.text));
}

static struct value capitalize(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return value_text(text_capitalize(r, of.text));
}

static struct value title(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return value_text(text_title(r, of.text));
}

static struct value find(struct render *r, struct value of, const struct value *arg) {
    if (!needs_text(r, arg[0]) || !render_bytes(r, of.text.n_bytes)) return value_none();
    int64_t from = whole_or(arg[1], 0);
    if (from < 0) from += (int64_t)text_length(of.text);
    size_t begin = text_offset(of.text, from > 0 ? (size_t)from : 0);
    return place_value(of.text, render_find(r, of.text, arg[0].text, begin));
}

static struct value find_last(struct render *r, struct value of, const struct value *arg) {
    if (!needs_text(r, arg[0]) || !render_bytes(r, of.text.n_bytes)) return value_none();
    return place_value(of.text, render_find_last(r, of.text, arg[0].text));
}

static struct value text_index(struct render *r, struct value of, const struct value *arg) {
    struct value at = find(r, of, arg);
    if (r->st || at.integer >= 0) return at;
    return render_fail(r, ERR_INPUT, "index: there is no such text");
}

static struct value count_text(struct render *r, struct value of, const struct value *arg) {
    int64_t n = 0;
    if (!needs_text(r, arg[0]) || !render_bytes(r, of.text.n_bytes)) return value_none();
    if (arg[0].text.n_bytes == 0) return value_int((int64_t)text_length(of.text) + 1);
    for (size_t at = 0; (at = render_find(r, of.text, arg[0].text, at)) != SIZE_MAX; n++)
        at += arg[0].text.n_bytes;
    return value_int(n);
}

static struct value join(struct render *r, struct value of, const struct value *arg) {
    struct list items = iterate(r, arg[0]);
    for (size_t i = 0; i < items.n_items && !r->st; i++) needs_text(r, items.items[i]);
    return r->st ? value_none() : text_join(r, of.text, items);
}

// Every character is one of that kind, and there is one at least. ASCII only.
static struct value all_are(struct render *r, struct text t, bool (*is)(char c)) {
    bool all = t.n_bytes > 0 && render_bytes(r, t.n_bytes);
    for (size_t i = 0; i < t.n_bytes; i++) all &= is(t.bytes[i]);
    return value_bool(all);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_alpha(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static struct value all_digits(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return all_are(r, of.text, is_digit);
}

static struct value all_alpha(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return all_are(r, of.text, is_alpha);
}

static struct value all_space(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    return value_bool(of.text.n_bytes > 0 &&
                      render_strip(r, of.text, NULL, TEXT_BOTH).n_bytes == 0);
}

// ---- dicts --------------------------------------------------------------------------------------

static struct value dict_items(struct render *r, struct value of, const struct value *arg) {
    const struct dict *d = of.dict;
    struct value *items = render_values(r, d->n_entries);
    struct value *pairs = render_values(r, 2 * d->n_entries);
    (void)arg;
    if (!items || !pairs) return value_none();
    for (size_t i = 0; i < d->n_entries; i++) {
        pairs[2 * i] = d->entries[i].key;
        pairs[2 * i + 1] = d->entries[i].value;
        items[i] = value_tuple(&pairs[2 * i], 2);
    }
    return value_list(items, d->n_entries);
}

static struct value dict_keys(struct render *r, struct value of, const struct value *arg) {
    (void)arg;
    struct list keys = iterate(r, of);
    return value_list(keys.items, keys.n_items);
}

static struct value dict_values(struct render *r, struct value of,
                                const struct value *arg) {
    struct value *items = render_values(r, of.dict->n_entries);
    (void)arg;
    if (!items) return value_none();
    for (size_t i = 0; i < of.dict->n_entries; i++) items[i] = of.dict->entries[i].value;
    return value_list(items, of.dict->n_entries);
}

static struct value dict_get(struct render *r, struct value of, const struct value *arg) {
    struct value otherwise = arg[1].kind == VALUE_UNDEFINED ? value_none() : arg[1];
    if (!value_contains(r, of, arg[0])) return r->st ? value_none() : otherwise;
    return item_get(r, of, arg[0]);
}

static struct value itself(struct render *r, struct value of, const struct value *arg) {
    (void)r, (void)arg;
    return of;
}

// ---- lists and loops ----------------------------------------------------------------------------

static struct value count_items(struct render *r, struct value of,
                                const struct value *arg) {
    int64_t n = 0;
    for (size_t i = 0; i < of.list.n_items && render_step(r, 1); i++)
        n += value_equal(r, of.list.items[i], arg[0]);
    return value_int(n);
}

static struct value list_index(struct render *r, struct value of, const struct value *arg) {
    for (size_t i = 0; i < of.list.n_items && render_step(r, 1); i++)
        if (value_equal(r, of.list.items[i], arg[0])) return value_int((int64_t)i);
    return render_fail(r, ERR_INPUT, "index: there is no such item");
}

static const struct {
    enum value_kind of;
    const char *name;
    method_fn *call;
    const char *parameters;
} methods[] = {
    {VALUE_TEXT,  "strip",        strip_both,       "chars"        },
    {VALUE_TEXT,  "lstrip",       strip_left,       "chars"        },
    {VALUE_TEXT,  "rstrip",       strip_right,      "chars"        },
    {VALUE_TEXT,  "split",        split,            "sep maxsplit" },
    {VALUE_TEXT,  "rsplit",       split_from_right, "sep maxsplit" },
    {VALUE_TEXT,  "splitlines",   split_lines,      ""             },
    {VALUE_TEXT,  "startswith",   starts_with,      "prefix"       },
    {VALUE_TEXT,  "endswith",     ends_with,        "suffix"       },
    {VALUE_TEXT,  "removeprefix", remove_prefix,    "prefix"       },
    {VALUE_TEXT,  "removesuffix", remove_suffix,    "suffix"       },
    {VALUE_TEXT,  "replace",      replace,          "old new count"},
    {VALUE_TEXT,  "upper",        upper,            ""             },
    {VALUE_TEXT,  "lower",        lower,            ""             },
    {VALUE_TEXT,  "capitalize",   capitalize,       ""             },
    {VALUE_TEXT,  "title",        title,            ""             },
    {VALUE_TEXT,  "find",         find,             "sub start"    },
    {VALUE_TEXT,  "rfind",        find_last,        "sub"          },
    {VALUE_TEXT,  "index",        text_index,       "sub start"    },
    {VALUE_TEXT,  "count",        count_text,       "sub"          },
    {VALUE_TEXT,  "join",         join,             "iterable"     },
    {VALUE_TEXT,  "isdigit",      all_digits,       ""             },
    {VALUE_TEXT,  "isalpha",      all_alpha,        ""             },
    {VALUE_TEXT,  "isspace",      all_space,        ""             },
    {VALUE_DICT,  "items",        dict_items,       ""             },
    {VALUE_DICT,  "keys",         dict_keys,        ""             },
    {VALUE_DICT,  "values",       dict_values,      ""             },
    {VALUE_DICT,  "get",          dict_get,         "key default"  },
    {VALUE_DICT,  "copy",         itself,           ""             },
    {VALUE_LIST,  "count",        count_items,      "value"        },
    {VALUE_LIST,  "index",        list_index,       "value"        },
    {VALUE_LIST,  "copy",         itself,           ""             },
    {VALUE_TUPLE, "count",        count_items,      "value"        },
    {VALUE_TUPLE, "index",        list_index,       "value"        },
};

enum { N_METHODS = sizeof(methods) / sizeof(methods[0]) };

// What a loop has: a name of `loop.cycle` is the one method that takes any number of arguments.
static bool is_cycle(struct value of, struct text name) {
    return of.kind == VALUE_LOOP && text_is(name, "cycle");
}

static int method_index(struct value of, struct text name) {
    for (int i = 0; i < N_METHODS; i++)
        if (methods[i].of == of.kind && text_is(name, methods[i].name)) return i;
    return -1;
}

struct value method_find(struct render *r, struct value of, struct text name) {
    if (!is_cycle(of, name) && method_index(of, name) < 0) return value_none();
    struct method *m = pool_take(r->pool, 1, sizeof(*m));
    if (!m) return render_no_memory(r);
    *m = (struct method){of, name};
    return (struct value){.kind = VALUE_METHOD, .method = m};
}

struct value method_call(struct render *r, const struct method *m,
                         const struct arguments *a) {
    struct value slots[MAX_ARGUMENTS];
    if (is_cycle(m->of, m->name)) {
        if (a->n_items == 0) return render_fail(r, ERR_INPUT, "cycle: no items");
        return a->items[m->of.loop->i % a->n_items];
    }
    int i = method_index(m->of, m->name);
    if (!arguments_bind(r, a, methods[i].name, methods[i].parameters, slots))
        return value_none();
    return methods[i].call(r, m->of, slots);
}
