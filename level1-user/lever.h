// What a user can change about a request without touching a server, as a change of its token counts.
//
// do:    read what a lever assumes before you believe what it saves
#ifndef LEVEL1_LEVER_H
#define LEVEL1_LEVER_H

#include "level1-user/invoice.h"

enum lever {
    LEVER_SHORTER_ANSWER,    // half as long
    LEVER_MAX_TOKENS,        // cut where it is longer than that
    LEVER_FIXED_BLOCK_FIRST, // what never changes is read from the cache
    LEVER_SMALLER_MODEL,     // the same tokens, another price list entry
    LEVER_COUNT
};

struct lever_terms {
    int64_t max_tokens; // of LEVER_MAX_TOKENS
    int64_t fixed;      // of the input, tokens that are the same in each request
};

// "fixed-block-first"
const char *lever_name(enum lever lever);

// The counts of one request once the lever is pulled. Halves are rounded up; what is written to the
// cache still is, and what was cached stays so.
struct invoice_usage lever_pull(enum lever lever, const struct invoice_usage *used,
                                const struct lever_terms *terms);

#endif
