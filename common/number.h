// Numbers from the text of strangers: the whole text is the number, or the answer is false. Base 10
// only; no spaces, no sign where none is allowed, no overflow, no NaN, no infinity.
#ifndef COMMON_NUMBER_H
#define COMMON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

// On false the number is untouched.
bool number_u64(const char *text, uint64_t *number);
bool number_int(const char *text, int *number);
bool number_double(const char *text, double *number);

// A size such as 1000 or 64K, 512M, 2G, 1T: powers of 1024, and so are KiB, MiB, GiB, TiB. KB, MB, GB, TB
// are powers of 1000.
bool number_bytes(const char *text, uint64_t *n_bytes);

#endif
