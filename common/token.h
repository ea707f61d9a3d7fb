// The one currency between text and model.
#ifndef COMMON_TOKEN_H
#define COMMON_TOKEN_H

#include <stdint.h>

typedef int32_t token_id; // 0 .. n_vocab - 1; negative: none

#endif
