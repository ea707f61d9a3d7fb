// Attention in parts: the keys are cut into segments of LIMIT_ATTENTION_SEGMENT, counted from
// position 0; each segment gives (max, sum, acc), and parts are merged in ascending order. So the
// result never depends on how work was split, and a segment that many sequences share can be read
// once for all of them.
//
//   keys      0 ........ 255 | 256 ....... 511 | 512 .. 530
//   parts        (m0,s0,a0)  +   (m1,s1,a1)    + (m2,s2,a2)   ──▶ y = acc / sum
//
// Online softmax: Milakov & Gimelshein 2018, arXiv:1805.02867; in parts: Dao et al. 2022,
// arXiv:2205.14135, section 3.1. An exercise: solutions/level2-operator/attention.c.
#ifndef LEVEL2_ATTENTION_H
#define LEVEL2_ATTENTION_H

// A run of keys and values that lie one after the other in memory.
struct kv_run {
    const float *k, *v; // (n_keys, d_head)
    int n_keys;
};

// What a segment says about one row and head.
struct attention_part {
    float max;  // largest score; -INFINITY: no key yet
    float sum;  // of exp(score - max)
    float *acc; // (d_head): sum of exp(score - max) * v; owned by the caller
};

// part = softmax pieces of scores q.k * scale over all keys of the runs, at most
// LIMIT_ATTENTION_SEGMENT keys in all. A score of -INFINITY takes no part.
void attention_segment(struct attention_part *part, // out
                       const float *q,              // (d_head)
                       const struct kv_run *runs,   // (n_runs), ascending positions
                       int n_runs, int d_head, float scale);

// into = into + part, on a common maximum. Either may be empty.
void attention_merge(struct attention_part *into, const struct attention_part *part,
                     int d_head);

// y = acc / sum; zeros when no key took part.
void attention_finish(float *y, // (d_head)  out
                      const struct attention_part *part, int d_head);

#endif
