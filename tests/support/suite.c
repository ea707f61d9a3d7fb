// What the test files share: comparing floats, drawing numbers, finding the tiny model.
#include "tests/support/suite.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77 }; // tools/run_tests.py knows it

void suite_skip(const char *why) {
    printf("%s\n", why);
    fflush(stdout);
    exit(SKIPPED);
}

TCase *tcase_in(Suite *s, const char *name) {
    TCase *tc = tcase_create(name);
    suite_add_tcase(s, tc);
    return tc;
}

const char *tiny_model_path(void) {
    const char *path = getenv("TINY_MODEL");
    return path ? path : "build/test/tiny.gguf";
}

// NaN is close to nothing, infinity only to itself.
static bool is_close(double got, double want, double tolerance) {
    if (!isfinite(want)) return got == want;
    return fabs(got - want) <= tolerance * (1.0 + fabs(want));
}

void assert_close(const char *what, const float *got, const float *want, size_t n,
                  double tolerance) {
    char text[1024] = "";
    size_t n_text = 0, n_bad = 0;

    for (size_t i = 0; i < n; i++) {
        double g = (double)got[i], w = (double)want[i];
        if (is_close(g, w, tolerance)) continue;
        if (n_bad == 0) {
            report_differs(what, i, "%.9g", g, w,
                           fabs(g - w) / (tolerance * (1 + fabs(w))));
        }
        if (n_bad++ < 5 && n_text < sizeof(text)) {
            n_text += (size_t)snprintf(text + n_text, sizeof(text) - n_text,
                                       "\n  %s[%zu] = %.9g, want %.9g", what, i, g, w);
        }
    }
    ck_assert_msg(n_bad == 0, "%zu of %zu differ, tolerance %g%s", n_bad, n, tolerance,
                  text);
}

void assert_ids(const char *what, const int32_t *got, size_t n_got, const int32_t *want,
                size_t n_want) {
    size_t i = 0;
    while (i < n_got && i < n_want && got[i] == want[i]) i++;
    if (i < n_got && i < n_want) {
        report_differs(what, i, "%.0f", got[i], want[i], INFINITY);
        ck_abort_msg("%s[%zu] = %d, want %d", what, i, (int)got[i], (int)want[i]);
    }
    if (n_got == n_want) return;
    report_differs(what, i, "%.0f elements", (double)n_got, (double)n_want, INFINITY);
    ck_abort_msg("%s: %zu elements, want %zu", what, n_got, n_want);
}

void assert_number(const char *what, int64_t got, int64_t want) {
    char got_text[32], want_text[32]; // a double cannot hold every whole number
    if (got == want) return;
    snprintf(got_text, sizeof(got_text), "%" PRId64, got);
    snprintf(want_text, sizeof(want_text), "%" PRId64, want);
    report_differs_text(what, 0, got_text, want_text);
    ck_abort_msg("%s = %s, want %s", what, got_text, want_text);
}

void assert_text(const char *what, const char *got, const char *want) {
    size_t i = 0;
    if (got == want || (got && want && strcmp(got, want) == 0)) return;
    while (got && want && got[i] == want[i]) i++;
    report_differs_text(what, i, got ? got : "NULL", want ? want : "NULL");
    ck_abort_msg("%s = \"%s\", want \"%s\"", what, got ? got : "NULL",
                 want ? want : "NULL");
}

void assert_status(const char *what, enum status got, enum status want) {
    assert_text(what, status_name(got), status_name(want));
}

struct draw draw_start(const char *test_name) {
    const char *seed = getenv("COURSE_SEED");
    struct draw d = {seed ? strtoull(seed, NULL, 10) : 1};
    for (const char *c = test_name; *c; c++) d.state = d.state * 31 + (unsigned char)*c;
    return d;
}

uint64_t draw_u64(struct draw *d) { // splitmix64: Steele et al. 2014
    uint64_t z = (d->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

int draw_int(struct draw *d, int low, int high) {
    return low + (int)(draw_u64(d) % (uint64_t)((int64_t)high - low + 1));
}

float draw_float(struct draw *d, float low, float high) {
    double unit = (double)(draw_u64(d) >> 11) / 9007199254740992.0;
    return low + (float)unit * (high - low);
}
