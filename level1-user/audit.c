// Yours to write. Contract: level1-user/audit.h. Explained: docs/level1/audit.md.
// Red or green: make test EX=audit
//
// Where two requests part, and who pays for it.
#include "level1-user/audit.h"

#include "common/exercise.h"

void audit_compare(struct audit_prefix *p, const struct audit_request *first,
                   const struct audit_request *second, const struct token_meter *meter) {
    EXERCISE("audit.prefix");
}

void audit_apply(struct audit_credit *c, const struct audit_rule *rule,
                 const struct audit_prefix *p, const struct audit_request *first,
                 const struct audit_request *second, const struct token_meter *meter) {
    EXERCISE("audit.credit");
}
