// The tables of `inspect`. Everything from the file passes common/printable.h, which lets through only
// what a terminal shows and does not obey.
#include "level2-operator/inspect.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/printable.h"
#include "common/utf8.h"
#include "level2-operator/gguf_value.h"
#include "level2-operator/rows_for.h"

enum {
    SHOWN_BYTES = 60, // of a string, unless it is asked for
    SHOWN_ITEMS = 6,  // of an array
    MAX_COLUMN = 44   // width of a column of names
};

// ---- pieces of a line ---------------------------------------------------------------------------

static void print_column(FILE *out, struct gguf_string s, int width) {
    int n_columns = printable_write(out, s.bytes, (size_t)s.n_bytes);
    fprintf(out, "%*s", n_columns < width ? width - n_columns : 0, "");
}

static void print_quoted(FILE *out, struct gguf_string s, bool whole) {
    size_t n = (size_t)s.n_bytes;
    if (!whole && n > SHOWN_BYTES) n = utf8_whole(s.bytes, SHOWN_BYTES);
    printable_quote(out, s.bytes, n);
    if (n < s.n_bytes) fprintf(out, " ... %" PRIu64 " bytes", s.n_bytes);
}

// 134515008 as "134,515,008". text needs 32 bytes.
static const char *grouped(char *text, uint64_t number) {
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, number);
    char *to = text;
    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return text;
}

// The shortest decimal that reads back as the same float.
static void print_float(FILE *out, float x) {
    char text[32];
    for (int n_digits = 6; n_digits <= 9; n_digits++) {
        snprintf(text, sizeof(text), "%.*g", n_digits, (double)x);
        if (strtof(text, NULL) == x) break;
    }
    fputs(text, out);
}

static void print_size(FILE *out, uint64_t n_bytes) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)n_bytes;
    int unit = 0;
    for (; n >= 1024 && unit < 4; unit++) n /= 1024;
    fprintf(out, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

// Slowest dimension first, as in docs/shapes.md; the file holds them the other way round.
static void print_shape(FILE *out, const struct tensor_view *view, int width) {
    char text[96] = "(";
    int n = 1;
    for (int i = view->n_dims - 1; i >= 0; i--)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "%" PRIu64 "%s", view->dim[i],
                      i ? ", " : ")");
    fprintf(out, "%-*s", width, text);
}

// ---- summary ------------------------------------------------------------------------------------

static uint64_t value_count(const struct tensor_view *view) {
    return view->dim[0] * view->dim[1] * view->dim[2] *
           view->dim[3]; // gguf_parse: no overflow
}

static int by_bytes(const void *a, const void *b) {
    const struct inspect_type *x = a, *y = b;
    if (x->n_bytes != y->n_bytes) return x->n_bytes < y->n_bytes ? 1 : -1;
    return (int)x->dtype - (int)y->dtype;
}

int inspect_types(struct inspect_type *types, const struct gguf *g) {
    int n_types = 0;
    memset(types, 0, DTYPE_COUNT * sizeof(*types));
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct tensor_view *view = &g->tensors[i].view;
        struct inspect_type *type = &types[view->dtype];
        type->dtype = view->dtype;
        type->n_tensors++;
        type->n_values += value_count(view);
        type->n_bytes += view->n_bytes;
    }
    qsort(types, DTYPE_COUNT, sizeof(*types), by_bytes);
    while (n_types < DTYPE_COUNT && types[n_types].n_tensors > 0) n_types++;
    return n_types;
}

static void print_types(FILE *out, const struct inspect_type *types, int n_types,
                        uint64_t n_bytes) {
    char values[32], bytes[32];
    fprintf(out, "\n  %-7s %8s %16s %16s %7s\n", "type", "tensors", "parameters", "bytes",
            "share");
    for (int i = 0; i < n_types; i++)
        fprintf(out, "  %-7s %8" PRIu64 " %16s %16s %6.1f%%\n",
                dtype_info(types[i].dtype)->name, types[i].n_tensors,
                grouped(values, types[i].n_values), grouped(bytes, types[i].n_bytes),
                100.0 * (double)types[i].n_bytes / (double)n_bytes);
}

static void print_string_key(FILE *out, const struct gguf *g, const char *label,
                             const char *key) {
    struct gguf_string s;
    if (!gguf_get_string(gguf_find(g, key), &s)) return;
    fprintf(out, "  %-13s ", label);
    printable_write(out, s.bytes,
                    s.n_bytes < SHOWN_BYTES ? (size_t)s.n_bytes : SHOWN_BYTES);
    putc('\n', out);
}

void inspect_print_summary(FILE *out, const struct inspected *in) {
    const struct gguf *g = in->gguf;
    struct inspect_type types[DTYPE_COUNT];
    int n_types = inspect_types(types, g);
    uint64_t n_values = 0;
    char number[32];

    for (int i = 0; i < n_types; i++) n_values += types[i].n_values;
    printable_write(out, in->file, strlen(in->file));
    fprintf(out, "\n  %-13s GGUF version %" PRIu32 ", alignment %" PRIu32 "\n", "format",
            g->version, g->alignment);
    print_string_key(out, g, "architecture", "general.architecture");
    print_string_key(out, g, "name", "general.name");
    fprintf(out, "  %-13s %s\n", "parameters", grouped(number, n_values));
    fprintf(out, "  %-13s %s bytes (", "size", grouped(number, in->n_bytes));
    print_size(out, in->n_bytes);
    if (n_values)
        fprintf(out, ", %.2f bits per parameter",
                8.0 * (double)in->n_bytes / (double)n_values);
    fprintf(out, ")\n  %-13s %" PRIu64 " keys, %" PRIu64 " tensors\n", "holds", g->n_keys,
            g->n_tensors);
    if (n_types) print_types(out, types, n_types, in->n_bytes);
}

// ---- metadata -----------------------------------------------------------------------------------

static void print_scalar(FILE *out, const struct gguf_value *v, bool whole) {
    struct gguf_string s;
    uint64_t u64;
    double f64;
    bool b;

    if (gguf_get_string(v, &s)) {
        print_quoted(out, s, whole);
    } else if (gguf_get_bool(v, &b)) {
        fputs(b ? "true" : "false", out);
    } else if (gguf_get_u64(v, &u64)) {
        fprintf(out, "%" PRIu64, u64);
    } else if (v->type == GGUF_F32 && gguf_get_f64(v, &f64)) {
        print_float(out, (float)f64);
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
            print_quoted(out, s, whole);
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
    fprintf(out, "%-*s", width, text);
}

// Width of the longest name, within reason.
static int widen(int width, struct gguf_string name) {
    if (name.n_bytes >= MAX_COLUMN) return MAX_COLUMN;
    return (int)name.n_bytes > width ? (int)name.n_bytes : width;
}

void inspect_print_metadata(FILE *out, const struct gguf *g, bool whole) {
    int width = 0;
    for (uint64_t i = 0; i < g->n_keys; i++) width = widen(width, g->keys[i].name);
    for (uint64_t i = 0; i < g->n_keys; i++) {
        const struct gguf_key *key = &g->keys[i];
        fputs("  ", out);
        print_column(out, key->name, width);
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

// ---- tensors ------------------------------------------------------------------------------------

void inspect_print_tensors(FILE *out, const struct gguf *g) {
    struct gguf_string title = {"name", 4};
    int width = widen(0, title);
    char bytes[32], offset[32];

    for (uint64_t i = 0; i < g->n_tensors; i++) width = widen(width, g->tensors[i].name);
    fputs("  ", out);
    print_column(out, title, width);
    fprintf(out, "  %-7s %-15s %12s %13s\n", "type", "shape", "bytes", "at byte");
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct gguf_tensor *t = &g->tensors[i];
        fputs("  ", out);
        print_column(out, t->name, width);
        fprintf(out, "  %-7s ", dtype_info(t->view.dtype)->name);
        print_shape(out, &t->view, 15);
        fprintf(out, " %12s %13s\n", grouped(bytes, t->view.n_bytes),
                grouped(offset, g->data_offset + t->offset));
    }
}

// Row i of the tensor as floats, in row (dim[0]).
static const float *row_expand(const struct gguf_tensor *t, uint64_t i, float *row) {
    const struct dtype_info *info = dtype_info(t->view.dtype);
    uint64_t row_bytes =
        t->view.dim[0] / (uint64_t)info->block_len * (uint64_t)info->block_bytes;
    rows_for(t->view.dtype)(row, (const char *)t->view.data + i * row_bytes,
                            (int)t->view.dim[0]);
    return row;
}

static uint64_t row_count(const struct gguf_tensor *t) {
    return value_count(&t->view) / t->view.dim[0];
}

bool inspect_write_values(FILE *out, const struct gguf_tensor *t, float *row) {
    size_t n = (size_t)t->view.dim[0];
    for (uint64_t i = 0; i < row_count(t); i++)
        if (fwrite(row_expand(t, i, row), sizeof(*row), n, out) != n) return false;
    return fflush(out) == 0;
}

void inspect_print_tensor(FILE *out, const struct gguf_tensor *t, float *row) {
    uint64_t n_values = value_count(&t->view), n_odd = 0;
    double sum = 0, squares = 0;
    float low = INFINITY, high = -INFINITY;

    for (uint64_t i = 0; i < row_count(t); i++) {
        row_expand(t, i, row);
        for (uint64_t j = 0; j < t->view.dim[0]; j++) {
            n_odd += !isfinite(row[j]);
            low = fminf(low, row[j]);
            high = fmaxf(high, row[j]);
            sum += (double)row[j];
            squares += (double)row[j] * (double)row[j];
        }
    }
    printable_write(out, t->name.bytes, (size_t)t->name.n_bytes);
    fprintf(out, "\n  type          %s\n  shape         ", dtype_info(t->view.dtype)->name);
    print_shape(out, &t->view, 0);
    fprintf(out, "\n  bytes         %" PRIu64 "\n  smallest      ", t->view.n_bytes);
    print_float(out, low);
    fputs("\n  largest       ", out);
    print_float(out, high);
    fprintf(out, "\n  mean          %.6g\n  rms           %.6g\n", sum / (double)n_values,
            sqrt(squares / (double)n_values));
    if (n_odd) fprintf(out, "  not finite    %" PRIu64 "\n", n_odd);
    fputs("  first         ", out);
    row_expand(t, 0, row);
    for (uint64_t j = 0; j < t->view.dim[0] && j < SHOWN_ITEMS; j++) {
        fputs(j ? ", " : "", out);
        print_float(out, row[j]);
    }
    fputs(t->view.dim[0] > SHOWN_ITEMS ? ", ...\n" : "\n", out);
}
