// A model trained on short texts reads longer ones when its rotary frequencies are slowed down. Each
// way to do it divides the frequency of pair i (rope.h) by a number of its own:
//
//   linear   all pairs by factor
//   llama3   pairs that turn more than high times in n_ctx_trained positions stay as they are, those
//            that turn less than low times are slowed by factor, those between by something between
//   yarn     the same idea, but the blend runs over the index of the pair, not over its turns
//
//   divisor    1 ──────┐
//                       ╲            pair 0 turns fastest
//              factor    └──────
//   pair       0       ...      d_head/2 - 1
#ifndef LEVEL2_ROPE_STRETCH_H
#define LEVEL2_ROPE_STRETCH_H

enum rope_stretch_kind { ROPE_AS_TRAINED, ROPE_LINEAR, ROPE_LLAMA3, ROPE_YARN };

struct rope_stretch {
    enum rope_stretch_kind kind;
    float factor;      // how much longer the text may be; above 0
    int n_ctx_trained; // positions before the stretch; llama3 and yarn
    float low, high;   // turns in n_ctx_trained positions, low < high; llama3 and yarn
};

// d_head is even, base above 1 for yarn.
void rope_stretch_divisors(float *divisor, // (d_head / 2)  out
                           const struct rope_stretch *s, int d_head, float base);

// Yarn also lengthens each query and each key, by 0.1 ln(factor) + 1: a score grows by the square of
// it. 1 for the others.
float rope_stretch_length(const struct rope_stretch *s);

#endif
