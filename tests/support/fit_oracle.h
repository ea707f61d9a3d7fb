// Shapes, and the bytes they take, counted layer by layer and head by head: the judge of
// level2-operator/fit/fit.h.
#ifndef TESTS_SUPPORT_FIT_ORACLE_H
#define TESTS_SUPPORT_FIT_ORACLE_H

#include <stddef.h>

#include "level2-operator/fit/fit.h"
#include "tests/support/suite.h"

// Small ones: all counts stay far below 2^63.
struct fit_model fit_drawn_model(struct draw *d);
struct fit_plan fit_drawn_plan(struct draw *d);

uint64_t fit_counted_kv(const struct fit_model *m, const struct fit_plan *p, uint64_t n);
uint64_t fit_counted_device(const struct fit_model *m, const struct fit_plan *p,
                            const struct fit_device *d);

// "fit_kv_bytes(9 layers, ..., name n)", in what.
const char *fit_words(char *what, size_t n_bytes, const char *call,
                      const struct fit_model *m, const struct fit_plan *p, const char *name,
                      uint64_t n);

// The same for a call that is told of a device.
const char *fit_words_on(char *what, size_t n_bytes, const char *call,
                         const struct fit_model *m, const struct fit_plan *p,
                         const struct fit_device *d);

#endif
