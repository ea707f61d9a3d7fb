// What is billed: the same request many times, or all requests that were recorded, added up.
#ifndef LEVEL1_WORKLOAD_H
#define LEVEL1_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/invoice.h"

struct workload {
    struct invoice_usage used; // of one request; of all together where is_sum
    int64_t n_requests;
    bool is_sum; // recorded: each request has counts of its own
};

// How often `used` is to be paid.
int64_t workload_times(const struct workload *w);

// The invoice of all requests. Errors as in invoice_of_request and invoice_add.
enum status workload_bill(struct invoice *bill, const struct workload *w,
                          const struct price *price, struct error *err);

// Adds one recorded request to a sum, which starts as {.is_sum = true}. ERR_LIMIT: a count is above
// INT64_MAX; *w stays as it was.
enum status workload_add(struct workload *w, const struct invoice_usage *used,
                         struct error *err);

// One line: "1,000 requests; tokens of each: 3,200 input, ...".
void workload_print(FILE *out, const struct workload *w);

// Its tokens: {"input": 3200, "cached": 3000, "cache_write": 0, "output": 300}. NULL: no memory.
json_t *workload_tokens_json(const struct workload *w);

#endif
