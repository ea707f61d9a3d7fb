// The counters and the failure of one rendering.
#include "level2-operator/template/template_render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/template/template_lexer.h"

enum {
    BYTES_PER_STEP = 32,
    STRIPPED_PER_STEP = 4, // bytes: these are looked at one character after the other
    NAMES_PER_STEP = 2
};

struct value render_fail(struct render *r, enum status code, const char *format, ...) {
    char what[200];
    va_list args;

    if (r->st) return value_none();
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    r->st = template_refuse(r->err, code, r->line, "%s", what);
    return value_none();
}

struct value render_no_memory(struct render *r) {
    if (r->pool->why == ERR_LIMIT)
        return render_fail(r, ERR_LIMIT, "takes more memory than the request justifies");
    return render_fail(r, ERR_MEMORY, "no memory to render it");
}

struct value render_type_error(struct render *r, const char *what, struct value a,
                               const struct value *b) {
    const struct value *missing = NULL;
    if (b && b->kind == VALUE_UNDEFINED) missing = b;
    if (a.kind == VALUE_UNDEFINED) missing = &a;
    if (missing)
        return render_fail(r, ERR_INPUT, "'%.*s' is undefined",
                           (int)(missing->text.n_bytes < 80 ? missing->text.n_bytes : 80),
                           missing->text.bytes);
    if (b)
        return render_fail(r, ERR_INPUT, "%s is not possible with %s and %s", what,
                           value_type_name(a), value_type_name(*b));
    return render_fail(r, ERR_INPUT, "%s is not possible with %s", what,
                       value_type_name(a));
}

bool render_step(struct render *r, size_t n_steps) {
    if (r->st) return false;
    if (n_steps > (size_t)(LIMIT_TEMPLATE_STEPS - r->n_steps)) {
        render_fail(r, ERR_LIMIT, "takes more than %d steps", LIMIT_TEMPLATE_STEPS);
        return false;
    }
    r->n_steps += (int64_t)n_steps;
    return true;
}

bool render_bytes(struct render *r, size_t n_bytes) {
    return render_step(r, n_bytes / BYTES_PER_STEP);
}

size_t render_find(struct render *r, struct text t, struct text needle, size_t from) {
    size_t at = text_candidate(t, needle, from);
    while (at != SIZE_MAX && render_bytes(r, BYTES_PER_STEP + needle.n_bytes)) {
        if (text_stands_at(t, needle, at)) break;
        at = text_candidate(t, needle, at + 1);
    }
    size_t end = at == SIZE_MAX ? t.n_bytes : at;
    return render_bytes(r, end > from ? end - from : 0) ? at : SIZE_MAX;
}

size_t render_find_last(struct render *r, struct text t, struct text needle) {
    if (needle.n_bytes > t.n_bytes) return SIZE_MAX;
    size_t end = t.n_bytes - needle.n_bytes + 1, at = end;
    while (at-- > 0) {
        if (needle.n_bytes && t.bytes[at] != needle.bytes[0]) continue;
        if (!render_bytes(r, BYTES_PER_STEP + needle.n_bytes)) return SIZE_MAX;
        if (text_stands_at(t, needle, at)) break;
    }
    return render_bytes(r, at == SIZE_MAX ? end : end - at) ? at : SIZE_MAX;
}

struct text render_strip(struct render *r, struct text t, const struct text *chars,
                         enum text_side side) {
    size_t n_tries = chars && chars->n_bytes ? chars->n_bytes : 1;
    if (!render_bytes(r, t.n_bytes * n_tries)) return text_own("");
    struct text rest = text_strip(t, chars, side);
    size_t n_stripped = t.n_bytes - rest.n_bytes;
    return render_step(r, n_stripped / STRIPPED_PER_STEP) ? rest : text_own("");
}

bool render_enter(struct render *r) {
    if (!render_step(r, 1)) return false;
    if (r->depth >= LIMIT_TEMPLATE_DEPTH) {
        render_fail(r, ERR_LIMIT, "nested deeper than %d", LIMIT_TEMPLATE_DEPTH);
        return false;
    }
    r->depth++;
    return true;
}

// Every name is looked at, and the bytes of those that are as long as the key.
static bool look_through(struct render *r, const struct dict *d, struct text key) {
    return render_step(r, d->n_entries / NAMES_PER_STEP) && render_bytes(r, key.n_bytes);
}

const struct value *render_dict_find(struct render *r, const struct dict *d,
                                     struct text key) {
    return look_through(r, d, key) ? dict_find(d, key) : NULL;
}

void render_dict_set(struct render *r, struct dict *d, struct text key, struct value v) {
    if (!look_through(r, d, key)) return;
    if (!dict_set(d, key, v, r->pool)) render_no_memory(r);
}

void render_builder(struct render *r, struct text_builder *b) {
    text_builder_init(b, r->pool, LIMIT_TEMPLATE_OUTPUT_BYTES);
}

struct value render_built(struct render *r, const struct text_builder *b) {
    if (!b->failed && render_bytes(r, b->n_bytes)) return value_text(text_built(b));
    if (b->is_long)
        return render_fail(r, ERR_LIMIT, "makes a text of more than %d bytes",
                           LIMIT_TEMPLATE_OUTPUT_BYTES);
    return render_no_memory(r);
}

struct value *render_values(struct render *r, size_t n) {
    struct value *values =
        render_step(r, n) ? pool_take(r->pool, n, sizeof(*values)) : NULL;
    if (!values) render_no_memory(r);
    return values;
}

// ---- arguments ----------------------------------------------------------------------------------

// The place of a name in "width first blank"; -1: not there.
static int name_index(const char *names, struct text name) {
    for (int i = 0; *names; i++) {
        size_t n = strcspn(names, " ");
        if (n == name.n_bytes && memcmp(names, name.bytes, n) == 0) return i;
        names += n + (names[n] == ' ');
    }
    return -1;
}

static size_t count_names(const char *names) {
    size_t n = *names != '\0';
    for (; *names; names++) n += *names == ' ';
    return n;
}

bool arguments_bind(struct render *r, const struct arguments *a, const char *function,
                    const char *names, struct value *slots) {
    for (int i = 0; i < MAX_ARGUMENTS; i++)
        slots[i] = value_undefined(text_own("argument"));
    if (a->n_items > count_names(names)) {
        render_fail(r, ERR_INPUT, "%s: too many arguments", function);
        return false;
    }
    for (size_t i = 0; i < a->n_items; i++) slots[i] = a->items[i];
    for (size_t i = 0; i < a->named.n_entries; i++) {
        struct text name = a->named.entries[i].key.text;
        int at = name_index(names, name);
        if (at < 0 || (size_t)at < a->n_items) {
            render_fail(r, ERR_INPUT, "%s: unexpected argument '%.*s'", function,
                        (int)(name.n_bytes < 80 ? name.n_bytes : 80), name.bytes);
            return false;
        }
        slots[at] = a->named.entries[i].value;
    }
    return !r->st;
}
