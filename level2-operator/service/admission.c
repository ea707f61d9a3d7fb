// Yours to write. Contract: level2-operator/service/admission.h. Explained: docs/level2/admission.md.
// Red or green: make test EX=admission
//
// Who may come in. A bounded house is what keeps an overload short: who is told "later" at once
// can go elsewhere, who waits in an endless queue cannot.
#include "level2-operator/service/admission.h"

#include "common/exercise.h"

void admission_init(struct admission *a, int max_inside) {
    MUST(max_inside > 0);
    *a = (struct admission){.max_inside = max_inside};
}

enum status admission_enter(struct admission *a, int *retry_after_s, struct error *err) {
    EXERCISE("admission");
}

void admission_leave(struct admission *a, double service_s) {
    EXERCISE("admission");
}
