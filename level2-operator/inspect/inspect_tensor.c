// The list of tensors, and one of them from the inside.
#include "level2-operator/inspect/inspect.h"

#include <inttypes.h>
#include <math.h>

#include "common/printable.h"
#include "level2-operator/gguf/gguf_place.h"
#include "level2-operator/inspect/inspect_text.h"
#include "level2-operator/kernels/rows_for.h"

enum { BAR_COLUMNS = 40 };

void inspect_print_tensors(FILE *out, const struct gguf *g) {
    struct gguf_string title = {"name", 4};
    int width = text_widen(0, title);
    char bytes[32], offset[32];

    for (uint64_t i = 0; i < g->n_tensors; i++)
        width = text_widen(width, gguf_tensor_name(&g->tensors[i]));
    fputs("  ", out);
    text_column(out, title, width);
    fprintf(out, "  %-7s %-15s %12s %13s\n", "type", "shape", "bytes", "at byte");
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        const struct gguf_tensor *t = &g->tensors[i];
        fputs("  ", out);
        text_column(out, gguf_tensor_name(t), width);
        fprintf(out, "  %-7s ", dtype_info(t->view.dtype)->name);
        text_shape(out, &t->view, 15);
        fprintf(out, " %12s %13s\n", text_grouped(bytes, t->view.n_bytes),
                text_grouped(offset, gguf_tensor_at(g, t)));
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
    return inspect_value_count(&t->view) / t->view.dim[0];
}

bool inspect_write_values(FILE *out, const struct gguf_tensor *t, float *row) {
    size_t n = (size_t)t->view.dim[0];
    for (uint64_t i = 0; i < row_count(t); i++)
        if (fwrite(row_expand(t, i, row), sizeof(*row), n, out) != n) return false;
    return fflush(out) == 0;
}

static void find_range(struct inspect_values *v, const struct gguf_tensor *t, float *row) {
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < row_count(t); i++) {
        row_expand(t, i, row);
        for (uint64_t j = 0; j < t->view.dim[0]; j++) {
            v->n_odd += !isfinite(row[j]);
            v->low = fminf(v->low, row[j]);
            v->high = fmaxf(v->high, row[j]);
            sum += (double)row[j];
            squares += (double)row[j] * (double)row[j];
        }
    }
    v->mean = sum / (double)v->n_values;
    v->rms = sqrt(squares / (double)v->n_values);
}

static void count_bins(struct inspect_values *v, const struct gguf_tensor *t, float *row) {
    double scale = INSPECT_BINS / ((double)v->high - (double)v->low);
    for (uint64_t i = 0; i < row_count(t); i++) {
        row_expand(t, i, row);
        for (uint64_t j = 0; j < t->view.dim[0]; j++) {
            int bin = (int)(((double)row[j] - (double)v->low) * scale);
            // the largest value is in the last
            v->bins[bin < INSPECT_BINS ? bin : INSPECT_BINS - 1]++;
        }
    }
}

void inspect_values(struct inspect_values *v, const struct gguf_tensor *t, float *row) {
    *v = (struct inspect_values){
        .n_values = inspect_value_count(&t->view), .low = INFINITY, .high = -INFINITY};
    find_range(v, t, row);
    v->has_bins = !v->n_odd && v->high > v->low;
    if (v->has_bins) count_bins(v, t, row);
}

static void print_histogram(FILE *out, const struct inspect_values *v) {
    double width = ((double)v->high - (double)v->low) / INSPECT_BINS;
    uint64_t most = 1;

    for (int i = 0; i < INSPECT_BINS; i++)
        if (v->bins[i] > most) most = v->bins[i];
    fputs("  from          values\n", out);
    for (int i = 0; i < INSPECT_BINS; i++) {
        int n = (int)((double)v->bins[i] / (double)most * BAR_COLUMNS + 0.5);
        fprintf(out, n ? "  %-13.4g %-12" PRIu64 " " : "  %-13.4g %" PRIu64,
                (double)v->low + i * width, v->bins[i]);
        while (n-- > 0) putc('#', out);
        putc('\n', out);
    }
}

void inspect_print_tensor(FILE *out, const struct gguf_tensor *t, float *row) {
    struct gguf_string name = gguf_tensor_name(t);
    struct inspect_values v;

    inspect_values(&v, t, row);
    printable_write(out, name.bytes, (size_t)name.n_bytes);
    fprintf(out, "\n  type          %s\n  shape         ", dtype_info(t->view.dtype)->name);
    text_shape(out, &t->view, 0);
    fprintf(out, "\n  bytes         %" PRIu64 "\n  smallest      ", t->view.n_bytes);
    text_float(out, v.low);
    fputs("\n  largest       ", out);
    text_float(out, v.high);
    fprintf(out, "\n  mean          %.6g\n  rms           %.6g\n", v.mean, v.rms);
    if (v.n_odd) fprintf(out, "  not finite    %" PRIu64 "\n", v.n_odd);
    fputs("  first         ", out);
    row_expand(t, 0, row);
    for (uint64_t j = 0; j < t->view.dim[0] && j < SHOWN_ITEMS; j++) {
        fputs(j ? ", " : "", out);
        text_float(out, row[j]);
    }
    fputs(t->view.dim[0] > SHOWN_ITEMS ? ", ...\n" : "\n", out);
    if (v.has_bins) print_histogram(out, &v);
}
