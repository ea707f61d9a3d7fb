// The two invoices of a statement as bars: where the money goes, and how much of it the cache takes away.
//
//   without cache  iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiioooooooooooooo   $2.417
//   with cache     iicccccccoooooooooooooo                             $1.187
//                  i input  c cached  o output
#ifndef LEVEL1_BARS_H
#define LEVEL1_BARS_H

#include <stdint.h>
#include <stdio.h>

#include "level1-user/statement.h"

enum bar_part { BAR_INPUT, BAR_CACHED, BAR_CACHE_WRITE, BAR_OUTPUT, BAR_PARTS };

// Where each part of a bar ends, in cells from its left: at its share of scale, which is n_cells wide,
// rounded down; so the lengths add up, and equal amounts end at equal places. scale is 0 (all ends are
// 0), or at least the invoice's total; n_cells is 1 to 1000.
void bar_ends(int ends[BAR_PARTS], const struct invoice *bill, int64_t scale, int n_cells);

// Plain characters, at most 80 columns, unless amounts are very long.
void bars_print(FILE *out, const struct statement *s);

#endif
