// What the answers of a session took and cost, one by one and together: what the status line ends
// with, and what /stats and /cost print.
//
// A provider that tells no cached tokens is taken to have found none: a bill is rather too high.
#ifndef LEVEL1_ACCOUNT_H
#define LEVEL1_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "level1-user/invoice.h"
#include "level1-user/price_list.h"
#include "level1-user/reply.h"
#include "level1-user/summary.h"

struct account {
    // borrowed
    const struct price_entry *price; // NULL: nobody asked what it costs
    // the last answer
    struct invoice bill; // if cost_is_known
    bool cost_is_known;
    char why[96]; // else: why not
    // all answers
    int64_t n_answers;
    int64_t n_untold, n_unbilled; // of these without a usage, and without a known cost
    int64_t prompt, cached, completion;       // tokens; at INT64_MAX they stay there
    int64_t n_timed;                          // answers whose first token was seen
    double ttft_ms;                           // of these, added up
    struct invoice total;                     // of those whose cost is known
    int64_t n_above;                          // of these, at the price of its step
    int64_t n_cuts, n_cut_turns, n_summaries; // of a conversation that had no room
};

// One answer more.
void account_add(struct account *a, const struct summary *s,
                 const struct reply_usage *usage);

// Old turns left the conversation.
void account_cut(struct account *a, int n_turns, bool is_summarised);

// Of the last answer, and so far: "$0.0000187 (so far $0.00051)", or why it is not known. "" where
// nobody asked. Always NUL-terminated.
void account_line(char *out, size_t out_bytes, const struct account *a);

// A few lines each, for people.
void account_print_stats(FILE *out, const struct account *a);
void account_print_cost(FILE *out, const struct account *a);

#endif
