// Bytes for people, always in both units, each with its name: on the box stands GB (10^9), engines and
// drivers count in GiB (2^30), and many of them print the one and mean the other.
#ifndef LEVEL2_BYTE_TEXT_H
#define LEVEL2_BYTE_TEXT_H

#include <stdint.h>

enum { BYTE_TEXT_BYTES = 40 };

// "48.3 GB (45.0 GiB)", "131.1 KB (128.0 KiB)", "7 B". Returns text.
char *byte_text(char text[BYTE_TEXT_BYTES], uint64_t n_bytes);

#endif
