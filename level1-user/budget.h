// Which old turns of a conversation go, so that the next request stays inside a context and
// a price, and the beginning of its prompt stays the same for as many requests as possible.
//
//   │ pinned │ 1 │ 2 │ 3 │ 4 │ 5 │ 6 │ question │ room for the answer   at its limit
//            └─── go, or become ───┘
//   │ pinned │ summary │ 6 │ question │                                 at its low mark
//   ├────────┤
//   the provider's cache finds this much again; what is behind the cut has moved
//
// A cut costs the cache of all that stands behind it. So it is rare and deep: nothing goes
// until a limit is passed, and then as much as leads down to a low mark. After that a
// conversation grows for many turns, only at its end, and each request begins like the one
// before.
//
// Pure: counts come in, a plan comes out. The caller obtains the summary, removes the
// turns, puts the summary in their place, and sends. What it costs is not counted here.
#ifndef LEVEL1_BUDGET_H
#define LEVEL1_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"
#include "level1-user/invoice.h"

// A question with its answer, so that a cut never leaves one without the other.
// Instructions are a pinned turn, the summary of an earlier cut is a turn like others.
struct budget_turn {
    int64_t n_tokens; // with what a chat template puts around the texts
    bool is_pinned;   // never goes
};

struct budget_conversation {
    // borrowed
    const struct budget_turn *turns; // (n_turns), oldest first; the last one is the new
                                     // question, still without an answer, and never goes
    int n_turns;
    int64_t n_cached; // tokens of this prompt, counted from its start, that the provider is
                      // thought to find again; may be more than there are, and 0: all cold
};

// Fixed for a conversation.
struct budget_limits {
    int64_t n_context;  // tokens of a prompt and its answer together
    int64_t n_answer;   // of these, kept free for the answer
    int64_t max_price;  // of one request, in 10^-12 dollars; INT64_MAX: none
    struct price price; // without cache_write: who pays for writing puts that into input
    int low_percent;    // 1 .. 100: how deep a cut goes; 100: no deeper than it must
    int64_t n_summary;  // tokens of a summary, at the most; 0: what goes is not summarised
};

// A request, as it would be sent.
struct budget_request {
    int64_t n_tokens; // of the prompt
    int64_t n_cached; // of these, found in the cache
    int64_t price;    // in 10^-12 dollars, with an answer of n_answer tokens
};

// The turns first_gone .. keep_from - 1 go, except those that are pinned, and become a
// summary of at most n_summary tokens, a turn at the place of first_gone.
struct budget_plan {
    int first_gone;                // the first turn that is not pinned; 0 when nothing goes
    int keep_from;                 // 0: nothing goes
    int64_t n_summary;             // 0: no summary, they are dropped
    struct budget_request request; // what is left, with a summary of full length
};

// Given. ERR_INPUT: a value that cannot be; err->param names it: "turns" (none, or a
// negative count), "n_cached", "n_context", "n_answer" (negative, or above n_context),
// "max_price", "low_percent", "n_summary".
// ERR_UNSUPPORTED: a price that is needed is PRICE_UNKNOWN; err->param is "input", "cached"
// (needed when n_cached is not 0) or "output" (when n_answer is not 0).
// ERR_LIMIT, err->param "turns": all turns and a summary are above INT64_MAX tokens.
enum status budget_check(const struct budget_conversation *c, const struct budget_limits *l,
                         struct error *err);

// Given. The price of a prompt of n_cached tokens at cached_input and n_rest at input, with
// an answer of n_answer tokens at output. An amount above INT64_MAX is INT64_MAX.
int64_t budget_price(const struct budget_limits *l, int64_t n_cached, int64_t n_rest);

// The request that is left when the turns in front of keep_from go, the pinned ones apart.
//   n_tokens  of the turns that stay, and n_summary if any turn goes
//   n_cached  the conversation's n_cached, but not above the tokens in front of the first
//             turn that goes, or above all of them if nothing goes
//   price     budget_price of n_cached and of the other tokens
// budget_check accepts c and l; keep_from: 0 .. n_turns - 1; n_summary: 0 .. l->n_summary.
void budget_measure(struct budget_request *r, // out
                    const struct budget_conversation *c, const struct budget_limits *l,
                    int keep_from, int64_t n_summary);

// What goes. A request is
//   within its limits  n_tokens is at most n_context - n_answer, price at most max_price
//   at its low marks   n_tokens is at most low_percent % of (n_context - n_answer), and
//                      price - a at most low_percent % of (max_price - a), where a is the
//                      price of an answer alone. Percentages are rounded down
// The plan is the first of these that is possible, with the smallest keep_from for it:
//   1. nothing goes, within the limits
//   2. turns become a summary, at the low marks, and within the limits
//   3. turns become a summary, within the limits
//   4. turns are dropped, within the limits (n_summary 0)
// With l->n_summary 0, 2 and 3 drop, too. After a failure *plan means nothing.
// ERR_INPUT, ERR_UNSUPPORTED, ERR_LIMIT "turns": budget_check refuses; err as there.
// ERR_CONTEXT: pinned turns and the last one alone are too many tokens.
// ERR_LIMIT, err->param "max_price": they are not, but with an answer they cost too much.
enum status budget_decide(struct budget_plan *plan, // out
                          const struct budget_conversation *c,
                          const struct budget_limits *l, struct error *err);

#endif
