// Rotary positions: the frequencies once per model, the turn for each token and layer.
// [exercise rope drop]
// The two pairings differ in nothing but where the next pair begins and where the partner lies:
//
//   ROPE_NEIGHBOURS   | a0 b0 | a1 b1 | a2 b2 | ...      next pair 2 away, partner 1 away
//   ROPE_HALVES       | a0 a1 a2 ... | b0 b1 b2 ... |    next pair 1 away, partner half a head away
// [end]
#include "level2-operator/kernels/rope.h"

// [exercise rope drop]
#include <math.h>
// [end]

void rope_frequencies(float *freq, int d_head, float base) {
    // [exercise rope]
    for (int i = 0; i < d_head / 2; i++)
        freq[i] = (float)pow((double)base, -2.0 * i / d_head);
    // [end]
}

void rope(float *x, const float *freq, int position, int n_heads, int d_head,
          enum rope_pairing pairing) {
    // [exercise rope]
    int half = d_head / 2;
    int next = pairing == ROPE_NEIGHBOURS ? 2 : 1;
    int partner = pairing == ROPE_NEIGHBOURS ? 1 : half;

    for (int i = 0; i < half; i++) { // the angle is dear and the same in all heads: once
        double angle = (double)position * (double)freq[i];
        float c = (float)cos(angle), s = (float)sin(angle);
        for (int h = 0; h < n_heads; h++) {
            float *pair = x + (long)h * d_head + (long)i * next;
            float a = pair[0], b = pair[partner];
            pair[0] = a * c - b * s;
            pair[partner] = a * s + b * c;
        }
    }
    // [end]
}
