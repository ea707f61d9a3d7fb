// An exercise: solutions/level2-operator/rmsnorm.c.
#ifndef LEVEL2_RMSNORM_H
#define LEVEL2_RMSNORM_H

// y[t,i] = w[i] * x[t,i] / rms(x[t,:]),  rms(v) = sqrt(mean(v*v) + eps)
// Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4. y may be x. The mean is summed in double.
void rmsnorm(float *y,       // (n_tokens, d_model)  out
             const float *x, // (n_tokens, d_model)
             const float *w, // (d_model)
             int n_tokens, int d_model, float eps);

#endif
