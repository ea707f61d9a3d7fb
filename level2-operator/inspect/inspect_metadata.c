// The table of keys.
#include "level2-operator/inspect/inspect.h"

#include <inttypes.h>

#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/inspect/inspect_text.h"

static void print_scalar(FILE *out, const struct gguf_value *v, bool whole) {
    struct gguf_string s;
    uint64_t u64;
    double f64;
    bool b;

    if (gguf_get_string(v, &s)) {
        text_quoted(out, s, whole);
    } else if (gguf_get_bool(v, &b)) {
        fputs(b ? "true" : "false", out);
    } else if (gguf_get_u64(v, &u64)) {
        fprintf(out, "%" PRIu64, u64);
    } else if (v->type == GGUF_F32 && gguf_get_f64(v, &f64)) {
        text_float(out, (float)f64);
    } else if (gguf_get_f64(v, &f64)) {
        fprintf(out, "%.17g", f64);
    } else {
        fputs("?", out); // a bool that is neither 0 nor 1
    }
}

static void print_items(FILE *out, const struct gguf_value *array, bool whole) {
    struct gguf_value item;
    struct gguf_string s;
    uint64_t pos = 0, i = 0;

    for (; i < array->n_items && i < SHOWN_ITEMS; i++) {
        bool is_string = gguf_next_string(array, &pos, &s);
        if (!is_string && !gguf_item(array, i, &item)) break; // arrays in arrays
        fputs(i ? ", " : "", out);
        if (is_string) {
            text_quoted(out, s, whole);
        } else {
            print_scalar(out, &item, whole);
        }
    }
    if (i < array->n_items) fputs(i ? ", ..." : "...", out);
}

static void print_type(FILE *out, const struct gguf_value *v, int width) {
    char text[48];
    if (v->type == GGUF_ARRAY) {
        snprintf(text, sizeof(text), "%s[%" PRIu64 "]", gguf_type_name(v->item_type),
                 v->n_items);
    } else {
        snprintf(text, sizeof(text), "%s", gguf_type_name(v->type));
    }
    fprintf(out, "%-*s ", width - 1, text); // a long one still ends before the value
}

void inspect_print_metadata(FILE *out, const struct gguf *g, bool whole) {
    int width = 0;
    for (uint64_t i = 0; i < g->n_keys; i++) width = text_widen(width, g->keys[i].name);
    for (uint64_t i = 0; i < g->n_keys; i++) {
        const struct gguf_key *key = &g->keys[i];
        fputs("  ", out);
        text_column(out, key->name, width);
        fputs("  ", out);
        print_type(out, &key->value, 14);
        if (key->value.type == GGUF_ARRAY) {
            print_items(out, &key->value, whole);
        } else {
            print_scalar(out, &key->value, whole);
        }
        putc('\n', out);
    }
}
