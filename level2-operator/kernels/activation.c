// The curves, in the precision of their library functions.
#include "level2-operator/kernels/activation.h"

#include <math.h>

static float silu(float x) { // Elfwing et al. 2017, arXiv:1702.03118
    return x / (1.0f + expf(-x));
}

// Hendrycks & Gimpel 2016, arXiv:1606.08415, section 2: x times the share of a normal distribution
// below x, by a formula that models were trained with, so the exact share would be wrong.
static float gelu_tanh(float x) {
    const float sqrt_2_over_pi = 0.797884561f;
    return 0.5f * x * (1.0f + tanhf(sqrt_2_over_pi * (x + 0.044715f * x * x * x)));
}

void activation_gate(float *gate, const float *up, int n, enum activation f) {
    if (f == ACTIVATION_SILU) {
        for (int i = 0; i < n; i++) gate[i] = silu(gate[i]) * up[i];
    } else {
        for (int i = 0; i < n; i++) gate[i] = gelu_tanh(gate[i]) * up[i];
    }
}
