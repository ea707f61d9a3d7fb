// The dated price list, data/prices.json: what a model cost, from when until when, and where that was
// read. data/README.md says what its fields mean.
//
//   file ──price_list_open──▶ entries ──price_list_find(model, date, window)──▶ one entry, its price
//
// do:    say with a bill which entry it was made from: prices change
// don't: keep an entry past price_list_close; its texts live in the list
#ifndef LEVEL1_PRICE_LIST_H
#define LEVEL1_PRICE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/limits.h"
#include "common/status.h"
#include "level1-user/invoice.h"

// Above so many input tokens the whole request has other prices, not the part above only.
struct price_step {
    int64_t tokens; // 0: there is no step
    struct price price;
};

// All texts are UTF-8 without control characters, "" where the list has none.
struct price_entry {
    struct price price; // PRICE_UNKNOWN where the list has none
    struct price_step step;
    const char *provider, *listed_as;
    const char *model;      // lower case, digits, '-' and '.': "deepseek-r1"
    const char *valid_from; // "2025", "2025-02" or "2025-02-28"; "": not known
    const char *valid_to;   // the first day on which it no longer held; "": none known
    const char *window;     // hours of the day, in the provider's words; "": all day
    const char *currency;   // "USD"
    const char *tag, *source, *notes; // how well it is known, and whence
};

struct price_list {
    // owned
    void *document;              // jansson's: the texts of the entries
    struct price_entry *entries; // (n_entries)
    int n_entries;
    int64_t steps[LIMIT_PRICE_STEPS]; // (n_steps): of all entries, each once
    int n_steps;
};

// ERR_FORMAT: not JSON, or not a price list; says which entry and field. ERR_LIMIT: above
// LIMIT_PRICE_BYTES, LIMIT_PRICE_ENTRIES or LIMIT_PRICE_STEPS. ERR_MEMORY; price_list_open also ERR_IO. On
// failure the list is closed. name: how errors call it.
enum status price_list_parse(struct price_list *list, const char *bytes, size_t n_bytes,
                             const char *name, struct error *err);
enum status price_list_open(struct price_list *list, const char *path, struct error *err);
void price_list_close(struct price_list *list); // safe on a zeroed or closed list

// Whether a request of n_input input tokens, cached ones included, has the prices of the step; and the
// price that it has.
bool price_entry_is_above(const struct price_entry *entry, int64_t n_input);
const struct price *price_entry_price(const struct price_entry *entry, int64_t n_input);

struct price_query {
    const char *model;
    const char *date;   // as in valid_from, its first day counts; NULL: the latest price
    const char *window; // NULL: a price for the whole day
};

// The entry in dollars that holds for the query; where several do, the one that began last. ERR_INPUT:
// there is none; err->param is "model", "date" or "window", and the text lists what there is.
enum status price_list_find(const struct price_entry **entry, const struct price_list *list,
                            const struct price_query *query, struct error *err);

#endif
