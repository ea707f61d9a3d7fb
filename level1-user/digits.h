// Numbers as people read them: "3,200".
#ifndef LEVEL1_DIGITS_H
#define LEVEL1_DIGITS_H

#include <stdint.h>

enum { DIGITS_BYTES = 28 };

// n >= 0, with a comma after each three digits. Returns out.
const char *digits_grouped(char out[DIGITS_BYTES], int64_t n);

#endif
