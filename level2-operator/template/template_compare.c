// Equal, less, contained: Python's rules for the values that there are.
#include "level2-operator/template/template_python.h"

#include "level2-operator/template/template_render.h"

static bool lists_are_equal(struct render *r, struct list a, struct list b) {
    if (a.n_items != b.n_items) return false;
    for (size_t i = 0; i < a.n_items && render_step(r, 1); i++)
        if (!value_equal(r, a.items[i], b.items[i])) return false;
    return true;
}

static const struct value *find_key(struct render *r, const struct dict *d,
                                    struct value key) {
    if (key.kind == VALUE_TEXT) return render_dict_find(r, d, key.text);
    for (size_t i = 0; i < d->n_entries && render_step(r, 1); i++)
        if (value_equal(r, d->entries[i].key, key)) return &d->entries[i].value;
    return NULL;
}

static bool dicts_are_equal(struct render *r, const struct dict *a, const struct dict *b) {
    if (a->n_entries != b->n_entries || !render_step(r, a->n_entries)) return false;
    for (size_t i = 0; i < a->n_entries && render_step(r, 1); i++) {
        const struct value *other = find_key(r, b, a->entries[i].key);
        if (!other || !value_equal(r, a->entries[i].value, *other)) return false;
    }
    return true;
}

static bool same_kind_is_equal(struct render *r, struct value a, struct value b) {
    switch (a.kind) {
    case VALUE_TEXT:
        return render_bytes(r, a.text.n_bytes) && text_equal(a.text, b.text);
    case VALUE_LIST:
    case VALUE_TUPLE:
        return lists_are_equal(r, a.list, b.list);
    case VALUE_DICT:
        return dicts_are_equal(r, a.dict, b.dict);
    case VALUE_UNDEFINED:
    case VALUE_NONE:
        return true;
    default:
        return a.dict == b.dict; // the same thing
    }
}

bool value_equal(struct render *r, struct value a, struct value b) {
    if (value_is_whole(a) && value_is_whole(b)) return value_whole(a) == value_whole(b);
    if (value_is_number(a) && value_is_number(b)) return value_real(a) == value_real(b);
    if (a.kind != b.kind || !render_enter(r)) return false;
    bool is_equal = same_kind_is_equal(r, a, b);
    r->depth--;
    return is_equal;
}

static int lists_order(struct render *r, struct list a, struct list b) {
    for (size_t i = 0; i < a.n_items && i < b.n_items && render_step(r, 1); i++)
        if (!value_equal(r, a.items[i], b.items[i]))
            return value_order(r, a.items[i], b.items[i]);
    return (a.n_items > b.n_items) - (a.n_items < b.n_items);
}

int value_order(struct render *r, struct value a, struct value b) {
    if (value_is_whole(a) && value_is_whole(b))
        return (value_whole(a) > value_whole(b)) - (value_whole(a) < value_whole(b));
    if (value_is_number(a) && value_is_number(b))
        return (value_real(a) > value_real(b)) - (value_real(a) < value_real(b));
    if (a.kind == VALUE_TEXT && b.kind == VALUE_TEXT)
        return render_bytes(r, a.text.n_bytes) ? text_compare(a.text, b.text) : 0;
    if (a.kind != b.kind || !value_is_list(a)) {
        render_type_error(r, "ordering", a, &b);
        return 0;
    }
    if (!render_enter(r)) return 0;
    int order = lists_order(r, a.list, b.list);
    r->depth--;
    return order;
}

bool value_contains(struct render *r, struct value container, struct value v) {
    switch (container.kind) {
    case VALUE_UNDEFINED:
        return false;
    case VALUE_TEXT:
        if (v.kind != VALUE_TEXT) break;
        return render_find(r, container.text, v.text, 0) != SIZE_MAX;
    case VALUE_DICT:
        return render_step(r, container.dict->n_entries) &&
               find_key(r, container.dict, v) != NULL;
    case VALUE_LIST:
    case VALUE_TUPLE:
        for (size_t i = 0; i < container.list.n_items && render_step(r, 1); i++)
            if (value_equal(r, container.list.items[i], v)) return true;
        return false;
    default:
        break;
    }
    render_type_error(r, "in", v, &container);
    return false;
}
