// What an expression of a template is worth: the values of Python, as far as JSON and templates need
// them. Small ones are held, the rest is pointed to; all of it lies in the pool of one rendering.
//
// Lists, tuples and texts never change; templates run in a sandbox that forbids append and its like.
// Dicts change only while they are made; a namespace is the one thing that a template may write to.
#ifndef LEVEL2_TEMPLATE_VALUE_H
#define LEVEL2_TEMPLATE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "level2-operator/template/template_text.h"

enum value_kind {
    VALUE_UNDEFINED, // a name that nothing stands for: empty, but no field can be asked of it
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_TEXT,
    VALUE_LIST,
    VALUE_TUPLE,
    VALUE_DICT,
    VALUE_NAMESPACE,
    VALUE_LOOP,     // the variable `loop`
    VALUE_MACRO,    // what {% macro %} makes, and `caller`
    VALUE_FUNCTION, // namespace, range, raise_exception, ...
    VALUE_METHOD,   // a function of a text or a dict, not called yet
    VALUE_KIND_COUNT
};

struct value;
struct dict;
struct loop;
struct macro;
struct method;
struct function;

struct list {
    const struct value *items; // (n_items)
    size_t n_items;
};

struct value {
    enum value_kind kind;
    union {
        bool boolean;
        int64_t integer;
        double real;
        struct text text;  // of VALUE_UNDEFINED: its name, for the error message
        struct list list;  // of tuples too
        struct dict *dict; // of namespaces too
        const struct loop *loop;
        const struct macro *macro;
        const struct function *function;
        const struct method *method;
    };
};

struct entry {
    struct value key, value;
};

struct dict {              // in the order of insertion
    struct entry *entries; // (n_entries)
    size_t n_entries, capacity;
};

static inline struct value value_none(void) {
    return (struct value){.kind = VALUE_NONE};
}
static inline struct value value_undefined(struct text name) {
    return (struct value){.kind = VALUE_UNDEFINED, .text = name};
}
static inline struct value value_bool(bool boolean) {
    return (struct value){.kind = VALUE_BOOL, .boolean = boolean};
}
static inline struct value value_int(int64_t integer) {
    return (struct value){.kind = VALUE_INT, .integer = integer};
}
static inline struct value value_float(double real) {
    return (struct value){.kind = VALUE_FLOAT, .real = real};
}
static inline struct value value_text(struct text text) {
    return (struct value){.kind = VALUE_TEXT, .text = text};
}
static inline struct value value_list(const struct value *items, size_t n_items) {
    return (struct value){
        .kind = VALUE_LIST, .list = {items, n_items}
    };
}
static inline struct value value_tuple(const struct value *items, size_t n_items) {
    return (struct value){
        .kind = VALUE_TUPLE, .list = {items, n_items}
    };
}

static inline bool value_is_given(struct value v) { // an argument, a field
    return v.kind != VALUE_UNDEFINED;
}
static inline bool value_is_list(struct value v) {
    return v.kind == VALUE_LIST || v.kind == VALUE_TUPLE;
}
// Python's bool is a number, too.
static inline bool value_is_whole(struct value v) {
    return v.kind == VALUE_BOOL || v.kind == VALUE_INT;
}
static inline bool value_is_number(struct value v) {
    return value_is_whole(v) || v.kind == VALUE_FLOAT;
}
static inline int64_t value_whole(struct value v) {
    return v.kind == VALUE_BOOL ? v.boolean : v.integer;
}
static inline double value_real(struct value v) {
    return v.kind == VALUE_FLOAT ? v.real : (double)value_whole(v);
}

// Python's name of the type, for messages: "str", "NoneType".
const char *value_type_name(struct value v);

// Empty, zero, none and undefined are false.
bool value_is_true(struct value v);

// Keys that are texts. NULL: not there.
const struct value *dict_find(const struct dict *d, struct text key);
// false: no memory. An entry with an equal key is written over.
bool dict_set(struct dict *d, struct text key, struct value value, struct pool *pool);
// The same without looking for an equal key.
bool dict_append(struct dict *d, struct value key, struct value value, struct pool *pool);

#endif
