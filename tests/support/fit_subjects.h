// Models and a machine for the suites of fit: a large one, a latent KV, windows in most layers and in some.
#ifndef TESTS_FIT_SUBJECTS_H
#define TESTS_FIT_SUBJECTS_H

#include "level2-operator/fit/fit_case.h"

// "large", "latent", "windows" or "some-windows".
struct fit_subject subject_of(const char *name);

// 8,192 tokens in bf16 on a board of 80 GB, whole rates, no overhead. s is borrowed.
struct fit_case case_of(const struct fit_subject *s);

#endif
