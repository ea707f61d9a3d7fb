// What a loop goes over, and how long it is.
#include "level2-operator/template/template_python.h"

#include "common/utf8.h"
#include "level2-operator/template/template_render.h"

static struct list characters(struct render *r, struct text t) {
    size_t n = text_length(t), at = 0, n_used;
    struct value *items = render_values(r, n);
    if (!items) return (struct list){NULL, 0};
    for (size_t i = 0; i < n; i++, at += n_used) {
        utf8_next(t.bytes + at, t.n_bytes - at, &n_used);
        items[i] = value_text(text_slice(t, at, at + n_used));
    }
    return (struct list){items, n};
}

static struct list keys(struct render *r, const struct dict *d) {
    struct value *items = render_values(r, d->n_entries);
    if (!items) return (struct list){NULL, 0};
    for (size_t i = 0; i < d->n_entries; i++) items[i] = d->entries[i].key;
    return (struct list){items, d->n_entries};
}

struct list iterate(struct render *r, struct value v) {
    switch (v.kind) {
    case VALUE_LIST:
    case VALUE_TUPLE:
        return v.list;
    case VALUE_DICT:
        return keys(r, v.dict);
    case VALUE_TEXT:
        return characters(r, v.text);
    case VALUE_UNDEFINED:
        break;
    default:
        render_type_error(r, "a loop", v, NULL);
    }
    return (struct list){NULL, 0};
}

bool value_has_length(struct value v) {
    return v.kind == VALUE_TEXT || value_is_list(v) || v.kind == VALUE_DICT ||
           v.kind == VALUE_UNDEFINED;
}

int64_t value_length(struct render *r, struct value v) {
    switch (v.kind) {
    case VALUE_TEXT:
        return render_bytes(r, v.text.n_bytes) ? (int64_t)text_length(v.text) : 0;
    case VALUE_LIST:
    case VALUE_TUPLE:
        return (int64_t)v.list.n_items;
    case VALUE_DICT:
        return (int64_t)v.dict->n_entries;
    case VALUE_UNDEFINED:
        return 0;
    default:
        render_type_error(r, "a length", v, NULL);
        return 0;
    }
}
