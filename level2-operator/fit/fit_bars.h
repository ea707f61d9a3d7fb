// The picture of an operator's trouble: what is fixed, and KV that grows with traffic until it meets the
// line of memory. On one device.
//
//      0  oo=============                             |
//     27  oo=============kkkkkkkkkkkkkkk              |
//     54  oo=============kkkkkkkkkkkkkkkkkkkkkkkkkkkkk|
//     68  oo=============kkkkkkkkkkkkkkkkkkkkkkkkkkkkk!!!!!!!
#ifndef LEVEL2_FIT_BARS_H
#define LEVEL2_FIT_BARS_H

#include <stdio.h>

#include "common/picture.h"
#include "level2-operator/fit/fit_case.h"

enum { FIT_BARS = 6 };

// Sequences of each bar: 0, quarters of what fits, and a quarter more; without room: 0 and 1, ...
void fit_bar_loads(uint64_t loads[FIT_BARS], const struct fit_answer *a);

// Overhead, weights and KV of one device under a load, in bytes; too large stays too large.
struct fit_bar {
    uint64_t overhead, weights, kv, line; // line: what the engine may use
};
struct fit_bar fit_bar_of(const struct fit_case *c, const struct fit_answer *a,
                          uint64_t n_seqs);

// Plain characters, at most 80 columns.
void fit_bars_print(FILE *out, const struct fit_case *c, const struct fit_answer *a);

// The same as a picture; *p is the caller's to free. ERR_MEMORY.
enum status fit_bars_picture(struct picture *p, const struct fit_case *c,
                             const struct fit_answer *a, struct error *err);

#endif
