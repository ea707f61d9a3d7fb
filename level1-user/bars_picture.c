// Two bars, their totals, and what the colours mean.
#include "level1-user/bars_picture.h"

#include "level1-user/bars.h"

enum {
    WIDTH = 800,
    HEIGHT = 200,
    MARGIN = 20,
    BAR_WIDTH = 600, // of the longer one
    BAR_HEIGHT = 36,
    BAR_STEP = 70,
    SCALE = 2,       // of letters
    LINE = 9 * SCALE // of a label above its bar
};

static const colour_rgb ink = 0x333333;
static const struct {
    const char *name;
    colour_rgb colour;
} parts[BAR_PARTS] = {
    [BAR_INPUT] = {"input",        0x4C78A8},
    [BAR_CACHED] = {"cached input", 0x9ECAE9},
    [BAR_CACHE_WRITE] = {"cache write",  0xF2B134},
    [BAR_OUTPUT] = {"output",       0xE45756},
};

static void draw_bar(struct picture *p, int y, const char *name, const struct invoice *bill,
                     int64_t scale) {
    int ends[BAR_PARTS], x = 0;
    char total[MONEY_TEXT_BYTES + 1] = "$";
    bar_ends(ends, bill, scale, BAR_WIDTH);
    picture_text(p, MARGIN, y, SCALE, name, ink);
    for (int i = 0; i < BAR_PARTS; i++) {
        picture_fill(p, MARGIN + x, y + LINE, ends[i] - x, BAR_HEIGHT, parts[i].colour);
        x = ends[i];
    }
    money_text(total + 1, bill->total, MONEY_PLACES);
    picture_text(p, MARGIN + x + 10, y + LINE + 11, SCALE, total, ink);
}

static void draw_legend(struct picture *p, int y) {
    for (int i = 0; i < BAR_PARTS; i++) {
        int x = MARGIN + i * 190;
        picture_fill(p, x, y, 14, 14, parts[i].colour);
        picture_text(p, x + 22, y, SCALE, parts[i].name, ink);
    }
}

enum status bars_picture(struct picture *p, const struct statement *s, struct error *err) {
    const struct invoice *a = &s->all.without, *b = &s->all.with;
    int64_t scale = a->total > b->total ? a->total : b->total;
    enum status st = picture_init(p, WIDTH, HEIGHT, err);
    if (st != OK) return st;
    draw_bar(p, MARGIN, "without cache", a, scale);
    draw_bar(p, MARGIN + BAR_STEP, "with cache", b, scale);
    draw_legend(p, HEIGHT - 30);
    return OK;
}
