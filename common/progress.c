// The bar is one line that is written over and over, from the start of the line on.
#include "common/progress.h"

#include <string.h>
#include <unistd.h>

enum { BAR_CELLS = 30 };
static const int64_t PATIENCE_NS = 2000000000; // before the first bar
static const int64_t REDRAW_NS = 100000000;

void progress_start(struct progress *p, FILE *out, struct clock *clock, const char *what,
                    uint64_t total, bool in_bytes) {
    *p = (struct progress){
        .out = out && isatty(fileno(out)) ? out : NULL,
        .what = what,
        .clock = clock,
        .total = total,
        .start_ns = clock_now(clock),
        .in_bytes = in_bytes,
    };
}

static void draw(const struct progress *p, double share, uint64_t done) {
    char bar[BAR_CELLS + 1];
    int n_full = (int)(share * BAR_CELLS);
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', (size_t)n_full);
    bar[BAR_CELLS] = '\0';

    fprintf(p->out, "\r%s  [%s] %3d %%  ", p->what, bar, (int)(share * 100));
    if (p->in_bytes)
        fprintf(p->out, "%.1f of %.1f MB", (double)done / 1e6, (double)p->total / 1e6);
    fprintf(p->out, "\x1b[K"); // clears what a longer bar left
    fflush(p->out);
}

void progress_update(struct progress *p, uint64_t done) {
    if (!p->out || p->total == 0) return;
    int64_t now = clock_now(p->clock);
    if (now - p->start_ns < PATIENCE_NS) return;
    if (p->is_drawn && now - p->drawn_ns < REDRAW_NS) return;

    double share = (double)done / (double)p->total;
    draw(p, share < 1 ? share : 1, done);
    p->drawn_ns = now;
    p->is_drawn = true;
}

void progress_end(struct progress *p) {
    if (p->out && p->is_drawn) fprintf(p->out, "\r\x1b[K");
    *p = (struct progress){0};
}
