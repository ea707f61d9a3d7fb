// Pieces of a line of `inspect`. Everything from the file passes common/printable.h, which lets through
// only what a terminal shows and does not obey.
#ifndef LEVEL2_INSPECT_TEXT_H
#define LEVEL2_INSPECT_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "level2-operator/gguf/gguf.h"

enum {
    SHOWN_BYTES = 60, // of a string, unless it is asked for
    SHOWN_ITEMS = 6,  // of an array
    MAX_COLUMN = 48   // width of a column of names
};

// A name, padded to width columns.
void text_column(FILE *out, struct gguf_string s, int width);

// Between quotes; cut after SHOWN_BYTES unless whole.
void text_quoted(FILE *out, struct gguf_string s, bool whole);

// 134515008 as "134,515,008".
const char *text_grouped(char text[32], uint64_t number);

// The shortest decimal that reads back as the same float.
void text_float(FILE *out, float x);

// "93.8 MiB"
void text_size(FILE *out, uint64_t n_bytes);

// "(49152, 576)": slowest dimension first, as in docs/shapes.md; a GGUF file holds them the other way
// round.
void text_shape(FILE *out, const struct tensor_view *view, int width);

// Width of the longest name, within reason.
int text_widen(int width, struct gguf_string name);

#endif
