// Money in whole numbers, right to the last digit; no double is exactly 0.55. Prices are in
// micro-dollars per million tokens, amounts in 10^-12 dollars, at most 9.2 million dollars.
//
//   "0.55" ──money_parse_price──▶ 550000    200 * 550000 = 110000000 ──money_text──▶ "0.00011"
#ifndef LEVEL1_MONEY_H
#define LEVEL1_MONEY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"

enum { PRICE_UNKNOWN = -1 };

// *sum += n * each, exactly. n: tokens or requests; each: what one of them costs.
// *sum is not negative; on failure it stays as it was, and err->param is what: the line of
// the invoice.
// ERR_INPUT: n is negative. ERR_UNSUPPORTED: each is PRICE_UNKNOWN, and n is not 0.
// ERR_LIMIT: *sum would be above INT64_MAX.
enum status money_add(int64_t *sum, int64_t n, int64_t each, const char *what,
                      struct error *err);

enum { MONEY_PLACES = 12, PRICE_PLACES = 6 }; // digits behind the point of a dollar
enum { MONEY_TEXT_BYTES = 24 };

// An amount (n_places: MONEY_PLACES) or a price (PRICE_PLACES) in dollars, exact and without
// needless zeros: "1.187", "0.002417", "12", "0". No dollar sign: programs read it, too.
// value >= 0.
void money_text(char text[MONEY_TEXT_BYTES], int64_t value, int n_places);

// An amount in dollars with n_shown digits behind the point, 0 to MONEY_PLACES; a half is
// rounded up. amount >= 0.
void money_rounded(char text[MONEY_TEXT_BYTES], int64_t amount, int n_shown);

// The fewest digits behind the point that show an amount exactly: 6 for $0.002417.
int money_places(int64_t amount);

// A decimal of dollars, such as "0.55" or "12", to micro-dollars. false, and *micro_dollars is
// as it was, for anything but digits with at most one point between them, for more than six
// digits behind the point, and for a number above INT64_MAX.
bool money_parse_price(const char *text, int64_t *micro_dollars);

#endif
