// Bytes as lengths.
#include "level2-operator/fit/fit_bars.h"

#include <inttypes.h>

#include "level2-operator/fit/fit_sums.h"
#include "level2-operator/text/byte_text.h"

enum { N_CELLS = 60 };

void fit_bar_loads(uint64_t loads[FIT_BARS], const struct fit_answer *a) {
    uint64_t most = a->max_sequences / (uint64_t)a->n_copies;
    for (int i = 0; i < FIT_BARS; i++) {
        loads[i] =
            most < 4 ? (uint64_t)i : most / 4 * (uint64_t)i + most % 4 * (uint64_t)i / 4;
    }
    if (most >= 4) loads[4] = most;
}

struct fit_bar fit_bar_of(const struct fit_case *c, const struct fit_answer *a,
                          uint64_t n_seqs) {
    const struct fit_device *d = &c->machine.device;
    uint64_t one = fit_kv_bytes(&c->subject->shape, &a->plan, c->n_ctx);
    return (struct fit_bar){
        .overhead = fit_device_overhead(d, a->plan.n_split),
        .weights = sum_parts(a->plan.weight_bytes, (uint64_t)a->plan.n_split),
        .kv = sum_times(n_seqs, one),
        .line = fit_device_usable(d),
    };
}

static uint64_t length_of(const struct fit_bar *b) {
    return sum_plus(sum_plus(b->overhead, b->weights), b->kv);
}

static int cells_of(uint64_t n_bytes, double per_cell) {
    double n = (double)n_bytes / per_cell;
    return n > N_CELLS ? N_CELLS : (int)n;
}

static void print_bar(FILE *out, uint64_t n_seqs, const struct fit_bar *b,
                      double per_cell) {
    char cells[N_CELLS + 1];
    int line = cells_of(b->line, per_cell), end = cells_of(length_of(b), per_cell);
    int overhead = cells_of(b->overhead, per_cell);
    int fixed = cells_of(sum_plus(b->overhead, b->weights), per_cell);
    bool is_over = length_of(b) > b->line;
    if (is_over && end <= line) end = line + 1; // what is too much must show
    if (end > N_CELLS) end = N_CELLS;
    int n = end > line ? end : line;
    for (int i = 0; i < n; i++) {
        cells[i] = i >= end       ? ' '
                   : i >= line    ? '!'
                   : i < overhead ? 'o'
                   : i < fixed    ? '='
                                  : 'k';
    }
    cells[n] = '\0';
    fprintf(out, "%9" PRIu64 "  %s%s\n", n_seqs, cells, is_over ? "" : "|");
}

void fit_bars_print(FILE *out, const struct fit_case *c, const struct fit_answer *a) {
    uint64_t loads[FIT_BARS];
    fit_bar_loads(loads, a);
    struct fit_bar last = fit_bar_of(c, a, loads[FIT_BARS - 1]);
    uint64_t scale = length_of(&last) > last.line ? length_of(&last) : last.line;
    double per_cell = (double)scale / (N_CELLS - 1);
    fprintf(out, "\nsequences of %" PRIu64 " tokens, on one device\n", c->n_ctx);
    for (int i = 0; i < FIT_BARS; i++) {
        struct fit_bar bar = fit_bar_of(c, a, loads[i]);
        print_bar(out, loads[i], &bar, per_cell);
    }
    char text[BYTE_TEXT_BYTES];
    fprintf(out, "%9s  o overhead  = weights  k KV  | usable: %s  ! too much\n", "",
            byte_text(text, last.line));
}
