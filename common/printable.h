// Text from a file or a stranger, for a terminal: shown as it is where a terminal only shows it, and
// escaped where it would obey. \n, \t and \r as in C; other controls, and bytes that are no UTF-8, as
// \x and two digits per byte.
#ifndef COMMON_PRINTABLE_H
#define COMMON_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

// Returns the columns used, one per character shown.
int printable_write(FILE *out, const char *text, size_t n_bytes);

// The same between quotes; quotes and backslashes inside are escaped, so it can be read back.
int printable_quote(FILE *out, const char *text, size_t n_bytes);

#endif
