// Names, and what happens at a pair of parentheses.
#include "level2-operator/template/template_render.h"

struct scope *scope_begin(struct render *r, struct scope *parent) {
    struct scope *scope = r->spares;
    if (scope)
        r->spares = scope->parent;
    else
        scope = pool_take(r->pool, 1, sizeof(*scope));
    if (scope)
        scope->parent = parent;
    else
        render_no_memory(r);
    return scope;
}

void scope_end(struct render *r, struct scope *scope) {
    if (!scope || scope->is_kept) return;
    scope->names.n_entries = 0;
    scope->parent = r->spares;
    r->spares = scope;
}

const struct value *scope_find(struct render *r, struct text name) {
    for (const struct scope *scope = r->scope; scope; scope = scope->parent) {
        const struct value *found = render_dict_find(r, &scope->names, name);
        if (found) return found;
    }
    return NULL;
}

void scope_set(struct render *r, struct scope *scope, struct text name, struct value v) {
    if (!r->st) render_dict_set(r, &scope->names, name, v);
}

static struct value rest_of(struct render *r, const struct arguments *a, size_t n_used) {
    size_t n = a->n_items > n_used ? a->n_items - n_used : 0;
    struct value *items = render_values(r, n);
    for (size_t i = 0; items && i < n; i++) items[i] = a->items[n_used + i];
    return value_tuple(items, items ? n : 0);
}

static struct value refuse_argument(struct render *r, const struct macro *m) {
    return render_fail(r, ERR_INPUT, "the macro '%.*s' was called with wrong arguments",
                       (int)(m->name.n_bytes < 80 ? m->name.n_bytes : 80), m->name.bytes);
}

// Each parameter by place, by name, or by its default, which may use those before it.
static void bind_parameters(struct render *r, const struct macro *m,
                            const struct arguments *a) {
    size_t i = 0, n_by_name = 0;
    for (const struct node *param = m->params; param && !r->st; param = param->next, i++) {
        struct text name = param->value.text;
        const struct value *by_name = render_dict_find(r, &a->named, name);
        struct value v = value_undefined(name);
        n_by_name += by_name != NULL;
        if (by_name && i < a->n_items) refuse_argument(r, m);
        if (i < a->n_items)
            v = a->items[i];
        else if (by_name)
            v = *by_name;
        else if (param->a)
            v = eval(r, param->a);
        scope_set(r, r->scope, name, v);
    }
    const struct value *caller = dict_find(&a->named, text_own("caller"));
    if (caller && !dict_find(&r->scope->names, text_own("caller"))) {
        scope_set(r, r->scope, text_own("caller"), *caller);
        n_by_name++;
    }
    if (n_by_name < a->named.n_entries) refuse_argument(r, m);
    if (a->n_items > i && !m->has_varargs) refuse_argument(r, m);
    if (m->has_varargs) scope_set(r, r->scope, text_own("varargs"), rest_of(r, a, i));
}

static struct value call_macro(struct render *r, const struct macro *m,
                               const struct arguments *a) {
    struct scope *scope = scope_begin(r, m->scope), *outer = r->scope;
    if (!scope || !render_enter(r)) return value_none();
    r->scope = scope;
    bind_parameters(r, m, a);
    struct value text = exec_captured(r, m->body, scope);
    r->scope = outer;
    r->depth--;
    return text;
}

struct value call(struct render *r, struct value callee, const struct arguments *a) {
    switch (callee.kind) {
    case VALUE_MACRO:
        return call_macro(r, callee.macro, a);
    case VALUE_FUNCTION:
        return callee.function->call(r, a);
    case VALUE_METHOD:
        return method_call(r, callee.method, a);
    default:
        return render_type_error(r, "a call", callee, NULL);
    }
}
