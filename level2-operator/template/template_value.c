// The parts of values that need no rendering.
#include "level2-operator/template/template_value.h"

#include <string.h>

const char *value_type_name(struct value v) {
    static const char *const names[VALUE_KIND_COUNT] = {
        "Undefined", "NoneType", "bool",      "int",         "float", "str",      "list",
        "tuple",     "dict",     "Namespace", "LoopContext", "Macro", "function", "method",
    };
    return names[v.kind];
}

bool value_is_true(struct value v) {
    switch (v.kind) {
    case VALUE_UNDEFINED:
    case VALUE_NONE:
        return false;
    case VALUE_BOOL:
        return v.boolean;
    case VALUE_INT:
        return v.integer != 0;
    case VALUE_FLOAT:
        return v.real != 0;
    case VALUE_TEXT:
        return v.text.n_bytes > 0;
    case VALUE_LIST:
    case VALUE_TUPLE:
        return v.list.n_items > 0;
    case VALUE_DICT:
        return v.dict->n_entries > 0;
    default:
        return true;
    }
}

const struct value *dict_find(const struct dict *d, struct text key) {
    for (size_t i = 0; i < d->n_entries; i++) {
        const struct entry *e = &d->entries[i];
        if (e->key.kind == VALUE_TEXT && text_equal(e->key.text, key)) return &e->value;
    }
    return NULL;
}

bool dict_append(struct dict *d, struct value key, struct value value, struct pool *pool) {
    if (d->n_entries == d->capacity) {
        size_t capacity = d->capacity ? 2 * d->capacity : 4;
        struct entry *entries = pool_take(pool, capacity, sizeof(*entries));
        if (!entries) return false;
        if (d->n_entries) memcpy(entries, d->entries, d->n_entries * sizeof(*entries));
        d->entries = entries;
        d->capacity = capacity;
    }
    d->entries[d->n_entries++] = (struct entry){key, value};
    return true;
}

bool dict_set(struct dict *d, struct text key, struct value value, struct pool *pool) {
    struct value *old = (struct value *)dict_find(d, key); // d is ours to change
    if (!old) return dict_append(d, value_text(key), value, pool);
    *old = value;
    return true;
}
