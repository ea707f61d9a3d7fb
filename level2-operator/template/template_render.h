// One rendering under way: what all parts of the interpreter share; what Python does with values is in
// template_python.h. Private to template_*.c.
//
// After the first failure every function gives VALUE_NONE and writes nothing, so that an expression is
// written as in any language, and only loops and statements look at r->st.
#ifndef LEVEL2_TEMPLATE_RENDER_H
#define LEVEL2_TEMPLATE_RENDER_H

#include "level2-operator/template/template_node.h"

// Of a loop, a macro, a block: names set inside are not seen outside. A scope that ended is used again,
// unless a macro was made in it, which may look names up there for as long as it lives.
struct scope {
    struct scope *parent; // NULL: the outermost; of a spare one: the next
    struct dict names;
    bool is_kept;
};

struct render {
    // borrowed
    struct pool *pool;
    struct text_builder *out; // where statements print to
    struct scope *scope;      // the innermost
    struct scope *spares;     // ended ones, to be used again
    struct error *err;
    int64_t now_s;
    // state
    enum status st; // of the first failure
    int line;       // of the statement or call under way
    int depth;      // nodes inside nodes, values inside values
    int64_t n_steps;
};

struct loop {
    struct list items;
    size_t i;
};

struct macro {
    struct text name;
    const struct node *params, *body;
    struct scope *scope; // where it was made
    bool has_varargs;    // it takes more arguments than it has names for
};

struct method {
    struct value of;
    struct text name;
};

struct arguments {
    const struct value *items; // (n_items): those without a name
    size_t n_items;
    struct dict named;
};

typedef struct value function_fn(struct render *r, const struct arguments *arguments);
struct function {
    const char *name;
    function_fn *call;
};

// ---- template_render.c --------------------------------------------------------------------------

// Always VALUE_NONE. Only the first failure counts.
struct value render_fail(struct render *r, enum status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
struct value render_no_memory(struct render *r); // pool_take gave NULL
// "+ is not possible with str and NoneType"; or, if one of them is undefined, its name. b may be NULL.
struct value render_type_error(struct render *r, const char *what, struct value a,
                               const struct value *b);

// Work is counted, so that no template runs for ever. false: it failed, now or before.
bool render_step(struct render *r, size_t n_steps);
// The same for work over bytes, many of which make a step.
bool render_bytes(struct render *r, size_t n_bytes);
// Pairs with r->depth--. false: too deep, or it failed before.
bool render_enter(struct render *r);

// text_find for needles that a message may bring: a bad pair costs the product of their lengths, so
// what is compared is counted. SIZE_MAX: not there, or failed.
size_t render_find(struct render *r, struct text t, struct text needle, size_t from);
size_t render_find_last(struct render *r, struct text t, struct text needle);
struct text render_strip(struct render *r, struct text t, const struct text *chars,
                         enum text_side side);

// dict_find and dict_set where a message or a template chooses how many names there are: what is looked
// through is counted. NULL: not there, or failed. A failed rendering sets nothing.
const struct value *render_dict_find(struct render *r, const struct dict *d,
                                     struct text key);
void render_dict_set(struct render *r, struct dict *d, struct text key, struct value v);

void render_builder(struct render *r, struct text_builder *b);
// The text of a builder, or none and a failure.
struct value render_built(struct render *r, const struct text_builder *b);
struct value *render_values(struct render *r, size_t n); // NULL: failed

// The first n arguments into slots, by place or by name; slots that are not given are undefined.
// names: "width first blank". false: too many, or an unknown name.
bool arguments_bind(struct render *r, const struct arguments *a, const char *function,
                    const char *names, struct value *slots);
enum { MAX_ARGUMENTS = 4 }; // of what is bound by name

// ---- template_eval.c, template_exec.c, template_call.c ------------------------------------------

struct value eval(struct render *r, const struct node *node);
struct arguments eval_arguments(struct render *r, const struct node *list);
struct value eval_filters(struct render *r, const struct node *filter, struct value input);

enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE };
enum flow exec(struct render *r, const struct node *list);
// What the statements print, as a text, in that scope, which ends. NULL: failed before.
struct value exec_captured(struct render *r, const struct node *list, struct scope *scope);

struct value call(struct render *r, struct value callee, const struct arguments *a);
struct scope *scope_begin(struct render *r, struct scope *parent); // NULL: failed
void scope_end(struct render *r, struct scope *scope);             // NULL does nothing
const struct value *scope_find(struct render *r,
                               struct text name); // from the innermost out
void scope_set(struct render *r, struct scope *scope, struct text name, struct value v);

// ---- template_method.c, template_function.c -----------------------------------------------------

// NULL: no method of that name for such a value.
struct value method_find(struct render *r, struct value of, struct text name);
struct value method_call(struct render *r, const struct method *m,
                         const struct arguments *a);
const struct function *function_find(struct text name);

#endif
