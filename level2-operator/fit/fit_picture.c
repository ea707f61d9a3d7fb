// Columns of bytes below a line of memory.
#include "level2-operator/fit/fit_bars.h"

#include <inttypes.h>

#include "level2-operator/fit/fit_sums.h"
#include "level2-operator/text/byte_text.h"

enum {
    WIDTH = 800,
    HEIGHT = 420,
    LEFT = 60,
    BOTTOM = 330, // of the columns
    TALLEST = 290,
    COLUMN = 70,
    STEP = 120,
    SCALE = 2 // of letters
};

static const colour_rgb ink = 0x333333, red = 0xC0392B;
enum part { OVERHEAD, WEIGHTS, KV, TOO_MUCH, PARTS };
static const struct {
    const char *name;
    colour_rgb colour;
} parts[PARTS] = {
    [OVERHEAD] = {"overhead", 0xB0B0B0},
    [WEIGHTS] = {"weights",  0x4C78A8},
    [KV] = {"kv cache", 0x9ECAE9},
    [TOO_MUCH] = {"too much", 0xE45756},
};

static int pixels_of(uint64_t n_bytes, uint64_t scale) {
    double n = (double)n_bytes / (double)scale * TALLEST;
    return n > TALLEST ? TALLEST : (int)(n + 0.5);
}

// From low to high above the ground.
static void draw_part(struct picture *p, int x, int low, int high, enum part part) {
    if (high > low)
        picture_fill(p, x, BOTTOM - high, COLUMN, high - low, parts[part].colour);
}

static int least(int a, int b) {
    return a < b ? a : b;
}

static void draw_column(struct picture *p, int x, const struct fit_bar *b, uint64_t scale,
                        uint64_t n_seqs) {
    char label[24];
    int overhead = pixels_of(b->overhead, scale), line = pixels_of(b->line, scale);
    int fixed = pixels_of(sum_plus(b->overhead, b->weights), scale);
    int end = pixels_of(sum_plus(sum_plus(b->overhead, b->weights), b->kv), scale);
    draw_part(p, x, 0, least(overhead, line), OVERHEAD);
    draw_part(p, x, overhead, least(fixed, line), WEIGHTS);
    draw_part(p, x, fixed, least(end, line), KV);
    draw_part(p, x, line, end, TOO_MUCH);
    snprintf(label, sizeof(label), "%" PRIu64, n_seqs);
    picture_text(p, x, BOTTOM + 10, SCALE, label, ink);
}

// The line's label stands above all columns: on one of them nobody could read it.
static void draw_words(struct picture *p, const struct fit_bar *b, uint64_t scale,
                       uint64_t n_ctx) {
    char label[80], memory[BYTE_TEXT_BYTES];
    picture_fill(p, LEFT - 10, BOTTOM - pixels_of(b->line, scale) - 1, WIDTH - LEFT - 10, 3,
                 red);
    snprintf(label, sizeof(label), "usable memory  %s", byte_text(memory, b->line));
    picture_text(p, LEFT, BOTTOM - TALLEST - 28, SCALE, label, red);
    snprintf(label, sizeof(label), "sequences of %" PRIu64 " tokens, on one device", n_ctx);
    picture_text(p, LEFT, BOTTOM + 32, SCALE, label, ink);
    for (int i = 0; i < PARTS; i++) {
        int x = LEFT + i * 180;
        picture_fill(p, x, HEIGHT - 26, 14, 14, parts[i].colour);
        picture_text(p, x + 22, HEIGHT - 26, SCALE, parts[i].name, ink);
    }
}

enum status fit_bars_picture(struct picture *p, const struct fit_case *c,
                             const struct fit_answer *a, struct error *err) {
    uint64_t loads[FIT_BARS];
    enum status st = picture_init(p, WIDTH, HEIGHT, err);
    if (st != OK) return st;
    fit_bar_loads(loads, a);
    struct fit_bar last = fit_bar_of(c, a, loads[FIT_BARS - 1]);
    uint64_t scale = sum_plus(sum_plus(last.overhead, last.weights), last.kv);
    if (scale < last.line) scale = last.line;
    for (int i = 0; i < FIT_BARS; i++) {
        struct fit_bar bar = fit_bar_of(c, a, loads[i]);
        draw_column(p, LEFT + i * STEP, &bar, scale, loads[i]);
    }
    draw_words(p, &last, scale, c->n_ctx);
    return OK;
}
