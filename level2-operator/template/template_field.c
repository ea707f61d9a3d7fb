// What stands behind a point or in brackets. jinja2 lets both reach fields and methods alike: a point
// looks for a method first, brackets for a key.
#include "level2-operator/template/template_python.h"

#include "level2-operator/template/template_render.h"

// `loop.index` and its like.
static struct value loop_field(struct text name, const struct loop *l) {
    int64_t i = (int64_t)l->i, n = (int64_t)l->items.n_items;
    const struct {
        const char *name;
        struct value value;
    } fields[] = {
        {"index",     value_int(i + 1)      },
        {"index0",    value_int(i)          },
        {"first",     value_bool(i == 0)    },
        {"last",      value_bool(i == n - 1)},
        {"length",    value_int(n)          },
        {"revindex",  value_int(n - i)      },
        {"revindex0", value_int(n - i - 1)  },
        {"depth",     value_int(1)          }, // only recursive loops are deeper
        {"depth0",    value_int(0)          },
    };
    for (size_t f = 0; f < sizeof(fields) / sizeof(fields[0]); f++)
        if (text_is(name, fields[f].name)) return fields[f].value;
    if (text_is(name, "previtem") && i > 0) return l->items.items[i - 1];
    if (text_is(name, "nextitem") && i + 1 < n) return l->items.items[i + 1];
    return value_undefined(name);
}

static struct value method_value(struct render *r, struct value of, struct text name) {
    struct value method = method_find(r, of, name);
    return method.kind == VALUE_METHOD ? method : value_undefined(name);
}

static struct value key_value(struct render *r, const struct dict *d, struct text name) {
    const struct value *found = render_dict_find(r, d, name);
    return found ? *found : value_undefined(name);
}

struct value field_get(struct render *r, struct value of, struct text name) {
    if (r->st) return value_none();
    switch (of.kind) {
    case VALUE_UNDEFINED:
        return render_type_error(r, "a field", of, NULL);
    case VALUE_LOOP: {
        struct value method = method_value(r, of, name);
        return method.kind == VALUE_METHOD ? method : loop_field(name, of.loop);
    }
    case VALUE_NAMESPACE:
        return key_value(r, of.dict, name);
    case VALUE_DICT: {
        struct value method = method_value(r, of, name);
        return method.kind == VALUE_METHOD ? method : key_value(r, of.dict, name);
    }
    case VALUE_MACRO:
        return text_is(name, "name") ? value_text(of.macro->name) : value_undefined(name);
    default:
        return method_value(r, of, name);
    }
}

// A negative place counts from the end. SIZE_MAX: outside.
static size_t place_of(int64_t i, size_t n) {
    if (i < 0) i += (int64_t)n;
    return i >= 0 && i < (int64_t)n ? (size_t)i : SIZE_MAX;
}

static struct value character_get(struct render *r, struct text t, int64_t i) {
    if (!render_bytes(r, t.n_bytes)) return value_none();
    size_t place = place_of(i, text_length(t));
    if (place == SIZE_MAX) return value_undefined(text_own("index"));
    size_t begin = text_offset(t, place);
    struct text rest = text_slice(t, begin, t.n_bytes);
    return value_text(text_slice(rest, 0, text_offset(rest, 1)));
}

static struct value other_key(struct render *r, const struct dict *d, struct value key) {
    for (size_t i = 0; i < d->n_entries && render_step(r, 1); i++)
        if (value_equal(r, d->entries[i].key, key)) return d->entries[i].value;
    return value_undefined(text_own("key"));
}

struct value item_get(struct render *r, struct value of, struct value index) {
    if (r->st) return value_none();
    if (of.kind == VALUE_UNDEFINED) return render_type_error(r, "an item", of, NULL);
    if (index.kind == VALUE_TEXT && of.kind == VALUE_DICT) {
        const struct value *found = render_dict_find(r, of.dict, index.text);
        return found ? *found : method_value(r, of, index.text);
    }
    if (index.kind == VALUE_TEXT) return field_get(r, of, index.text);
    if (of.kind == VALUE_DICT) return other_key(r, of.dict, index);
    if (!value_is_whole(index)) return value_undefined(text_own("index"));
    if (of.kind == VALUE_TEXT) return character_get(r, of.text, value_whole(index));
    if (!value_is_list(of)) return value_undefined(text_own("index"));
    size_t place = place_of(value_whole(index), of.list.n_items);
    return place == SIZE_MAX ? value_undefined(text_own("index")) : of.list.items[place];
}

struct value path_get(struct render *r, struct value of, struct value path) {
    if (value_is_whole(path)) return item_get(r, of, path);
    if (path.kind != VALUE_TEXT) return render_type_error(r, "an attribute", path, NULL);
    struct text point = text_own("."), rest = path.text;
    struct value v = of;
    for (size_t end = 0; end != SIZE_MAX && render_step(r, 1);) {
        end = render_find(r, rest, point, 0);
        struct text name = text_slice(rest, 0, end == SIZE_MAX ? rest.n_bytes : end);
        bool is_number = name.n_bytes > 0 && name.n_bytes < 9;
        int64_t number = 0;
        for (size_t i = 0; i < name.n_bytes && is_number; i++) {
            is_number = name.bytes[i] >= '0' && name.bytes[i] <= '9';
            number = number * 10 + (name.bytes[i] - '0');
        }
        v = item_get(r, v, is_number ? value_int(number) : value_text(name));
        if (end != SIZE_MAX) rest = text_slice(rest, end + 1, rest.n_bytes);
    }
    return v;
}

// ---- slices -------------------------------------------------------------------------------------

struct bounds {
    int64_t begin, end, step;
};

static int64_t clamp(int64_t i, int64_t low, int64_t high) {
    return i < low ? low : i > high ? high : i;
}

// Python's rules: negative ones count from the end, what is outside is cut, a bound not given is the
// end on its side.
static bool read_bounds(struct render *r, struct bounds *b, const struct value given[3],
                        int64_t n) {
    b->step = given[2].kind == VALUE_NONE ? 1 : value_whole(given[2]);
    if (b->step == 0) {
        render_fail(r, ERR_INPUT, "a slice of step 0");
        return false;
    }
    bool is_down = b->step < 0;
    int64_t low = is_down ? -1 : 0, high = is_down ? n - 1 : n;
    int64_t bound[2] = {is_down ? high : low, is_down ? low : high};
    for (int i = 0; i < 2; i++) {
        if (given[i].kind == VALUE_NONE) continue;
        int64_t at = value_whole(given[i]);
        bound[i] = clamp(at < 0 ? at + n : at, low, high);
    }
    b->begin = bound[0];
    b->end = bound[1];
    b->step = clamp(b->step, -n - 1, n + 1);
    return true;
}

static struct value slice_list(struct render *r, struct value of, const struct bounds *b) {
    size_t n = 0;
    if (b->step == 1) {
        int64_t length = b->end > b->begin ? b->end - b->begin : 0;
        of.list = (struct list){of.list.items + b->begin, (size_t)length};
        return of;
    }
    struct value *items = render_values(r, of.list.n_items);
    if (!items) return value_none();
    for (int64_t i = b->begin; b->step > 0 ? i < b->end : i > b->end; i += b->step)
        items[n++] = of.list.items[i];
    of.list = (struct list){items, n};
    return of;
}

static struct value slice_text(struct render *r, struct text t, const struct bounds *b) {
    if (b->step == 1) {
        size_t begin = text_offset(t, (size_t)b->begin);
        size_t end = b->end > b->begin ? text_offset(t, (size_t)b->end) : begin;
        return value_text(text_slice(t, begin, end));
    }
    struct value characters = {.kind = VALUE_LIST, .list = iterate(r, value_text(t))};
    if (r->st) return value_none();
    struct value chosen = slice_list(r, characters, b);
    return r->st ? value_none() : text_join(r, text_own(""), chosen.list);
}

struct value slice_get(struct render *r, struct value of, const struct value given[3]) {
    struct bounds b;
    if (r->st) return value_none();
    if (of.kind == VALUE_UNDEFINED) return render_type_error(r, "a slice", of, NULL);
    bool can_be = of.kind == VALUE_TEXT || value_is_list(of);
    for (int i = 0; i < 3; i++)
        can_be &= given[i].kind == VALUE_NONE || value_is_whole(given[i]);
    if (!can_be) return value_undefined(text_own("slice"));
    if (!read_bounds(r, &b, given, value_length(r, of))) return value_none();
    if (of.kind == VALUE_TEXT && !render_bytes(r, of.text.n_bytes)) return value_none();
    return of.kind == VALUE_TEXT ? slice_text(r, of.text, &b) : slice_list(r, of, &b);
}
