// RMSNorm: a row of any size leaves with a root mean square of 1, then each column gets its weight.
#ifndef LEVEL2_RMSNORM_H
#define LEVEL2_RMSNORM_H

// y[t,i] = w[i] * x[t,i] / rms(x[t,:]),  rms(v) = sqrt(mean(v*v) + eps)
// Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4, with eps under the root.
//
// Squares and their sum are doubles: 1e25 is a fine float, its square is not. A row's
// result depends on that row and w alone, bit for bit, whoever else is in the step; a NaN
// stays in its row. y may be x. n_tokens may be 0: nothing is written. d_model >= 1;
// eps >= 0, and above 0 when a row may be all zeros.
void rmsnorm(float *y,       // (n_tokens, d_model)  out
             const float *x, // (n_tokens, d_model)
             const float *w, // (d_model)
             int n_tokens, int d_model, float eps);

#endif
