// What each model of a price list would charge for one workload, the cheapest first.
//
// do:    look at the dates: an offer may have ended long ago
// don't: take the first one unasked; a cheap model that fails its task is dear
#ifndef LEVEL1_OFFERS_H
#define LEVEL1_OFFERS_H

#include <jansson.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/price_list.h"
#include "level1-user/workload.h"

struct offer {
    const struct price_entry *entry; // borrowed from the list
    struct invoice bill;             // of the whole workload
    int64_t n_above, n_requests;     // at the price of the entry's step, of so many
    char missing[16]; // the line whose price nobody knows, such as "output"; then no bill
};

struct offers {
    // owned
    // (n_items): the n_billed cheapest first, then those with a price missing
    struct offer *items;
    int n_items, n_billed;
};

// One offer of each model and window, in dollars: the price that price_list_find gives. date: NULL for
// the latest price known. ERR_INPUT: no date, or the workload is wrong; ERR_LIMIT: an amount;
// ERR_MEMORY. On failure *o is closed.
enum status offers_of(struct offers *o, const struct price_list *list, const char *date,
                      const struct workload *work, struct error *err);
void offers_close(struct offers *o); // safe on a zeroed one

// A table of at most 80 columns, unless names are long.
void offers_print(FILE *out, const struct offers *o);

// A list of {"model", "provider", "valid_from", "valid_to", "window", "price_step", "total_usd", ...};
// total_usd is null, and "no_price_for" says why, where a price is missing. NULL: no memory.
json_t *offers_json(const struct offers *o);

#endif
