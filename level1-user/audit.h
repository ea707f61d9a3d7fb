// Two requests, one after the other: where they part, what a provider's cache gives for what they
// share, and what the change cost. A cache knows a prompt from its first byte to the first that
// differs, and no further.
//
//   first     system  10:02 The rules ...          user  Where is it?
//   second    system  10:05 The rules ...          user  And when?
//             ├─same─┤│├──── same behind ────┤           (another question: lost for nobody)
//                     └ message 0, byte 4
//
//   tokens of the second   ├─ cached ─┼────── written ──────┼── rest ──┤
//   as invoice.h has them     cached       cache_write         input
//
// Nothing here is sent, and no clock is asked: an entry that has expired is the caller's to know.
#ifndef LEVEL1_AUDIT_H
#define LEVEL1_AUDIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level1-user/message.h"
#include "level1-user/token_meter.h"

// What was sent. Everything is borrowed.
struct audit_request {
    const struct chat_message *messages; // (n_messages)
    int n_messages;
    // Where the request asks for caching: behind so many messages, 1 to n_messages, in any order.
    const int *marks; // (n_marks); NULL when n_marks is 0
    int n_marks;
};

enum { AUDIT_UNKNOWN = -1 };

// How a provider counts. Those that were published stand in cache_rules.h.
struct audit_rule {
    int64_t min_tokens;  // a prefix with fewer is not cached; 0: none is too short
    int64_t step_tokens; // a longer one counts in whole steps; from 1 on
    bool needs_marks;    // only what ends at a mark is cached
    int look_back; // a mark finds what ended so many messages in front of it, or fewer
    // Thousandths of the price of an input token; AUDIT_UNKNOWN: depends on the model.
    int64_t write_per_mille; // 1000: writing costs nothing extra
    int64_t read_per_mille;
};

// What two requests have in common.
struct audit_prefix {
    // The place where they part: the first message that differs in role or text, or that
    // only one of them has; the first byte of its text that differs, 0 if the role does or
    // one has no text there; and the tokens of the second request in front of it.
    int message;
    size_t byte;
    int64_t tokens;
    // Tokens of the second request behind that place that the first has, too: they were
    // known, and the change in front of them hides them.
    int64_t tokens_behind;
};

// What a rule makes of the second request. All in tokens, but for the last.
struct audit_credit {
    int64_t input;   // all of the second request
    int64_t cached;  // of these, read: the first request wrote them
    int64_t written; // of these, written for the next request
    int64_t lost;    // would have been read, too, had the change stood behind them
    int64_t cost;    // of the input, in thousandths of an input token; or AUDIT_UNKNOWN
};

// Finds the place. Whole messages are compared in order: role and text, byte for byte. A text that
// ends where the other goes on differs at the byte behind its end. Where one request has no more
// messages, they part at the message that is missing; of two equal requests, message is n_messages.
//
// tokens: token_meter_count(meter, second->messages, message, byte).
// tokens_behind: the sum of
//   - the longest common end of the two texts that differ, reaching back over `byte` in neither: the
//     tokens at the text's end less those at the place where the common end begins. Nothing where
//     the roles differ or a message is missing;
//   - each later message that has the same role and text at the same number in both: the tokens at
//     the next message's beginning less those at its own.
void audit_compare(struct audit_prefix *p, // out
                   const struct audit_request *first, const struct audit_request *second,
                   const struct token_meter *meter);

// Applies a rule to two requests whose prefix is known; both may be without messages.
//
// A prefix of n tokens counts as 0 if n < min_tokens, else as n rounded down to whole steps.
//   automatic  cached: what p->tokens counts as. cached and written together: what all tokens of the
//              second request count as.
//   marks      cached: what the longest prefix counts as that ends at a mark of the first request,
//              lies in the p->message whole messages that are the same, and is found by a mark of the
//              second: one at the same message or up to look_back messages behind it; 0 if there
//              is none. cached and written together: what the prefix up to the last mark of the
//              second counts as; 0 without marks.
//   lost       what p->tokens + p->tokens_behind count as, less cached. With marks, what no mark
//              asked for is lost as well.
//   cost       cached * read_per_mille + written * write_per_mille + the rest * 1000. A factor that
//              is AUDIT_UNKNOWN makes it AUDIT_UNKNOWN, unless there are no tokens of its kind.
// Token counts up to 10^12 and factors up to 10^5 fit. The tokens of a prefix of
// n messages are token_meter_count(meter, second->messages, n, 0).
void audit_apply(struct audit_credit *c, // out
                 const struct audit_rule *rule, const struct audit_prefix *p,
                 const struct audit_request *first, const struct audit_request *second,
                 const struct token_meter *meter);

#endif
