// What is billed: the same request many times, or all requests that were recorded, added up.
//
// A price may have a step: then a sum must know which requests were above it. So it counts these apart,
// for each step of the price list, while it reads them.
#ifndef LEVEL1_WORKLOAD_H
#define LEVEL1_WORKLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/status.h"
#include "level1-user/invoice.h"
#include "level1-user/price_list.h"

struct workload_part {
    int64_t step;              // tokens
    struct invoice_usage used; // of all requests with more input than that
    int64_t n_requests;
};

struct workload {
    struct invoice_usage used; // of one request; of all together where is_sum
    int64_t n_requests;
    bool is_sum; // recorded: each request has counts of its own
    // of a sum
    struct workload_part above[LIMIT_PRICE_STEPS]; // (n_steps)
    int n_steps;
};

// A sum of no requests yet, for the prices of the list.
struct workload workload_recorded(const struct price_list *list);

// The same requests, all of their input neither read from a cache nor written to one.
struct workload workload_uncached(const struct workload *w);

// How often `used` is to be paid.
int64_t workload_times(const struct workload *w);

// How many of its requests have the prices of the entry's step.
int64_t workload_n_above(const struct workload *w, const struct price_entry *entry);

// The invoice of `used`, each request at the price for its input tokens. Errors as in invoice_of_request
// and invoice_add. ERR_INPUT, err->param "step": of a sum, the entry's step was not counted.
enum status workload_bill_once(struct invoice *bill, const struct workload *w,
                               const struct price_entry *entry, struct error *err);

// The invoice of all requests. Errors as there.
enum status workload_bill(struct invoice *bill, const struct workload *w,
                          const struct price_entry *entry, struct error *err);

// Adds one recorded request to a sum, which starts as workload_recorded gives it. ERR_LIMIT: a count is above
// INT64_MAX; *w stays as it was.
enum status workload_add(struct workload *w, const struct invoice_usage *used,
                         struct error *err);

// One line: "1,000 requests; tokens of each: 3,200 input, ...".
void workload_print(FILE *out, const struct workload *w);

// One line where a step's price is used: "2 of 3 requests above 200,000 input tokens: ...". Else nothing.
// indent: in front of it.
void workload_print_step(FILE *out, const char *indent, int64_t n_above, int64_t n_requests,
                         const struct price_entry *entry);

// {"above_tokens": 200000, "requests": 2}; null where no request is above a step. NULL: no memory.
json_t *workload_step_json(int64_t n_above, const struct price_entry *entry);

// Its tokens: {"input": 3200, "cached": 3000, "cache_write": 0, "output": 300}. NULL: no memory.
json_t *workload_tokens_json(const struct workload *w);

#endif
