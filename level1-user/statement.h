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
};

// Errors as in invoice_of_request and invoice_add. Without the cache, all input has the input's price.
enum status statement_of(struct statement *s, const struct price_entry *entry,
                         const struct workload *work, struct error *err);

// A table of at most 80 columns, unless amounts are very long.
void statement_print(FILE *out, const struct statement *s);

// What `bill --json` says of it. per_request and workload hold the invoice with the cache, and inside
// without_cache the other one. NULL: no memory.
json_t *statement_json(const struct statement *s);

#endif
