// Rotary positions: a position is written into a head by turning pairs of its elements, the first
// pair fast, the last one slowly. A dot product of two turned heads then knows only how far apart
// they stand. The two pairings differ in nothing but where the partner of an element lies:
//
//   ROPE_NEIGHBOURS   | a0 b0 | a1 b1 | a2 b2 | ...      from pair to pair 2, partner 1 away
//   ROPE_HALVES       | a0 a1 a2 ... | b0 b1 b2 ... |    from pair to pair 1, partner half away
#include "level2-operator/rope.h"

#include <math.h>

void rope_frequencies(float *freq, int d_head, float base) {
    for (int i = 0; i < d_head / 2; i++) {
        freq[i] = (float)pow((double)base, -2.0 * i / d_head);
    }
}

void rope(float *x, const float *freq, int position, int n_heads, int d_head,
          enum rope_pairing pairing) {
    int half = d_head / 2;
    int stride = pairing == ROPE_NEIGHBOURS ? 2 : 1;
    int partner = pairing == ROPE_NEIGHBOURS ? 1 : half;

    for (int i = 0; i < half; i++) { // the angle is dear and the same in all heads: once
        double angle = (double)position * (double)freq[i];
        float c = (float)cos(angle), s = (float)sin(angle);
        for (int h = 0; h < n_heads; h++) {
            float *pair = x + (long)h * d_head + (long)i * stride;
            float a = pair[0], b = pair[partner];
            pair[0] = a * c - b * s;
            pair[partner] = a * s + b * c;
        }
    }
}
