// JSON in and out. The way out is Python's: ", " and ": " on one line, "," at the ends of indented ones.
#include "level2-operator/template/template_json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "common/utf8.h"
#include "level2-operator/template/template_python.h"

// ---- in -----------------------------------------------------------------------------------------

static bool list_from_json(struct value *v, const json_t *json, struct pool *pool) {
    size_t n = json_array_size(json);
    struct value *items = pool_take(pool, n, sizeof(*items));
    if (!items) return false;
    for (size_t i = 0; i < n; i++)
        if (!value_from_json(&items[i], json_array_get(json, i), pool)) return false;
    *v = value_list(items, n);
    return true;
}

static bool dict_from_json(struct value *v, const json_t *json, struct pool *pool) {
    struct dict *d = pool_take(pool, 1, sizeof(*d));
    const char *key;
    json_t *field;

    if (!d) return false;
    d->capacity = json_object_size(json);
    d->entries = pool_take(pool, d->capacity, sizeof(*d->entries));
    if (!d->entries) return false;
    json_object_foreach((json_t *)json, key, field) { // only reads
        struct value name = value_text(text_foreign(key, strlen(key))), value;
        if (!value_from_json(&value, field, pool)) return false;
        if (!dict_append(d, name, value, pool)) return false;
    }
    *v = (struct value){.kind = VALUE_DICT, .dict = d};
    return true;
}

bool value_from_json(struct value *v, const json_t *json, struct pool *pool) {
    *v = value_none();
    switch (json ? json_typeof(json) : JSON_NULL) {
    case JSON_OBJECT:
        return dict_from_json(v, json, pool);
    case JSON_ARRAY:
        return list_from_json(v, json, pool);
    case JSON_STRING:
        *v = value_text(text_foreign(json_string_value(json), json_string_length(json)));
        break;
    case JSON_INTEGER:
        *v = value_int(json_integer_value(json));
        break;
    case JSON_REAL:
        *v = value_float(json_real_value(json));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        *v = value_bool(json_is_true(json));
        break;
    case JSON_NULL:
        break;
    }
    return true;
}

// ---- out ----------------------------------------------------------------------------------------

struct json_style {
    int64_t indent; // spaces a level; -1: all on one line
    struct text between_items, behind_key;
    bool has_sorted_keys, is_ascii;
};

struct json_writer {
    struct render *r;
    struct text_builder *out;
    const struct json_style *style;
    int level;
};

static void write_value(struct json_writer *w, struct value v);

// \b, \u001f, or two halves of \ud83d\ude00.
static void write_escape(struct json_writer *w, int32_t c) {
    static const char short_of[] = "\b\f\n\r\t\"\\", names[] = "bfnrt\"\\";
    const char *is_short = c > 0 && c < 0x80 ? strchr(short_of, c) : NULL;
    unsigned high = (unsigned)(c - 0x10000) >> 10, low = (unsigned)(c - 0x10000) & 0x3ff;
    char escape[16];

    if (is_short)
        snprintf(escape, sizeof(escape), "\\%c", names[is_short - short_of]);
    else if (c < 0x10000)
        snprintf(escape, sizeof(escape), "\\u%04x", (unsigned)c);
    else
        snprintf(escape, sizeof(escape), "\\u%04x\\u%04x", 0xd800 + high, 0xdc00 + low);
    text_put_made(w->out, escape);
}

static void write_character(struct json_writer *w, struct text character, int32_t c) {
    bool is_plain = c >= 0x20 && c != '"' && c != '\\' && (c < 0x7f || !w->style->is_ascii);
    if (is_plain)
        text_put(w->out, text_foreign(character.bytes, character.n_bytes));
    else
        write_escape(w, c);
}

static void write_string(struct json_writer *w, struct text t) {
    size_t n_used;
    text_put_made(w->out, "\"");
    for (size_t at = 0; at < t.n_bytes && !w->out->failed; at += n_used) {
        int32_t c = utf8_next(t.bytes + at, t.n_bytes - at, &n_used);
        write_character(w, text_slice(t, at, at + n_used), c);
    }
    text_put_made(w->out, "\"");
    render_bytes(w->r, t.n_bytes);
}

static void write_line_end(struct json_writer *w) {
    if (w->style->indent < 0) return;
    text_put_made(w->out, "\n");
    int64_t n_spaces = w->level * w->style->indent;
    for (int64_t i = 0; i < n_spaces && render_step(w->r, 1); i++)
        text_put_made(w->out, " ");
}

static void write_between(struct json_writer *w, size_t i) {
    struct text comma = w->style->between_items;
    if (i > 0) text_put(w->out, text_foreign(comma.bytes, comma.n_bytes));
    write_line_end(w);
}

static void write_list(struct json_writer *w, struct list list) {
    text_put_made(w->out, "[");
    w->level++;
    for (size_t i = 0; i < list.n_items && !w->r->st; i++) {
        write_between(w, i);
        write_value(w, list.items[i]);
    }
    w->level--;
    if (list.n_items > 0) write_line_end(w);
    text_put_made(w->out, "]");
}

// Keys are texts in JSON; numbers become texts.
static void write_key(struct json_writer *w, struct value key) {
    struct text colon = w->style->behind_key;
    if (key.kind == VALUE_TEXT) {
        write_string(w, key.text);
    } else if (value_is_number(key) || key.kind == VALUE_NONE) {
        text_put_made(w->out, "\"");
        write_value(w, key);
        text_put_made(w->out, "\"");
    } else {
        render_type_error(w->r, "a key in JSON", key, NULL);
    }
    text_put(w->out, text_foreign(colon.bytes, colon.n_bytes));
}

// Insertion: dicts of templates are small, and sorting them is rare.
static const struct entry *sort_entries(struct json_writer *w, const struct dict *d) {
    struct entry *sorted = pool_take(w->r->pool, d->n_entries, sizeof(*sorted));
    if (!sorted) {
        render_no_memory(w->r);
        return d->entries;
    }
    for (size_t i = 0; i < d->n_entries && !w->r->st; i++) {
        size_t at = i;
        for (; at > 0 && render_step(w->r, 1) &&
               value_order(w->r, sorted[at - 1].key, d->entries[i].key) > 0;
             at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = d->entries[i];
    }
    return sorted;
}

static void write_dict(struct json_writer *w, const struct dict *d) {
    const struct entry *entries =
        w->style->has_sorted_keys ? sort_entries(w, d) : d->entries;
    text_put_made(w->out, "{");
    w->level++;
    for (size_t i = 0; i < d->n_entries && !w->r->st; i++) {
        write_between(w, i);
        write_key(w, entries[i].key);
        write_value(w, entries[i].value);
    }
    w->level--;
    if (d->n_entries > 0) write_line_end(w);
    text_put_made(w->out, "}");
}

static void write_number(struct json_writer *w, struct value v) {
    if (v.kind == VALUE_FLOAT && isnan(v.real))
        text_put_made(w->out, "NaN");
    else if (v.kind == VALUE_FLOAT && isinf(v.real))
        text_put_made(w->out, v.real < 0 ? "-Infinity" : "Infinity");
    else
        print_value(w->r, w->out, v);
}

static void write_inside(struct json_writer *w, struct value v) {
    switch (v.kind) {
    case VALUE_NONE:
        text_put_made(w->out, "null");
        break;
    case VALUE_BOOL:
        text_put_made(w->out, v.boolean ? "true" : "false");
        break;
    case VALUE_INT:
    case VALUE_FLOAT:
        write_number(w, v);
        break;
    case VALUE_TEXT:
        write_string(w, v.text);
        break;
    case VALUE_LIST:
    case VALUE_TUPLE:
        write_list(w, v.list);
        break;
    case VALUE_DICT:
        write_dict(w, v.dict);
        break;
    default:
        render_type_error(w->r, "tojson", v, NULL);
    }
}

static void write_value(struct json_writer *w, struct value v) {
    if (!render_enter(w->r)) return;
    write_inside(w, v);
    w->r->depth--;
}

static struct value written(struct render *r, struct value v,
                            const struct json_style *style) {
    struct text_builder out;
    render_builder(r, &out);
    struct json_writer w = {r, &out, style, 0};
    write_value(&w, v);
    return render_built(r, &out);
}

struct value json_filter(struct render *r, struct value v, const struct value *slots) {
    enum { ENSURE_ASCII, INDENT, SEPARATORS, SORT_KEYS };
    static const int64_t most = LIMIT_TEMPLATE_STEPS; // one line of it is too much
    struct value indent = slots[INDENT], separators = slots[SEPARATORS];
    struct json_style style = {.indent = -1,
                               .is_ascii = value_is_true(slots[ENSURE_ASCII]),
                               .has_sorted_keys = value_is_true(slots[SORT_KEYS])};
    if (value_is_whole(indent)) {
        int64_t n = value_whole(indent);
        style.indent = n < 0 ? 0 : n > most ? most : n;
    } else if (value_is_true(indent)) {
        return render_type_error(r, "tojson(indent=)", indent, NULL);
    }
    style.between_items = text_own(style.indent < 0 ? ", " : ",");
    style.behind_key = text_own(": ");
    if (value_is_list(separators) && separators.list.n_items == 2) {
        style.between_items = value_string(r, separators.list.items[0]);
        style.behind_key = value_string(r, separators.list.items[1]);
    }
    return written(r, v, &style);
}
