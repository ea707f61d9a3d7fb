// Requests that are drawn, and what must come of two of them, counted the slow way.
#ifndef TESTS_SUPPORT_AUDIT_ORACLE_H
#define TESTS_SUPPORT_AUDIT_ORACLE_H

#include "tests/support/audit_rig.h"
#include "tests/support/suite.h"

enum { DRAWN_MESSAGES = 12 };

// A request with texts of its own, so that the sanitizer sees a step past an end.
struct drawn_request {
    struct chat_message messages[DRAWN_MESSAGES];
    int n_messages;
};
void draw_request(struct drawn_request *r, struct draw *d);

// The same again in memory of its own; here and there a byte, a role or the number of messages differs.
void draw_change(struct drawn_request *to, const struct drawn_request *from,
                 struct draw *d);
void release_request(struct drawn_request *r);
struct audit_request request_from(const struct drawn_request *r); // without marks

// Tries every place, the last one first.
struct audit_prefix parted_slowly(const struct audit_request *a,
                                  const struct audit_request *b, const struct grain *g);

// Tries every number of messages, and keeps the best. before: tokens in front of each message.
struct audit_credit credited_slowly(const struct audit_rule *rule,
                                    const struct audit_prefix *p,
                                    const struct audit_request *first,
                                    const struct audit_request *second,
                                    const int64_t *before);

#endif
