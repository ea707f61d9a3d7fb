// What a request costs, exactly. Providers count four kinds of tokens, and each has its price.
// Cached tokens are a part of the input: whoever bills them as input, too, bills them twice.
//
//   tokens   ┌──────────────── input ────────────────┐
//            ├── cached ──┬─ cache_write ─┬── rest ──┤  ┌─ output ─┐
//   price      cached_input   cache_write     input         output
//
// A price in micro-dollars per million tokens is also the price of one token in 10^-12
// dollars. So tokens times price is an amount: nothing is divided, nothing is rounded.
#ifndef LEVEL1_INVOICE_H
#define LEVEL1_INVOICE_H

#include <stdint.h>

#include "common/status.h"
#include "level1-user/money.h"

// Micro-dollars per million tokens: $0.55 per million is 550000. PRICE_UNKNOWN: the provider
// has no such price, or nobody knows it.
struct price {
    int64_t input;        // neither read from the cache nor written to it
    int64_t cached_input; // read from the provider's cache
    int64_t cache_write;  // written to it for later, where that has a price of its own
    int64_t output;
};

// What a provider counted for one request, in tokens.
struct invoice_usage {
    int64_t input;       // all that was sent, with the two below
    int64_t cached;      // of these, read from the cache
    int64_t cache_write; // of these, written to it
    int64_t output;
};

// Amounts in 10^-12 dollars.
struct invoice {
    int64_t input; // the rest: input that is neither cached nor cache_write
    int64_t cached;
    int64_t cache_write;
    int64_t output;
    int64_t total; // the sum of the four
};

// Given. ERR_INPUT: a count is negative, or cached and cache_write together are above input.
// err->param names the field: "input", "cached", "cache_write" or "output".
enum status invoice_usage_check(const struct invoice_usage *used, struct error *err);

// The invoice of one request. After a failure *bill means nothing.
// ERR_INPUT: invoice_usage_check refuses the usage; err->param as there.
// ERR_UNSUPPORTED: a price that is needed is PRICE_UNKNOWN; err->param names the line of
// the invoice ("input" for the rest). Without tokens of a kind, its price is not needed.
// ERR_LIMIT: an amount or the total is above INT64_MAX.
enum status invoice_of_request(struct invoice *bill, const struct invoice_usage *used,
                               const struct price *price, struct error *err);

// Adds the invoice of one request to a sum, n_requests times: a thousand equal requests in
// one call, or recorded ones call by call. A sum starts as {0}; 0 requests add nothing.
// After a failure *sum means nothing.
// ERR_INPUT, err->param "requests": n_requests is negative.
// ERR_LIMIT: an amount or the total is above INT64_MAX.
enum status invoice_add(struct invoice *sum, const struct invoice *one, int64_t n_requests,
                        struct error *err);

#endif
