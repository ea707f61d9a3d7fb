// Attention of one row in one head, in segments that can be computed anywhere and merged later.
// It never sees a mask: whoever lists the runs lists only keys that the row may read.
// [exercise attention.segment drop]
// A segment makes three passes: scores and their maximum; weights; weighted sum of the values.
// [end]
#include "level2-operator/kernels/attention.h"

// [exercise attention.segment drop]
#include <math.h>
#include <string.h>

#include "common/limits.h"
#include "level2-operator/kernels/matmul.h"

// score[i] = q . k[i] * scale over all runs; returns the largest.
static float scores(float *score, const float *q, const struct kv_run *runs, int n_runs,
                    int d_head, float scale) {
    float max = -INFINITY;
    for (int r = 0; r < n_runs; r++) {
        for (int i = 0; i < runs[r].n_keys; i++) {
            *score = dot_f32(q, runs[r].k + (long)i * d_head, d_head) * scale;
            max = fmaxf(max, *score++);
        }
    }
    return max;
}
// [end]

void attention_segment(struct attention_part *part, const float *q,
                       const struct kv_run *runs, int n_runs, int d_head, float scale) {
    // [exercise attention.segment]
    float score[LIMIT_ATTENTION_SEGMENT];
    const float *next = score;

    part->max = scores(score, q, runs, n_runs, d_head, scale);
    part->sum = 0.0f;
    memset(part->acc, 0, sizeof(float) * (size_t)d_head);

    for (int r = 0; r < n_runs; r++) {
        for (int i = 0; i < runs[r].n_keys; i++, next++) {
            if (*next == -INFINITY) continue; // also keeps -inf minus -inf, a NaN, away
            float weight = expf(*next - part->max);
            const float *v = runs[r].v + (long)i * d_head;
            part->sum += weight;
            for (int d = 0; d < d_head; d++) part->acc[d] += weight * v[d];
        }
    }
    // [end]
}

void attention_merge(struct attention_part *into, const struct attention_part *part,
                     int d_head) {
    // [exercise attention.merge]
    if (part->max == -INFINITY) return; // empty: nothing to add, and no maximum to subtract

    float max = fmaxf(into->max, part->max);
    float keep = expf(into->max - max); // 0 when into is empty
    float add = expf(part->max - max);
    into->max = max;
    into->sum = keep * into->sum + add * part->sum;
    for (int d = 0; d < d_head; d++)
        into->acc[d] = keep * into->acc[d] + add * part->acc[d];
    // [end]
}

void attention_finish(float *y, const struct attention_part *part, int d_head) {
    // [exercise attention.finish]
    float scale = part->sum > 0.0f ? 1.0f / part->sum : 0.0f;
    for (int d = 0; d < d_head; d++) y[d] = part->acc[d] * scale;
    // [end]
}
