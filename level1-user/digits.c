// Commas between groups of three digits.
#include "level1-user/digits.h"

#include <inttypes.h>
#include <stdio.h>

const char *digits_grouped(char out[DIGITS_BYTES], int64_t n) {
    char digits[24];
    int n_digits = snprintf(digits, sizeof(digits), "%" PRId64, n), n_out = 0;
    for (int i = 0; i < n_digits; i++) {
        if (i > 0 && (n_digits - i) % 3 == 0) out[n_out++] = ',';
        out[n_out++] = digits[i];
    }
    out[n_out] = '\0';
    return out;
}
