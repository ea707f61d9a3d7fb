// Yours to write. Contract: level2-operator/fit/fit.h. Explained: docs/level2/fit.md.
// Red or green: make test EX=fit
//
// Bytes against bytes: no estimate, no rounding but that of the contract.
#include "level2-operator/fit/fit.h"

#include "common/exercise.h"

uint64_t fit_bytes(struct fit_type type, uint64_t n_values) {
    EXERCISE("fit");
}

uint64_t fit_kv_bytes(const struct fit_model *m, const struct fit_plan *plan,
                      uint64_t n_tokens) {
    EXERCISE("fit");
}

uint64_t fit_room(const struct fit_plan *plan, const struct fit_device *d) {
    EXERCISE("fit");
}

uint64_t fit_max_sequences(const struct fit_model *m, const struct fit_plan *plan,
                           uint64_t room) {
    EXERCISE("fit");
}

uint64_t fit_max_context(const struct fit_model *m, const struct fit_plan *plan,
                         uint64_t room, uint64_t most) {
    EXERCISE("fit");
}

uint64_t fit_device_bytes(const struct fit_model *m, const struct fit_plan *plan,
                          const struct fit_device *d) {
    EXERCISE("fit");
}

bool fit_fits(const struct fit_model *m, const struct fit_plan *plan,
              const struct fit_device *d) {
    EXERCISE("fit");
}

int fit_devices(const struct fit_model *m, const struct fit_plan *plan,
                const struct fit_device *d) {
    EXERCISE("fit");
}
