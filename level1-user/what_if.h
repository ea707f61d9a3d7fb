// Which lever saves how much on one workload: ranked, each with what it assumes.
#ifndef LEVEL1_WHAT_IF_H
#define LEVEL1_WHAT_IF_H

#include <jansson.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/lever.h"
#include "level1-user/offers.h"

// A workload as it is, and under each lever.
struct pulled_workload {
    struct workload now;
    struct workload then[LEVER_COUNT];
    struct lever_terms terms;
};

// From equal requests. For recorded ones: now is workload_recorded; then add request by request,
// since a cap cuts only those answers that are longer.
void pulled_workload_of(struct pulled_workload *p, const struct workload *now,
                        const struct lever_terms *terms);
enum status pulled_workload_add(struct pulled_workload *p, const struct invoice_usage *used,
                                struct error *err);

struct what_if_row {
    enum lever lever;
    const struct price_entry *entry; // borrowed; NULL: there is no other model
    int64_t total, saved;            // 10^-12 dollars; saved may be negative
    int64_t n_above, n_requests;     // at the price of the entry's step, of so many
    char missing[16];                // the line whose price nobody knows; then no amounts
    char assumes[160];
};

struct what_if {
    int64_t now;                          // what it costs as it is
    struct what_if_row rows[LEVER_COUNT]; // most saved first, the impossible last
};

// offers: of the workload as it is; the smaller model is the cheapest other one with the same window.
// Errors as in workload_bill, but a missing price of a lever is no error.
enum status what_if_of(struct what_if *w, const struct price_entry *entry,
                       const struct pulled_workload *work, const struct offers *offers,
                       struct error *err);

void what_if_print(FILE *out, const struct what_if *w);

// A list of {"lever", "model", "total_usd", "saved_usd", "saved_percent", "price_step",
// "assumes"}; null where there
// is nothing to say. NULL: no memory.
json_t *what_if_json(const struct what_if *w);

#endif
