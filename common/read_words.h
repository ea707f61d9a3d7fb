// Reading memory as fast as plain C can, to learn how fast that is. One core has to ask for many
// cache lines at once to fill the pipe: so it walks through 16 places side by side.
//
//   words  | stream 0 ▶      | stream 1 ▶      | ...      | stream 15 ▶     |
//            8 words each in turn: one cache line
#ifndef COMMON_READ_WORDS_H
#define COMMON_READ_WORDS_H

#include <stddef.h>
#include <stdint.h>

// The sum of words[0 .. n), up to 127 at the end left out: only the reading matters.
static inline uint64_t read_words(const uint64_t *words, size_t n) {
    enum { STREAMS = 16, LINE = 8 };
    size_t length = n / (STREAMS * LINE) * LINE;
    uint64_t sum[LINE] = {0}; // several sums, so that adding is never what we wait for

    for (size_t i = 0; i < length; i += LINE) {
        for (size_t s = 0; s < STREAMS; s++) {
            const uint64_t *line = words + s * length + i;
            for (int k = 0; k < LINE; k++) sum[k] += line[k];
        }
    }
    for (int k = 1; k < LINE; k++) sum[0] += sum[k];
    return sum[0];
}

#endif
