// The only curve in a feed-forward block: gate decides how much of up goes through.
#ifndef LEVEL2_ACTIVATION_H
#define LEVEL2_ACTIVATION_H

enum activation {
    ACTIVATION_SILU,     // x / (1 + exp(-x)): SwiGLU, Shazeer 2020, arXiv:2002.05202
    ACTIVATION_GELU_TANH // GELU by its tanh formula: GeGLU, the same paper
};

// gate[i] = f(gate[i]) * up[i]
void activation_gate(float *gate,     // (n)  in and out
                     const float *up, // (n)
                     int n, enum activation f);

#endif
