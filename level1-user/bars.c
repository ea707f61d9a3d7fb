// Amounts as lengths.
#include "level1-user/bars.h"

enum { N_CELLS = 48 };

static const char letters[BAR_PARTS] = {'i', 'c', 'w', 'o'};

// amount / scale of n_cells, rounded down. The product of the two may be too large for any type, so a
// cell at a time: n cells are full when n * scale / n_cells is reached.
static int cells_of(int64_t amount, int64_t scale, int n_cells) {
    int64_t whole = scale / n_cells, rest = scale % n_cells;
    int n = 0;
    // The next end is (n + 1) * scale / n_cells, rounded up.
    while (n < n_cells &&
           amount >= whole * (n + 1) + (rest * (n + 1) + n_cells - 1) / n_cells)
        n++;
    return n;
}

void bar_ends(int ends[BAR_PARTS], const struct invoice *bill, int64_t scale, int n_cells) {
    const int64_t amounts[BAR_PARTS] = {bill->input, bill->cached, bill->cache_write,
                                        bill->output};
    int64_t sum = 0;
    for (int i = 0; i < BAR_PARTS; i++) {
        sum += amounts[i];
        ends[i] = scale > 0 ? cells_of(sum, scale, n_cells) : 0;
    }
}

static void print_bar(FILE *out, const char *name, const struct invoice *bill,
                      int64_t scale) {
    int ends[BAR_PARTS];
    char cells[N_CELLS + 1], total[MONEY_TEXT_BYTES];
    int n = 0;
    bar_ends(ends, bill, scale, N_CELLS);
    for (int i = 0; i < BAR_PARTS; i++) {
        while (n < ends[i]) cells[n++] = letters[i];
    }
    cells[n] = '\0';
    money_text(total, bill->total, MONEY_PLACES);
    fprintf(out, "%-14s %-*s  $%s\n", name, N_CELLS, cells, total);
}

void bars_print(FILE *out, const struct statement *s) {
    const struct invoice *a = &s->all.without, *b = &s->all.with;
    int64_t scale = a->total > b->total ? a->total : b->total;
    print_bar(out, "without cache", a, scale);
    print_bar(out, "with cache", b, scale);
    fprintf(out, "%-14s i input, c cached input%s, o output\n", "",
            s->work.used.cache_write ? ", w cache write" : "");
}
