// A small picture for the docs: rectangles and a few words, written as a PNG file. Not a drawing
// library: no lines, no curves, and only the letters that our labels need.
//
//   0 ──▶ x
//   │  ┌──────────┐
//   ▼  │          │ 3 bytes a pixel: red, green, blue
//   y  └──────────┘
#ifndef COMMON_PICTURE_H
#define COMMON_PICTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"

typedef uint32_t colour_rgb; // 0xRRGGBB

struct picture {
    unsigned char *rgb; // (height, width, 3), owned
    int width, height;  // 1 to 4096
};

// White. ERR_MEMORY: then it is closed.
enum status picture_init(struct picture *p, int width, int height, struct error *err);
void picture_free(struct picture *p); // safe on a zeroed one

// What lies outside the picture is left out.
void picture_fill(struct picture *p, int x, int y, int width, int height,
                  colour_rgb colour);

// Digits, "$.,()", the units of bytes, and the small letters that the pictures of bill and fit need, and the
// plot that tools/lesson/chart.py draws with the same alphabet; what has no shape here leaves a gap.
// A letter takes 6 * scale by 7 * scale pixels, the gap behind it included.
void picture_text(struct picture *p, int x, int y, int scale, const char *text,
                  colour_rgb colour);

// ERR_IO; ERR_UNSUPPORTED: this program was built without stb_image_write; ERR_MEMORY. After a
// failure the file may hold a part.
enum status picture_write_png(const struct picture *p, const char *path, struct error *err);

// Whether picture_write_png can.
bool picture_has_png(void);

#endif
