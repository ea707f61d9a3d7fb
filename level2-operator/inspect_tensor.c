// The list of tensors, and one of them from the inside.
#include "level2-operator/inspect.h"

#include <inttypes.h>
#include <math.h>

#include "common/printable.h"
#include "level2-operator/gguf_place.h"
#include "level2-operator/inspect_text.h"
#include "level2-operator/rows_for.h"

enum { N_BINS = 16, BAR_COLUMNS = 40 };

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

// What is counted in one pass over the values.
struct range {
    uint64_t n_values, n_odd; // n_odd: not finite
    float low, high;
    double sum, squares;
};

static struct range range_of(const struct gguf_tensor *t, float *row) {
    struct range r = {
        .n_values = inspect_value_count(&t->view), .low = INFINITY, .high = -INFINITY};
    for (uint64_t i = 0; i < row_count(t); i++) {
        row_expand(t, i, row);
        for (uint64_t j = 0; j < t->view.dim[0]; j++) {
            r.n_odd += !isfinite(row[j]);
            r.low = fminf(r.low, row[j]);
            r.high = fmaxf(r.high, row[j]);
            r.sum += (double)row[j];
            r.squares += (double)row[j] * (double)row[j];
        }
    }
    return r;
}

// How many values lie in each of equal parts of the range.
static void count_bins(uint64_t bins[N_BINS], const struct gguf_tensor *t,
                       const struct range *r, float *row) {
    double scale = N_BINS / ((double)r->high - (double)r->low);
    for (uint64_t i = 0; i < row_count(t); i++) {
        row_expand(t, i, row);
        for (uint64_t j = 0; j < t->view.dim[0]; j++) {
            int bin = (int)(((double)row[j] - (double)r->low) * scale);
            bins[bin < N_BINS ? bin : N_BINS - 1]++; // the largest value is in the last
        }
    }
}

static void print_histogram(FILE *out, const struct gguf_tensor *t, const struct range *r,
                            float *row) {
    uint64_t bins[N_BINS] = {0}, most = 1;
    double width = ((double)r->high - (double)r->low) / N_BINS;

    if (r->n_odd || !(r->high > r->low) || !isfinite(width)) return;
    count_bins(bins, t, r, row);
    for (int i = 0; i < N_BINS; i++)
        if (bins[i] > most) most = bins[i];
    fputs("  from          values\n", out);
    for (int i = 0; i < N_BINS; i++) {
        int n = (int)((double)bins[i] / (double)most * BAR_COLUMNS + 0.5);
        fprintf(out, n ? "  %-13.4g %-12" PRIu64 " " : "  %-13.4g %" PRIu64,
                (double)r->low + i * width, bins[i]);
        while (n-- > 0) putc('#', out);
        putc('\n', out);
    }
}

void inspect_print_tensor(FILE *out, const struct gguf_tensor *t, float *row) {
    struct range r = range_of(t, row);
    struct gguf_string name = gguf_tensor_name(t);

    printable_write(out, name.bytes, (size_t)name.n_bytes);
    fprintf(out, "\n  type          %s\n  shape         ", dtype_info(t->view.dtype)->name);
    text_shape(out, &t->view, 0);
    fprintf(out, "\n  bytes         %" PRIu64 "\n  smallest      ", t->view.n_bytes);
    text_float(out, r.low);
    fputs("\n  largest       ", out);
    text_float(out, r.high);
    fprintf(out, "\n  mean          %.6g\n  rms           %.6g\n",
            r.sum / (double)r.n_values, sqrt(r.squares / (double)r.n_values));
    if (r.n_odd) fprintf(out, "  not finite    %" PRIu64 "\n", r.n_odd);
    fputs("  first         ", out);
    row_expand(t, 0, row);
    for (uint64_t j = 0; j < t->view.dim[0] && j < SHOWN_ITEMS; j++) {
        fputs(j ? ", " : "", out);
        text_float(out, row[j]);
    }
    fputs(t->view.dim[0] > SHOWN_ITEMS ? ", ...\n" : "\n", out);
    print_histogram(out, t, &r, row);
}
