// Texts cut into lists, and lists made into texts.
#include "level2-operator/template/template_python.h"

#include <string.h>

#include "common/utf8.h"
#include "level2-operator/template/template_render.h"

// Below 0: always. To be counted down.
static size_t times_of(int64_t max_times) {
    return max_times < 0 ? SIZE_MAX : (size_t)max_times;
}

// Parts of a text, one after the other.
struct parts {
    struct render *r;
    struct value *items; // (capacity)
    size_t n_items, capacity;
};

static void parts_add(struct parts *p, struct text part) {
    if (p->n_items == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 8;
        struct value *items = render_values(p->r, capacity);
        if (!items) return;
        if (p->n_items) memcpy(items, p->items, p->n_items * sizeof(*items));
        p->items = items;
        p->capacity = capacity;
    }
    p->items[p->n_items++] = value_text(part);
}

// By runs of white space: no empty parts.
static void split_words(struct parts *p, struct text t, size_t n_splits) {
    t = text_strip(t, NULL, TEXT_LEFT);
    while (t.n_bytes > 0 && !p->r->st) {
        size_t end = 0, n_used;
        if (n_splits-- == 0) end = t.n_bytes;
        while (end < t.n_bytes) {
            if (text_is_space(utf8_next(t.bytes + end, t.n_bytes - end, &n_used))) break;
            end += n_used;
        }
        parts_add(p, text_slice(t, 0, end));
        t = text_strip(text_slice(t, end, t.n_bytes), NULL, TEXT_LEFT);
    }
}

struct value text_split(struct render *r, struct text t, const struct text *separator,
                        int64_t max_splits) {
    struct parts p = {.r = r};
    size_t begin = 0, end, n_splits = times_of(max_splits);

    render_bytes(r, t.n_bytes);
    if (!separator) {
        split_words(&p, t, n_splits);
        return value_list(p.items, p.n_items);
    }
    if (separator->n_bytes == 0) return render_fail(r, ERR_INPUT, "split: no separator");
    while (!r->st && n_splits-- != 0 &&
           (end = render_find(r, t, *separator, begin)) != SIZE_MAX) {
        parts_add(&p, text_slice(t, begin, end));
        begin = end + separator->n_bytes;
    }
    parts_add(&p, text_slice(t, begin, t.n_bytes));
    return value_list(p.items, p.n_items);
}

// Found from the right: of separators that overlap, others count than from the left.
struct value text_split_right(struct render *r, struct text t, struct text separator,
                              int64_t max_splits) {
    struct parts p = {.r = r};
    size_t end = t.n_bytes, at, n_splits = times_of(max_splits);

    if (separator.n_bytes == 0) return render_fail(r, ERR_INPUT, "split: no separator");
    while (!r->st && n_splits-- != 0 &&
           (at = render_find_last(r, text_slice(t, 0, end), separator)) != SIZE_MAX) {
        parts_add(&p, text_slice(t, at + separator.n_bytes, end));
        end = at;
    }
    parts_add(&p, text_slice(t, 0, end));
    for (size_t i = 0; i < p.n_items / 2; i++) {
        struct value swapped = p.items[i];
        p.items[i] = p.items[p.n_items - 1 - i];
        p.items[p.n_items - 1 - i] = swapped;
    }
    return value_list(p.items, p.n_items);
}

// What ends a line in Python.
static bool is_line_end(int32_t c) {
    return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
           c == 0x2028 || c == 0x2029;
}

struct value text_split_lines(struct render *r, struct text t) {
    struct parts p = {.r = r};
    size_t begin = 0, n_used;

    render_bytes(r, t.n_bytes);
    for (size_t at = 0; at < t.n_bytes && !r->st; at += n_used) {
        if (!is_line_end(utf8_next(t.bytes + at, t.n_bytes - at, &n_used))) continue;
        parts_add(&p, text_slice(t, begin, at));
        if (t.bytes[at] == '\r' && at + 1 < t.n_bytes && t.bytes[at + 1] == '\n')
            n_used = 2;
        begin = at + n_used;
    }
    if (begin < t.n_bytes) parts_add(&p, text_slice(t, begin, t.n_bytes));
    return value_list(p.items, p.n_items);
}

// An empty old text stands before each character and at the end, as in Python.
static void replace_empty(struct text_builder *b, struct text t, struct text new,
                          size_t n_times) {
    size_t n_used;
    for (size_t at = 0; at < t.n_bytes && !b->failed; at += n_used) {
        if (n_times-- != 0)
            text_put(b, new);
        else
            n_times = 0;
        utf8_next(t.bytes + at, t.n_bytes - at, &n_used);
        text_put(b, text_slice(t, at, at + n_used));
    }
    if (n_times != 0) text_put(b, new);
}

struct value text_replace(struct render *r, struct text t, struct text old, struct text new,
                          int64_t max_times) {
    struct text_builder b;
    size_t begin = 0, end, n_times = times_of(max_times);

    if (old.n_bytes && render_find(r, t, old, 0) == SIZE_MAX) return value_text(t);
    render_builder(r, &b);
    if (old.n_bytes == 0) {
        replace_empty(&b, t, new, n_times);
        return render_built(r, &b);
    }
    while (!b.failed && n_times-- != 0 &&
           (end = render_find(r, t, old, begin)) != SIZE_MAX) {
        text_put(&b, text_slice(t, begin, end));
        text_put(&b, new);
        begin = end + old.n_bytes;
    }
    text_put(&b, text_slice(t, begin, t.n_bytes));
    return render_built(r, &b);
}

struct value text_join(struct render *r, struct text separator, struct list items) {
    struct text_builder b;
    render_builder(r, &b);
    for (size_t i = 0; i < items.n_items && !b.failed && !r->st; i++) {
        if (i > 0) text_put(&b, separator);
        print_value(r, &b, items.items[i]);
    }
    return render_built(r, &b);
}
