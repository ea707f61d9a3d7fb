// A stream whose words are dealt out to choices, and what it adds up to.
#ifndef TESTS_SUPPORT_REPLY_DEAL_H
#define TESTS_SUPPORT_REPLY_DEAL_H

#include "tests/support/suite.h"

enum { DEALT_CHOICES = 5 };

// All that was dealt so far; zeroed is nothing. For at most some fifty chunks.
struct dealt {
    char texts[DEALT_CHOICES][600];
    int64_t now_ns, first_ns,
        last_ns; // of the latest chunk, of the first word and the last
    int64_t n_bytes;
};

// Pushes one more chunk into the rig's reply: two words that are drawn, or empty, for two choices.
void deal_chunk(struct dealt *sum, struct draw *d);

#endif
