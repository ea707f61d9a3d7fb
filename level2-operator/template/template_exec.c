// Statements: they print, set names, and choose which statements come next.
#include "level2-operator/template/template_render.h"

#include "level2-operator/template/template_python.h"

// ---- set ----------------------------------------------------------------------------------------

static void assign(struct render *r, const struct node *target, struct value v);

static void unpack(struct render *r, const struct node *target, struct value v) {
    struct list items = iterate(r, v);
    size_t n = 0;
    for (const struct node *part = target->a; part; part = part->next) n++;
    if (!r->st && n != items.n_items)
        render_fail(r, ERR_INPUT, "%zu values for %zu names", items.n_items, n);
    n = 0;
    for (const struct node *part = target->a; part && !r->st; part = part->next)
        assign(r, part, items.items[n++]);
}

static void assign(struct render *r, const struct node *target, struct value v) {
    if (r->st) return;
    if (target->kind == NODE_TUPLE) {
        unpack(r, target, v);
    } else if (target->kind == NODE_NAME) {
        scope_set(r, r->scope, target->value.text, v);
    } else { // a field, of a namespace only
        struct value of = eval(r, target->a);
        if (of.kind != VALUE_NAMESPACE)
            render_type_error(r, "setting a field", of, NULL);
        else
            render_dict_set(r, of.dict, target->value.text, v);
    }
}

static void exec_set(struct render *r, const struct node *node) {
    assign(r, node->a, eval(r, node->b));
}

static void exec_set_block(struct render *r, const struct node *node) {
    struct value text = exec_captured(r, node->c, scope_begin(r, r->scope));
    if (node->b) text = eval_filters(r, node->b, text);
    assign(r, node->a, text);
}

// ---- blocks with a scope of their own -----------------------------------------------------------

static enum flow exec_in(struct render *r, const struct node *list, struct scope *scope) {
    struct scope *outer = r->scope;
    r->scope = scope;
    enum flow flow = exec(r, list);
    r->scope = outer;
    return flow;
}

struct value exec_captured(struct render *r, const struct node *list, struct scope *scope) {
    struct text_builder b, *outer = r->out;
    if (r->st) return value_none();
    render_builder(r, &b);
    r->out = &b;
    if (exec_in(r, list, scope) != FLOW_ON)
        render_fail(r, ERR_FORMAT, "break or continue outside of a loop");
    scope_end(r, scope);
    r->out = outer;
    return render_built(r, &b);
}

static void print_out(struct render *r, struct value v) {
    if (!r->st) print_value(r, r->out, v);
    if (r->out->failed) render_built(r, r->out); // says why
}

static void exec_with(struct render *r, const struct node *node) {
    struct scope *inside = scope_begin(r, r->scope);
    for (const struct node *set = node->a; set && !r->st; set = set->next)
        scope_set(r, inside, set->a->value.text, eval(r, set->b));
    print_out(r, exec_captured(r, node->b, inside));
}

static void exec_filter_block(struct render *r, const struct node *node) {
    struct value text = exec_captured(r, node->b, scope_begin(r, r->scope));
    print_out(r, eval_filters(r, node->a, text));
}

static void exec_scope(struct render *r, const struct node *node) {
    print_out(r, exec_captured(r, node->a, scope_begin(r, r->scope)));
}

// ---- macros -------------------------------------------------------------------------------------

// A copy that knows the scope it is made in.
static struct value macro_make(struct render *r, struct macro macro) {
    struct macro *m = pool_take(r->pool, 1, sizeof(*m));
    if (!m) return render_no_memory(r);
    *m = macro;
    m->scope = r->scope;
    for (struct scope *s = r->scope; s && !s->is_kept; s = s->parent) s->is_kept = true;
    return (struct value){.kind = VALUE_MACRO, .macro = m};
}

static void exec_macro(struct render *r, const struct node *node) {
    const struct macro m = {.name = node->value.text,
                            .params = node->a,
                            .body = node->b,
                            .has_varargs = node->c != NULL};
    scope_set(r, r->scope, m.name, macro_make(r, m));
}

// {% call m(x) %} body {% endcall %}: m is called, and may call the body as `caller`.
static void exec_call_block(struct render *r, const struct node *node) {
    struct value callee = eval(r, node->a->a);
    struct arguments a = eval_arguments(r, node->a->b);
    const struct macro body = {
        .name = text_own("caller"), .params = node->c, .body = node->b};
    struct value caller = macro_make(r, body);
    render_dict_set(r, &a.named, text_own("caller"), caller);
    r->line = node->line;
    if (!r->st) print_out(r, call(r, callee, &a));
}

// ---- loops --------------------------------------------------------------------------------------

// The items for which the condition holds; each is tried with its names set, in a scope that goes.
static struct list filter_items(struct render *r, const struct node *node,
                                struct list items) {
    size_t n = 0;
    struct value *kept = render_values(r, items.n_items);
    struct scope *outer = r->scope, inside = {.parent = outer}; // no macro is made in it
    r->scope = &inside;
    for (size_t i = 0; kept && i < items.n_items && !r->st; i++) {
        assign(r, node->a, items.items[i]);
        if (value_is_true(eval(r, node->e))) kept[n++] = items.items[i];
    }
    r->scope = outer;
    return (struct list){kept, n};
}

// The names of the round before are gone.
static enum flow exec_round(struct render *r, const struct node *node, struct loop *loop) {
    r->scope->names.n_entries = 0;
    scope_set(r, r->scope, text_own("loop"),
              (struct value){.kind = VALUE_LOOP, .loop = loop});
    assign(r, node->a, loop->items.items[loop->i]);
    return exec(r, node->c);
}

static void exec_rounds(struct render *r, const struct node *node, struct loop *loop) {
    struct scope *outer = r->scope, *inside = scope_begin(r, outer);
    if (inside) r->scope = inside;
    for (; loop->i < loop->items.n_items && !r->st; loop->i++)
        if (exec_round(r, node, loop) == FLOW_BREAK) break;
    r->scope = outer;
    scope_end(r, inside);
}

static enum flow exec_else(struct render *r, const struct node *list) {
    struct scope *inside = scope_begin(r, r->scope);
    enum flow flow = inside ? exec_in(r, list, inside) : FLOW_ON;
    scope_end(r, inside);
    return flow;
}

static enum flow exec_for(struct render *r, const struct node *node) {
    struct loop *loop = pool_take(r->pool, 1, sizeof(*loop));
    struct value over = eval(r, node->b);
    if (!loop) render_no_memory(r);
    if (r->st) return FLOW_ON;
    loop->items = iterate(r, over);
    if (node->e) loop->items = filter_items(r, node, loop->items);
    if (loop->items.n_items == 0) return exec_else(r, node->d);
    exec_rounds(r, node, loop);
    return FLOW_ON;
}

// ---- all of them --------------------------------------------------------------------------------

static enum flow exec_node(struct render *r, const struct node *node) {
    switch (node->kind) {
    case NODE_TEXT:
        print_out(r, node->value);
        break;
    case NODE_PRINT:
        print_out(r, eval(r, node->a));
        break;
    case NODE_IF:
        return exec(r, value_is_true(eval(r, node->a)) ? node->b : node->c);
    case NODE_FOR:
        return exec_for(r, node);
    case NODE_SET:
        exec_set(r, node);
        break;
    case NODE_SET_BLOCK:
        exec_set_block(r, node);
        break;
    case NODE_WITH:
        exec_with(r, node);
        break;
    case NODE_MACRO:
        exec_macro(r, node);
        break;
    case NODE_CALL_BLOCK:
        exec_call_block(r, node);
        break;
    case NODE_FILTER_BLOCK:
        exec_filter_block(r, node);
        break;
    case NODE_SCOPE:
        exec_scope(r, node);
        break;
    case NODE_BREAK:
        return FLOW_BREAK;
    case NODE_CONTINUE:
        return FLOW_CONTINUE;
    default:
        MUST(!"a statement");
    }
    return FLOW_ON;
}

enum flow exec(struct render *r, const struct node *list) {
    enum flow flow = FLOW_ON;
    if (!render_enter(r)) return FLOW_ON;
    for (; list && flow == FLOW_ON && !r->st; list = list->next) {
        r->line = list->line;
        flow = exec_node(r, list);
    }
    r->depth--;
    return flow;
}
