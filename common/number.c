// strtoull and strtod with their kindness taken away: they skip spaces, wrap "-1", read hex, and
// stop where they like.
#include "common/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Digits at the start of text, and what follows them.
static bool read_digits(const char *text, uint64_t *number, const char **rest) {
    char *end;
    if (*text < '0' || *text > '9') return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    *rest = end;
    return errno == 0;
}

bool number_u64(const char *text, uint64_t *number) {
    uint64_t n;
    const char *rest;
    if (!read_digits(text, &n, &rest) || *rest) return false;
    *number = n;
    return true;
}

bool number_int(const char *text, int *number) {
    bool is_negative = *text == '-';
    uint64_t size;
    if (!number_u64(text + is_negative, &size)) return false;
    if (size > (uint64_t)INT32_MAX + is_negative) return false;
    *number = (int)(is_negative ? -(int64_t)size : (int64_t)size);
    return true;
}

bool number_double(const char *text, double *number) {
    char *rest;
    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) return false;
    double x = strtod(text, &rest);
    if (*rest || !isfinite(x)) return false;
    *number = x;
    return true;
}

// What a unit multiplies with; 0: it is none.
static uint64_t unit_of(const char *unit) {
    static const char letters[] = "KMGT";
    if (!*unit) return 1;
    const char *letter = strchr(letters, *unit);
    bool is_decimal = strcmp(unit + 1, "B") == 0;
    if (!letter || (unit[1] && !is_decimal && strcmp(unit + 1, "iB") != 0)) return 0;
    uint64_t factor = 1;
    for (const char *l = letters; l <= letter; l++) factor *= is_decimal ? 1000 : 1024;
    return factor;
}

bool number_bytes(const char *text, uint64_t *n_bytes) {
    uint64_t n;
    const char *unit;
    if (!read_digits(text, &n, &unit)) return false;
    uint64_t factor = unit_of(unit);
    if (factor == 0 || n > UINT64_MAX / factor) return false;
    *n_bytes = n * factor;
    return true;
}
