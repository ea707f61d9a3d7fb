// Yours to write. Contract: common/cost.h. Explained: docs/level2/cost.md.
// Red or green: make test EX=cost
//
// The roofline of one step: what must be read, what must be computed, which of the two takes longer.
#include "common/cost.h"

#include "common/exercise.h"

struct cost cost_of_step(const struct cost_model *model, const struct cost_step *step,
                         const struct cost_machine *machine) {
    EXERCISE("cost");
}
