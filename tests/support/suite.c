// What the test files share: comparing floats, drawing numbers, finding the tiny model.
#include "tests/support/suite.h"

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
        if (is_close((double)got[i], (double)want[i], tolerance)) continue;
        if (n_bad++ < 5 && n_text < sizeof(text)) {
            n_text += (size_t)snprintf(text + n_text, sizeof(text) - n_text,
                                       "\n  %s[%zu] = %.9g, want %.9g", what, i,
                                       (double)got[i], (double)want[i]);
        }
    }
    ck_assert_msg(n_bad == 0, "%zu of %zu differ, tolerance %g%s", n_bad, n, tolerance,
                  text);
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
