// The first page: what the file is, how large, and where its bytes are.
#include "level2-operator/inspect/inspect.h"

#include <inttypes.h>
#include <string.h>

#include "common/limits.h"
#include "common/printable.h"
#include "level2-operator/gguf/gguf_value.h"
#include "level2-operator/inspect/inspect_text.h"
#include "level2-operator/model/sampling_defaults.h"

static void print_types(FILE *out, const struct inspect_type *types, int n_types,
                        uint64_t n_bytes) {
    char values[32], bytes[32];
    fprintf(out, "\n  %-7s %8s %16s %16s %7s\n", "type", "tensors", "parameters", "bytes",
            "share");
    for (int i = 0; i < n_types; i++)
        fprintf(out, "  %-7s %8" PRIu64 " %16s %16s %6.1f%%\n",
                dtype_info(types[i].dtype)->name, types[i].n_tensors,
                text_grouped(values, types[i].n_values),
                text_grouped(bytes, types[i].n_bytes),
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

// Only what the file says: the rest is the API's.
static void print_sampling(FILE *out, const struct gguf *g) {
    struct sampling_defaults d;
    enum status st = sampling_defaults_read(&d, g, "", NULL);

    if (st != OK) fprintf(out, "  %-13s not usable; --check says why\n", "sampling");
    if (st != OK || !sampling_defaults_differ(&d)) return;
    fprintf(out, "  %-13s", "sampling");
    for (int i = 0; i < SAMPLING_FIELDS; i++)
        if (d.from[i])
            fprintf(out, " %s %g", sampling_field_name((enum sampling_field)i), d.value[i]);
    fputs(", where a request does not say\n", out);
}

static bool is_alike(const struct inspect_layer *a, const struct inspect_layer *b) {
    return a->layer >= 0 && b->layer >= 0 && a->n_tensors == b->n_tensors &&
           a->n_values == b->n_values && a->n_bytes == b->n_bytes;
}

// Layers that are alike share a line; parameters and bytes are then of each.
static void print_layers(FILE *out, const struct inspect_layer *layers, int n_layers,
                         uint64_t n_bytes) {
    char name[32], values[32], bytes[32];
    fprintf(out, "\n  %-7s %8s %16s %16s %7s\n", "layer", "tensors", "parameters", "bytes",
            "share");
    for (int i = 0, n; i < n_layers; i += n) {
        const struct inspect_layer *l = &layers[i];
        for (n = 1; i + n < n_layers && is_alike(l, &l[n]);) n++;
        snprintf(name, sizeof(name), n == 1 ? "%d" : "%d-%d", l->layer, l[n - 1].layer);
        if (l->layer < 0) snprintf(name, sizeof(name), "none");
        fprintf(out, "  %-7s %8" PRIu64 " %16s %16s %6.1f%%%s\n", name, l->n_tensors,
                text_grouped(values, l->n_values), text_grouped(bytes, l->n_bytes),
                100.0 * n * (double)l->n_bytes / (double)n_bytes, n > 1 ? " in all" : "");
    }
}

static void print_format(FILE *out, const struct gguf *g) {
    if (!g->version) {
        fprintf(out, "safetensors");
    } else {
        fprintf(out, "GGUF version %" PRIu32 ", alignment %" PRIu32, g->version,
                g->alignment);
    }
    if (g->n_parts > 1) fprintf(out, ", %" PRIu32 " files", g->n_parts);
    putc('\n', out);
}

void inspect_print_summary(FILE *out, const struct inspected *in) {
    const struct gguf *g = in->gguf;
    struct inspect_layer layers[LIMIT_LAYERS + 1];
    struct inspect_type types[DTYPE_COUNT];
    int n_types = inspect_types(types, g);
    uint64_t n_values = 0;
    char number[32];

    for (int i = 0; i < n_types; i++) n_values += types[i].n_values;
    printable_write(out, in->file, strlen(in->file));
    fprintf(out, "\n  %-13s ", "format");
    print_format(out, g);
    print_string_key(out, g, "architecture", "general.architecture");
    print_string_key(out, g, "name", "general.name");
    print_sampling(out, g);
    fprintf(out, "  %-13s %s\n", "parameters", text_grouped(number, n_values));
    fprintf(out, "  %-13s %s bytes (", "size", text_grouped(number, in->n_bytes));
    text_size(out, in->n_bytes);
    if (n_values)
        fprintf(out, ", %.2f bits per parameter",
                8.0 * (double)in->n_bytes / (double)n_values);
    fprintf(out, ")\n  %-13s %" PRIu64 " keys, %" PRIu64 " tensors\n", "holds", g->n_keys,
            g->n_tensors);
    if (n_types) print_types(out, types, n_types, in->n_bytes);
    int n_layers = inspect_layers(layers, g);
    if (n_layers > 1) print_layers(out, layers, n_layers, in->n_bytes);
}
