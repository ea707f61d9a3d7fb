// Attention in parts: the keys are cut into segments of LIMIT_ATTENTION_SEGMENT
// (common/limits.h), counted from position 0; each segment gives (max, sum, acc), and parts
// are merged in ascending order. So the result never depends on how work was split, and a
// segment that many sequences share can be read once for all of them.
//
//   keys      0 ........ 255 | 256 ....... 511 | 512 .. 530
//   parts        (m0,s0,a0)  +   (m1,s1,a1)    + (m2,s2,a2)   ──▶ y = acc / sum
//
// Online softmax: Milakov & Gimelshein 2018, arXiv:1805.02867; in parts: Dao et al. 2022,
// arXiv:2205.14135, section 3.1.
//
// do:    compute segments anywhere, in any order, on any worker
// don't: allocate, or keep anything between two calls
#ifndef LEVEL2_ATTENTION_H
#define LEVEL2_ATTENTION_H

// A run of keys and values that lie one after the other in memory: a block of the cache, or
// the piece of it that a segment needs. Floats here: an engine that stores K and V in
// another type has a segment function of its own, and the parts stay the same.
struct kv_run {
    const float *k, *v; // (n_keys, d_head)
    int n_keys;         // 0 is allowed
};

// What the keys of a segment, or of several, say about one row and head. A part without any
// key is empty: max -INFINITY, sum 0, acc zeros.
struct attention_part {
    float max;  // largest score
    float sum;  // of exp(score - max)
    float *acc; // (d_head): sum of exp(score - max) * v; owned by the caller
};

// part = all keys of the runs, LIMIT_ATTENTION_SEGMENT at most; without any it is empty.
// score = (q . k) * scale, where dot_f32 of level2-operator/kernels/matmul.h gives q . k.
// A key whose score is -INFINITY takes no part, whatever its v is, NaN included. No score
// is NaN or +INFINITY. part->acc points to room; what stood there and in part does not
// matter. The same keys in the same order give the same bits, however cut into runs.
void attention_segment(struct attention_part *part, // out
                       const float *q,              // (d_head)
                       const struct kv_run *runs,   // (n_runs), ascending positions
                       int n_runs, int d_head, float scale);

// into = into and part together, on the larger of the two maxima. Either or both may be
// empty. part stays as it is; it is not into.
void attention_merge(struct attention_part *into, const struct attention_part *part,
                     int d_head);

// y = acc / sum, the mean of the values that the weights ask for; zeros when part is empty.
void attention_finish(float *y, // (d_head)  out
                      const struct attention_part *part, int d_head);

#endif
