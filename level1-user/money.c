// Dollars as whole numbers of a small unit: adding, printing, reading.
#include "level1-user/money.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum status money_add(int64_t *sum, int64_t n, int64_t each, const char *what,
                      struct error *err) {
    if (n < 0)
        return error_set_param(err, ERR_INPUT, what, "%s is %" PRId64 ", must be 0 or more",
                               what, n);
    if (n == 0) return OK;
    if (each < 0)
        return error_set_param(err, ERR_UNSUPPORTED, what, "no price is known for %s",
                               what);
    // Asked before it is done: n * each itself may be too large for any type.
    if (each > (INT64_MAX - *sum) / n)
        return error_set_param(err, ERR_LIMIT, what,
                               "%s: the amount is above 9.2 million dollars", what);
    *sum += n * each;
    return OK;
}

static int64_t power_of_ten(int n) {
    int64_t power = 1;
    while (n-- > 0) power *= 10;
    return power;
}

// value / 10^n_places with all its digits.
static void print_decimal(char text[MONEY_TEXT_BYTES], int64_t value, int n_places) {
    int64_t unit = power_of_ten(n_places);
    MUST(value >= 0);
    if (n_places == 0)
        snprintf(text, MONEY_TEXT_BYTES, "%" PRId64, value);
    else
        snprintf(text, MONEY_TEXT_BYTES, "%" PRId64 ".%0*" PRId64, value / unit, n_places,
                 value % unit);
}

static int places_of(int64_t value, int n_places) {
    while (n_places > 0 && value % 10 == 0) {
        value /= 10;
        n_places--;
    }
    return n_places;
}

void money_text(char text[MONEY_TEXT_BYTES], int64_t value, int n_places) {
    int n_shown = places_of(value, n_places);
    print_decimal(text, value / power_of_ten(n_places - n_shown), n_shown);
}

void money_rounded(char text[MONEY_TEXT_BYTES], int64_t amount, int n_shown) {
    int64_t unit = power_of_ten(MONEY_PLACES - n_shown), rest = amount % unit;
    print_decimal(text, amount / unit + (rest >= unit - rest), n_shown);
}

int money_places(int64_t amount) {
    return places_of(amount, MONEY_PLACES);
}

// Digits at the start of text; -1: none, or too many.
static int64_t read_digits(const char **text) {
    int64_t number = 0;
    size_t n = strspn(*text, "0123456789");
    if (n == 0) return -1;
    for (const char *end = *text + n; *text < end; ++*text) {
        int digit = **text - '0';
        if (number > (INT64_MAX - digit) / 10) return -1;
        number = number * 10 + digit;
    }
    return number;
}

bool money_parse_price(const char *text, int64_t *micro_dollars) {
    const int64_t unit = power_of_ten(PRICE_PLACES);
    int64_t fraction = 0;
    int64_t dollars = read_digits(&text);
    if (dollars < 0) return false;

    if (*text == '.') {
        const char *digits = ++text;
        fraction = read_digits(&text);
        if (fraction < 0 || text - digits > PRICE_PLACES) return false;
        fraction *= power_of_ten(PRICE_PLACES - (int)(text - digits));
    }
    if (*text || dollars > (INT64_MAX - fraction) / unit) return false;
    *micro_dollars = dollars * unit + fraction;
    return true;
}
