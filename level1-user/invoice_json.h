// Money for programs: decimals of dollars in strings, exact, since a reader's double may not hold them.
#ifndef LEVEL1_INVOICE_JSON_H
#define LEVEL1_INVOICE_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "level1-user/invoice.h"

// "1.187", "-0.001". NULL: no memory.
json_t *invoice_json_amount(int64_t amount);

// The lines of an invoice: input_usd, cached_usd, cache_write_usd, output_usd, total_usd. NULL: no
// memory.
json_t *invoice_json(const struct invoice *i);

#endif
