// Prompts whose texts are drawn, and what must come of them, worked out in the plainest way.
#ifndef TESTS_SUPPORT_PROMPT_ORACLE_H
#define TESTS_SUPPORT_PROMPT_ORACLE_H

#include "level1-user/prompt.h"
#include "tests/support/suite.h"

enum { DRAWN_PARTS = 9, DRAWN_TURNS = 7, DRAWN_BYTES = 8 };

// Owned. All texts end where their memory ends.
struct drawn {
    struct prompt_part parts[DRAWN_PARTS];
    struct chat_message history[DRAWN_TURNS];
    struct prompt_input input;
};
// Texts of the letters a and b, so that beginnings, ends and orders often agree; 0 to max_bytes of them,
// in the question one more.
void drawn_make(struct drawn *in, struct draw *d, int max_bytes);
// A second request with the same parts: each text is kept, drawn anew, or has its bytes shuffled.
void drawn_next(struct drawn *next, const struct drawn *in, struct draw *d, int max_bytes);
void drawn_free(struct drawn *in);

enum { DRAWN_TEXTS = DRAWN_PARTS + DRAWN_TURNS + 1 };
struct expected_messages {
    char texts[DRAWN_TEXTS][DRAWN_TEXTS * (DRAWN_BYTES + 4)];
    struct chat_message messages[DRAWN_TEXTS];
    int n_messages;
};
void expect_messages(struct expected_messages *e, const struct prompt_input *in);

// Both inputs are drawn ones.
struct prompt_warning expect_warning(const struct prompt_input *was,
                                     const struct prompt_input *is,
                                     enum prompt_change shared);

#endif
