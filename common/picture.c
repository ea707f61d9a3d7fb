// Pixels, a font of 5 by 7, and a PNG file by stb_image_write (Sean Barrett, public domain), a header
// of the system: Debian's libstb-dev has it. Without it everything else builds as ever.
#include "common/picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __has_include
#if __has_include(<stb/stb_image_write.h>)
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#define HAS_PNG
#endif
#endif

// ---- shapes -------------------------------------------------------------------------------------

enum { GLYPH_ROWS = 7, GLYPH_COLUMNS = 5, GLYPH_STEP = 6 };

// A row is 5 bits, the left one first.
static const struct glyph {
    char letter;
    unsigned char rows[GLYPH_ROWS];
} glyphs[] = {
    {'0', {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E}},
    {'1', {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'2', {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F}},
    {'3', {0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E}},
    {'4', {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02}},
    {'5', {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E}},
    {'6', {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E}},
    {'7', {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    {'8', {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E}},
    {'9', {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C}},
    {'$', {0x04, 0x0F, 0x14, 0x0E, 0x05, 0x1E, 0x04}},
    {'(', {0x02, 0x04, 0x08, 0x08, 0x08, 0x04, 0x02}},
    {')', {0x08, 0x04, 0x02, 0x02, 0x02, 0x04, 0x08}},
    {',', {0x00, 0x00, 0x00, 0x00, 0x0C, 0x04, 0x08}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C}},
    {'B', {0x1E, 0x11, 0x11, 0x1E, 0x11, 0x11, 0x1E}},
    {'G', {0x0E, 0x11, 0x10, 0x17, 0x11, 0x11, 0x0F}},
    {'K', {0x11, 0x12, 0x14, 0x18, 0x14, 0x12, 0x11}},
    {'M', {0x11, 0x1B, 0x15, 0x15, 0x11, 0x11, 0x11}},
    {'P', {0x1E, 0x11, 0x11, 0x1E, 0x10, 0x10, 0x10}},
    {'T', {0x1F, 0x04, 0x04, 0x04, 0x04, 0x04, 0x04}},
    {'a', {0x00, 0x00, 0x0E, 0x01, 0x0F, 0x11, 0x0F}},
    {'b', {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x1E}},
    {'c', {0x00, 0x00, 0x0E, 0x10, 0x10, 0x11, 0x0E}},
    {'d', {0x01, 0x01, 0x0D, 0x13, 0x11, 0x11, 0x0F}},
    {'e', {0x00, 0x00, 0x0E, 0x11, 0x1F, 0x10, 0x0E}},
    {'f', {0x06, 0x09, 0x08, 0x1C, 0x08, 0x08, 0x08}},
    {'g', {0x00, 0x00, 0x0F, 0x11, 0x0F, 0x01, 0x0E}},
    {'h', {0x10, 0x10, 0x16, 0x19, 0x11, 0x11, 0x11}},
    {'i', {0x04, 0x00, 0x0C, 0x04, 0x04, 0x04, 0x0E}},
    {'k', {0x10, 0x10, 0x12, 0x14, 0x18, 0x14, 0x12}},
    {'l', {0x0C, 0x04, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'m', {0x00, 0x00, 0x1A, 0x15, 0x15, 0x11, 0x11}},
    {'n', {0x00, 0x00, 0x16, 0x19, 0x11, 0x11, 0x11}},
    {'o', {0x00, 0x00, 0x0E, 0x11, 0x11, 0x11, 0x0E}},
    {'p', {0x00, 0x00, 0x1E, 0x11, 0x1E, 0x10, 0x10}},
    {'q', {0x00, 0x00, 0x0D, 0x13, 0x0F, 0x01, 0x01}},
    {'r', {0x00, 0x00, 0x16, 0x19, 0x10, 0x10, 0x10}},
    {'s', {0x00, 0x00, 0x0E, 0x10, 0x0E, 0x01, 0x1E}},
    {'t', {0x08, 0x08, 0x1C, 0x08, 0x08, 0x09, 0x06}},
    {'u', {0x00, 0x00, 0x11, 0x11, 0x11, 0x13, 0x0D}},
    {'v', {0x00, 0x00, 0x11, 0x11, 0x11, 0x0A, 0x04}},
    {'w', {0x00, 0x00, 0x11, 0x11, 0x15, 0x15, 0x0A}},
    {'y', {0x00, 0x00, 0x11, 0x11, 0x0F, 0x01, 0x0E}},
};

enum status picture_init(struct picture *p, int width, int height, struct error *err) {
    size_t n_bytes = (size_t)width * (size_t)height * 3;
    *p = (struct picture){.width = width, .height = height};
    p->rgb = malloc(n_bytes);
    if (!p->rgb) {
        *p = (struct picture){0};
        return error_set(err, ERR_MEMORY, "no memory for a picture");
    }
    memset(p->rgb, 0xFF, n_bytes);
    return OK;
}

void picture_free(struct picture *p) {
    free(p->rgb);
    *p = (struct picture){0};
}

static int clamp(int n, int high) {
    return n < 0 ? 0 : n > high ? high : n;
}

void picture_fill(struct picture *p, int x, int y, int width, int height,
                  colour_rgb colour) {
    int x_end = clamp(x + width, p->width), y_end = clamp(y + height, p->height);
    for (int row = clamp(y, p->height); row < y_end; row++) {
        unsigned char *at = p->rgb + ((size_t)row * (size_t)p->width) * 3;
        for (int column = clamp(x, p->width); column < x_end; column++) {
            at[column * 3] = (unsigned char)(colour >> 16);
            at[column * 3 + 1] = (unsigned char)(colour >> 8);
            at[column * 3 + 2] = (unsigned char)colour;
        }
    }
}

static void draw_glyph(struct picture *p, int x, int y, int scale, const struct glyph *g,
                       colour_rgb colour) {
    for (int row = 0; row < GLYPH_ROWS; row++) {
        for (int column = 0; column < GLYPH_COLUMNS; column++) {
            if (g->rows[row] >> (GLYPH_COLUMNS - 1 - column) & 1)
                picture_fill(p, x + column * scale, y + row * scale, scale, scale, colour);
        }
    }
}

void picture_text(struct picture *p, int x, int y, int scale, const char *text,
                  colour_rgb colour) {
    for (; *text; text++, x += GLYPH_STEP * scale) {
        for (size_t i = 0; i < sizeof(glyphs) / sizeof(glyphs[0]); i++) {
            if (glyphs[i].letter == *text) draw_glyph(p, x, y, scale, &glyphs[i], colour);
        }
    }
}

// ---- the file -----------------------------------------------------------------------------------

#ifdef HAS_PNG
bool picture_has_png(void) {
    return true;
}

static void write_bytes(void *out, void *bytes, int n_bytes) {
    fwrite(bytes, 1, (size_t)n_bytes, out); // whether it worked is asked at the end
}

enum status picture_write_png(const struct picture *p, const char *path,
                              struct error *err) {
    FILE *out = fopen(path, "wb");
    if (!out) return error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno));
    errno = 0;
    bool has_memory = stbi_write_png_to_func(write_bytes, out, p->width, p->height, 3,
                                             p->rgb, p->width * 3) != 0;
    bool is_written = !ferror(out);
    is_written = fclose(out) == 0 && is_written;
    if (has_memory && is_written) return OK;

    enum status st =
        has_memory ? error_set(err, ERR_IO, "%s: %s", error_path(path), strerror(errno))
                   : error_set(err, ERR_MEMORY, "no memory for a PNG file");
    return st;
}
#else
bool picture_has_png(void) {
    return false;
}

enum status picture_write_png(const struct picture *p, const char *path,
                              struct error *err) {
    (void)p;
    return error_set(err, ERR_UNSUPPORTED,
                     "%s: no PNG: this was built without stb_image_write.h; install it "
                     "(Debian: libstb-dev) and build again",
                     error_path(path));
}
#endif
