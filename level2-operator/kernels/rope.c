// Yours to write. Contract: level2-operator/kernels/rope.h. Explained: docs/level2/rope.md.
// Red or green: make test EX=rope
//
// Rotary positions: the frequencies once per model, the turn for each token and layer.
#include "level2-operator/kernels/rope.h"

#include "common/exercise.h"

void rope_frequencies(float *freq, int d_head, float base) {
    EXERCISE("rope");
}

void rope(float *x, const float *freq, int position, int n_heads, int d_head,
          enum rope_pairing pairing) {
    EXERCISE("rope");
}
