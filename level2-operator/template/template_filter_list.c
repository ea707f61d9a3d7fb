// Filters of lists and dicts: length, order, choice, and what is done to each item.
#include <string.h>

#include "level2-operator/template/template_filter.h"
#include "level2-operator/template/template_python.h"
#include "level2-operator/template/template_render.h"
#include "level2-operator/template/template_test.h"

static struct value run_length(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    (void)arg, (void)all;
    return value_int(value_length(r, in));
}

static struct value run_list(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    struct list items = iterate(r, in);
    (void)arg, (void)all;
    return value_list(items.items, items.n_items);
}

static struct value run_first(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    struct list items = iterate(r, in);
    (void)arg, (void)all;
    return items.n_items ? items.items[0] : value_undefined(text_own("first item"));
}

static struct value run_last(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    struct list items = iterate(r, in);
    (void)arg, (void)all;
    return items.n_items ? items.items[items.n_items - 1]
                         : value_undefined(text_own("last item"));
}

static struct value run_items(struct render *r, struct value in, const struct value *arg,
                              const struct arguments *all) {
    (void)arg, (void)all;
    if (in.kind == VALUE_UNDEFINED) return value_list(NULL, 0);
    if (in.kind != VALUE_DICT) return render_type_error(r, "items", in, NULL);
    const struct method items = {in, text_own("items")};
    const struct arguments none = {0};
    return method_call(r, &items, &none);
}

static struct value run_reverse(struct render *r, struct value in, const struct value *arg,
                                const struct arguments *all) {
    struct value backwards[3] = {value_none(), value_none(), value_int(-1)};
    (void)arg, (void)all;
    if (in.kind == VALUE_TEXT) return slice_get(r, in, backwards);
    struct list items = iterate(r, in);
    return slice_get(r, value_list(items.items, items.n_items), backwards);
}

static struct value run_join(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    struct list items = iterate(r, in);
    (void)all;
    if (value_is_given(arg[1])) {
        struct value *fields = render_values(r, items.n_items);
        for (size_t i = 0; fields && i < items.n_items; i++)
            fields[i] = path_get(r, items.items[i], arg[1]);
        items.items = fields;
    }
    struct text between = value_is_given(arg[0]) ? value_string(r, arg[0]) : text_own("");
    return r->st ? value_none() : text_join(r, between, items);
}

// ---- map, select, reject ------------------------------------------------------------------------

struct value_at { // an item, and what is asked of it
    struct value item, key;
};

// Of a loop over what may be nothing: what is false has no items, even if it is no list.
static struct list items_if_any(struct render *r, struct value v) {
    return value_is_true(v) ? iterate(r, v) : (struct list){NULL, 0};
}

// The arguments behind the first n.
static struct arguments behind(const struct arguments *a, size_t n) {
    return (struct arguments){a->items + n, a->n_items - n, a->named};
}

static struct value map_by_filter(struct render *r, struct value in,
                                  const struct arguments *all) {
    struct list items = items_if_any(r, in);
    struct value *mapped = render_values(r, items.n_items);
    const struct filter *filter = all->n_items && all->items[0].kind == VALUE_TEXT
                                      ? filter_find(all->items[0].text)
                                      : NULL;
    if (!filter) return render_fail(r, ERR_UNSUPPORTED, "map: there is no such filter");
    struct arguments rest = behind(all, 1);
    for (size_t i = 0; mapped && i < items.n_items && render_step(r, 1); i++)
        mapped[i] = filter_run(r, filter, items.items[i], &rest);
    return value_list(mapped, mapped ? items.n_items : 0);
}

static struct value run_map(struct render *r, struct value in, const struct value *arg,
                            const struct arguments *all) {
    const struct value *path = dict_find(&all->named, text_own("attribute"));
    const struct value *otherwise = dict_find(&all->named, text_own("default"));
    (void)arg;
    if (!path) return map_by_filter(r, in, all);
    struct list items = items_if_any(r, in);
    struct value *mapped = render_values(r, items.n_items);
    for (size_t i = 0; mapped && i < items.n_items && render_step(r, 1); i++) {
        mapped[i] = path_get(r, items.items[i], *path);
        if (otherwise && !value_is_given(mapped[i])) mapped[i] = *otherwise;
    }
    return value_list(mapped, mapped ? items.n_items : 0);
}

// Items for which a test says `wanted`; without a test, those that are true. has_path: the first
// argument says which field is asked.
static struct value choose(struct render *r, struct value in, const struct arguments *all,
                           bool has_path, bool wanted) {
    struct list items = items_if_any(r, in);
    struct value *chosen = render_values(r, items.n_items);
    size_t n = 0;
    if (!chosen) return value_none();
    if (has_path && all->n_items == 0)
        return render_fail(r, ERR_INPUT, "selectattr takes the name of a field");

    struct arguments rest = behind(all, has_path);
    bool has_test = rest.n_items > 0;
    const struct test *test =
        has_test && rest.items[0].kind == VALUE_TEXT ? test_find(rest.items[0].text) : NULL;
    if (has_test && !test)
        return render_fail(r, ERR_UNSUPPORTED, "select: there is no such test");
    if (has_test) rest = behind(&rest, 1);
    for (size_t i = 0; i < items.n_items && render_step(r, 1); i++) {
        struct value v = items.items[i];
        if (has_path) v = path_get(r, v, all->items[0]);
        bool holds = has_test ? test_holds(r, test, v, &rest) : value_is_true(v);
        if (holds == wanted) chosen[n++] = items.items[i];
    }
    return value_list(chosen, n);
}

static struct value run_select(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    (void)arg;
    return choose(r, in, all, false, true);
}

static struct value run_reject(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    (void)arg;
    return choose(r, in, all, false, false);
}

static struct value run_selectattr(struct render *r, struct value in,
                                   const struct value *arg, const struct arguments *all) {
    (void)arg;
    return choose(r, in, all, true, true);
}

static struct value run_rejectattr(struct render *r, struct value in,
                                   const struct value *arg, const struct arguments *all) {
    (void)arg;
    return choose(r, in, all, true, false);
}

// ---- order --------------------------------------------------------------------------------------

// What an item is ordered by: a field of it, in lower case unless case counts.
static struct value order_key(struct render *r, struct value item, struct value path,
                              bool has_case) {
    struct value key = value_is_given(path) ? path_get(r, item, path) : item;
    if (key.kind == VALUE_TEXT && !has_case) key.text = text_lower(r, key.text);
    return key;
}

// Items by their keys; equal ones keep their order. Merging takes n log n steps.
static void merge_sort(struct render *r, struct value_at *items, struct value_at *spare,
                       size_t n, bool is_down) {
    if (n < 2 || r->st) return;
    size_t half = n / 2, a = 0, b = half;
    merge_sort(r, items, spare, half, is_down);
    merge_sort(r, items + half, spare, n - half, is_down);
    for (size_t i = 0; i < n && render_step(r, 1); i++) {
        bool takes_left = a < half;
        if (takes_left && b < n) {
            int order = value_order(r, items[a].key, items[b].key);
            takes_left = is_down ? order >= 0 : order <= 0;
        }
        spare[i] = items[takes_left ? a++ : b++];
    }
    if (!r->st) memcpy(items, spare, n * sizeof(*items));
}

static struct value sort_items(struct render *r, struct list list, struct value path,
                               bool has_case, bool is_down) {
    struct value_at *items = pool_take(r->pool, list.n_items, sizeof(*items));
    struct value_at *spare = pool_take(r->pool, list.n_items, sizeof(*spare));
    struct value *sorted = render_values(r, list.n_items);
    if (!items || !spare) return render_no_memory(r);
    for (size_t i = 0; i < list.n_items && !r->st; i++)
        items[i] =
            (struct value_at){list.items[i], order_key(r, list.items[i], path, has_case)};
    merge_sort(r, items, spare, list.n_items, is_down);
    for (size_t i = 0; i < list.n_items && !r->st; i++) sorted[i] = items[i].item;
    return value_list(sorted, r->st ? 0 : list.n_items);
}

static struct value run_sort(struct render *r, struct value in, const struct value *arg,
                             const struct arguments *all) {
    enum { REVERSE, CASE_SENSITIVE, ATTRIBUTE };
    (void)all;
    return sort_items(r, iterate(r, in), arg[ATTRIBUTE], value_is_true(arg[CASE_SENSITIVE]),
                      value_is_true(arg[REVERSE]));
}

static struct value run_dictsort(struct render *r, struct value in, const struct value *arg,
                                 const struct arguments *all) {
    enum { CASE_SENSITIVE, BY, REVERSE };
    bool by_value = arg[BY].kind == VALUE_TEXT && text_is(arg[BY].text, "value");
    if (in.kind != VALUE_DICT) return render_type_error(r, "dictsort", in, NULL);
    struct value pairs = run_items(r, in, NULL, all);
    return sort_items(r, pairs.list, value_int(by_value),
                      value_is_true(arg[CASE_SENSITIVE]), value_is_true(arg[REVERSE]));
}

static struct value run_unique(struct render *r, struct value in, const struct value *arg,
                               const struct arguments *all) {
    struct list items = iterate(r, in);
    struct value *kept = render_values(r, items.n_items);
    struct value *keys = render_values(r, items.n_items);
    size_t n = 0;
    (void)all;
    for (size_t i = 0; kept && keys && i < items.n_items && render_step(r, 1); i++) {
        keys[n] = order_key(r, items.items[i], arg[1], value_is_true(arg[0]));
        if (value_contains(r, value_list(keys, n), keys[n])) continue;
        kept[n++] = items.items[i];
    }
    return value_list(kept, n);
}

static struct value extreme(struct render *r, struct value in, const struct value *arg,
                            int wanted) {
    struct list items = iterate(r, in);
    struct value best = value_undefined(text_own("item")), best_key = best;
    for (size_t i = 0; i < items.n_items && render_step(r, 1); i++) {
        struct value key = order_key(r, items.items[i], arg[1], value_is_true(arg[0]));
        if (i > 0 && value_order(r, key, best_key) * wanted <= 0) continue;
        best = items.items[i];
        best_key = key;
    }
    return best;
}

static struct value run_min(struct render *r, struct value in, const struct value *arg,
                            const struct arguments *all) {
    (void)all;
    return extreme(r, in, arg, -1);
}

static struct value run_max(struct render *r, struct value in, const struct value *arg,
                            const struct arguments *all) {
    (void)all;
    return extreme(r, in, arg, 1);
}

static struct value run_sum(struct render *r, struct value in, const struct value *arg,
                            const struct arguments *all) {
    struct list items = iterate(r, in);
    struct value sum = value_is_given(arg[1]) ? arg[1] : value_int(0);
    (void)all;
    for (size_t i = 0; i < items.n_items && render_step(r, 1); i++) {
        struct value v = items.items[i];
        if (value_is_given(arg[0])) v = path_get(r, v, arg[0]);
        sum = arithmetic(r, NODE_SUM, sum, v);
    }
    return sum;
}

const struct filter list_filters[] = {
    {"length",     run_length,     ""                                },
    {"count",      run_length,     ""                                },
    {"list",       run_list,       ""                                },
    {"first",      run_first,      ""                                },
    {"last",       run_last,       ""                                },
    {"items",      run_items,      ""                                },
    {"reverse",    run_reverse,    ""                                },
    {"join",       run_join,       "d attribute"                     },
    {"map",        run_map,        NULL                              },
    {"select",     run_select,     NULL                              },
    {"reject",     run_reject,     NULL                              },
    {"selectattr", run_selectattr, NULL                              },
    {"rejectattr", run_rejectattr, NULL                              },
    {"sort",       run_sort,       "reverse case_sensitive attribute"},
    {"dictsort",   run_dictsort,   "case_sensitive by reverse"       },
    {"unique",     run_unique,     "case_sensitive attribute"        },
    {"min",        run_min,        "case_sensitive attribute"        },
    {"max",        run_max,        "case_sensitive attribute"        },
    {"sum",        run_sum,        "attribute start"                 },
    {NULL,         NULL,           NULL                              },
};
