// What a workload costs without the provider's cache and with it, for people and for programs.
#ifndef LEVEL1_STATEMENT_H
#define LEVEL1_STATEMENT_H

#include <jansson.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/invoice.h"
#include "level1-user/price_list.h"
#include "level1-user/workload.h"

struct comparison {
    struct invoice without, with; // the cache
};

struct statement {
    // borrowed
    const struct price_entry *entry;
    // what is billed
    struct workload work; // with the cache
    // what it comes to
    struct comparison one, all; // of one request (recorded ones have no such), of all
    // of a thousand requests, and of a month with so many a day; 0: nobody asked
    int64_t per_day;
    struct comparison thousand, month;
};

// Errors as in invoice_of_request and invoice_add. Without the cache, all input has the input's price.
enum status statement_of(struct statement *s, const struct price_entry *entry,
                         const struct workload *work, struct error *err);

enum { DAYS_OF_A_MONTH = 30 };

// Works out thousand and month, of equal requests. per_day is above 0. ERR_LIMIT: an amount is above
// INT64_MAX; then the statement means nothing.
enum status statement_per_day(struct statement *s, int64_t per_day, struct error *err);

// A table of at most 80 columns, unless amounts are very long.
void statement_print(FILE *out, const struct statement *s);

// What `bill --json` says of it. per_request and workload hold the invoice with the cache, and inside
// without_cache the other one; so do per_thousand and per_month, where they were worked out. NULL: no
// memory.
json_t *statement_json(const struct statement *s);

#endif
