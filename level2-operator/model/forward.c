// Yours to write. Contract: level2-operator/model/forward.h. Explained: docs/level2/forward.md.
// Red or green: make test EX=forward
//
// The forward pass of a transformer, as a table of contents:
//
//   embed ─▶ x ─┬────────────────────────────────────▶ + ─┬───────────────────────────▶ + ─▶ x
//               └▶ norm_qkv_store ─▶ attend ─▶ out_add ┘  └▶ norm_gate_up ─▶ down_add ┘
//               └───────────────────────── n_layers times ───────────────────────────┘
//   x ─▶ logits, for the rows that want them
//
// It touches no number of the model. A step is one parallel region: all workers walk down the
// same list and meet behind every stage.
#include "level2-operator/model/forward.h"

#include "common/exercise.h"

void forward(const struct ops *ops, struct run *run, const struct step *step,
             struct team *team) {
    EXERCISE("forward");
}
