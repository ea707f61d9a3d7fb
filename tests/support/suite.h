// What every test file offers, and what it may use.
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stddef.h>
#include <stdint.h>

// Each tests/*/test_NAME.c defines it: suite name "level2/rope", TCases reference, edges, failures,
// property.
Suite *suite(void);

// Called by suite() when nothing of it can run on this machine: prints why, and ends the program with
// the status that the runner counts as skipped.
_Noreturn void suite_skip(const char *why);

// Path of the tiny generated model (environment TINY_MODEL, else build/test/tiny.gguf).
const char *tiny_model_path(void);

// Fails the test unless |got - want| <= tolerance * (1 + |want|) for each element; prints what,
// index, got, want of the first five that differ. NaN is close to nothing, infinity to itself.
void assert_close(const char *what, const float *got, const float *want, size_t n,
                  double tolerance);

// Numbers for shapes and values: the same sequence for the same seed (environment COURSE_SEED, else
// 1), printed by a failing test. State is the caller's.
struct draw {
    uint64_t state;
};
struct draw draw_start(const char *test_name);
uint64_t draw_u64(struct draw *d);
int draw_int(struct draw *d, int low, int high); // low .. high, both included
float draw_float(struct draw *d, float low, float high);

#endif
