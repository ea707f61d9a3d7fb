// Yours to write. Contract: level2-operator/kernels/rmsnorm.h. Explained: docs/level2/rmsnorm.md.
// Red or green: make test EX=rmsnorm
//
// RMSNorm: each row is scaled to a root mean square of 1, then column by column by learned weights.
// Nothing is subtracted and nothing is shared between rows.
#include "level2-operator/kernels/rmsnorm.h"

#include "common/exercise.h"

void rmsnorm(float *y, const float *x, const float *w, int n_tokens, int d_model,
             float eps) {
    EXERCISE("rmsnorm");
}
