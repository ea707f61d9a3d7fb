// Yours to write. Contract: level2-operator/kernels/attention.h. Explained: docs/level2/attention.md.
// Red or green: make test EX=attention
//
// Attention of one row in one head, in segments that can be computed anywhere and merged later.
// It never sees a mask: whoever lists the runs lists only keys that the row may read.
#include "level2-operator/kernels/attention.h"

#include "common/exercise.h"

void attention_segment(struct attention_part *part, const float *q,
                       const struct kv_run *runs, int n_runs, int d_head, float scale) {
    EXERCISE("attention.segment");
}

void attention_merge(struct attention_part *into, const struct attention_part *part,
                     int d_head) {
    EXERCISE("attention.merge");
}

void attention_finish(float *y, const struct attention_part *part, int d_head) {
    EXERCISE("attention.finish");
}
