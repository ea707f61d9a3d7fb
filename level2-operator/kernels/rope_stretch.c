// The published formulas, in double.
#include "level2-operator/kernels/rope_stretch.h"

#include <math.h>

static const double two_pi = 6.283185307179586;

// How often pair i turns in n_ctx_trained positions.
static double turns_of(const struct rope_stretch *s, int i, int d_head, float base) {
    return s->n_ctx_trained * pow((double)base, -2.0 * i / d_head) / two_pi;
}

// The pair, between two of them as a rule, that turns so often.
static double pair_of(const struct rope_stretch *s, double turns, int d_head, float base) {
    return d_head * log(s->n_ctx_trained / (turns * two_pi)) / (2 * log((double)base));
}

static double between(double x, double low, double high) {
    return fmin(fmax(x, low), high);
}

// Divides so that share of the frequency stays as it is, and the rest is slowed by factor.
static float blend(double share, double factor) {
    return (float)(1 / (share + (1 - share) / factor));
}

// Llama 3.1: Grattafiori et al. 2024, arXiv:2407.21783; the formula: apply_scaling in
// Meta's llama-models.
static void llama3(float *divisor, const struct rope_stretch *s, int d_head, float base) {
    for (int i = 0; i < d_head / 2; i++) {
        double turns = turns_of(s, i, d_head, base);
        double share = (turns - (double)s->low) / ((double)s->high - (double)s->low);
        divisor[i] = blend(between(share, 0, 1), (double)s->factor);
    }
}

// Peng et al. 2023, arXiv:2309.00071, section 3.2; whole pairs as bounds as in the authors' code.
static void yarn(float *divisor, const struct rope_stretch *s, int d_head, float base) {
    double first = fmax(0, floor(pair_of(s, (double)s->high, d_head, base)));
    double last = fmin(d_head - 1, ceil(pair_of(s, (double)s->low, d_head, base)));
    double width = fmax(last - first, 0.001); // no division by zero

    for (int i = 0; i < d_head / 2; i++)
        divisor[i] = blend(1 - between((i - first) / width, 0, 1), (double)s->factor);
}

void rope_stretch_divisors(float *divisor, const struct rope_stretch *s, int d_head,
                           float base) {
    if (s->kind == ROPE_LLAMA3) {
        llama3(divisor, s, d_head, base);
    } else if (s->kind == ROPE_YARN) {
        yarn(divisor, s, d_head, base);
    } else { // Chen et al. 2023, arXiv:2306.15595
        for (int i = 0; i < d_head / 2; i++)
            divisor[i] = s->kind == ROPE_LINEAR ? s->factor : 1;
    }
}

float rope_stretch_length(const struct rope_stretch *s) {
    if (s->kind != ROPE_YARN || s->factor <= 1) return 1;
    return (float)(0.1 * log((double)s->factor) + 1); // section 3.4
}
