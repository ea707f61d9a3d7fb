// What every test file offers, and what it may use.
#ifndef TESTS_SUPPORT_SUITE_H
#define TESTS_SUPPORT_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"
#include "tests/support/report.h"

// Check takes a child that called exit(0) for a test that passed. So each test says when it begins and
// when its end was reached, and only what reached its end counts (tests/support/report.h). The body is
// written as ever: START_TEST(name) { ... } END_TEST.
#undef START_TEST
#define START_TEST(name)                                                                   \
    static void name##_body(int _i);                                                       \
    static void name##_fn(int _i) {                                                        \
        if (!report_begin(#name, _i)) return;                                              \
        name##_body(_i);                                                                   \
        report_end();                                                                      \
    }                                                                                      \
    static const TTest name##_ttest = {#name, name##_fn, __FILE__, __LINE__};              \
    static const TTest *name = &name##_ttest;                                              \
    static void name##_body(int _i CK_ATTRIBUTE_UNUSED)

// Rows of a table, for a loop test over it. A macro, since a function would see a pointer.
#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

// Each tests/*/test_NAME.c defines it: suite name "level2/rope", TCases reference, edges, failures,
// property.
Suite *suite(void);

// A new TCase of it.
TCase *tcase_in(Suite *s, const char *name);

// Called by suite() when nothing of it can run on this machine: prints why, and ends the program with
// the status that the runner counts as skipped.
_Noreturn void suite_skip(const char *why);

// Path of the tiny generated model (environment TINY_MODEL, else build/test/tiny.gguf).
const char *tiny_model_path(void);

// The assertions below name in `what` the call whose result they judge ("rope(position 3, heads 2) x"),
// and tell the harness index, got and want of the first element that differs.

// Fails the test unless |got - want| <= tolerance * (1 + |want|) for each element; prints what,
// index, got, want of the first five that differ. NaN is close to nothing, infinity to itself.
void assert_close(const char *what, const float *got, const float *want, size_t n,
                  double tolerance);

// The same for whole numbers, token ids among them: got and want have n_got and n_want elements.
void assert_ids(const char *what, const int32_t *got, size_t n_got, const int32_t *want,
                size_t n_want);

// One whole number, and one text. A NULL text equals only NULL.
void assert_number(const char *what, int64_t got, int64_t want);
void assert_text(const char *what, const char *got, const char *want);

// What a call returned, by its name.
void assert_status(const char *what, enum status got, enum status want);

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
