// What retry_decide must say, worked out in another way.
#ifndef TESTS_SUPPORT_RETRY_ORACLE_H
#define TESTS_SUPPORT_RETRY_ORACLE_H

#include "level1-user/retry.h"

// The header in the words of a list: each reason and whether it holds; the first one that does.
// told_ns: what f->retry_after says.
struct retry_decision decided_by_list(const struct retry_policy *p,
                                      const struct retry_failure *f, int64_t told_ns,
                                      int attempt, const struct retry_moment *at);

#endif
