// What a workload costs without the provider's cache and with it: the same request n times, for people
// and for programs.
#ifndef LEVEL1_STATEMENT_H
#define LEVEL1_STATEMENT_H

#include <stdint.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/invoice.h"
#include "level1-user/price_list.h"

struct comparison {
    struct invoice without, with; // the cache
};

struct statement {
    // borrowed
    const struct price_entry *entry;
    // what is billed
    struct invoice_usage used; // of one request, with the cache
    int64_t n_requests;
    // what it comes to
    struct comparison one, all; // of one request, of n_requests
};

// Errors as in invoice_of_request and invoice_add. Without the cache, all input has the input's price.
enum status statement_of(struct statement *s, const struct price_entry *entry,
                         const struct invoice_usage *used, int64_t n_requests,
                         struct error *err);

// A table of at most 80 columns, unless amounts are very long.
void statement_print(FILE *out, const struct statement *s);

// The document of `bill --json`, the caller's to free; NULL: no memory. Amounts are decimals in strings,
// exact, since a reader's double may not hold them.
char *statement_json(const struct statement *s);

#endif
