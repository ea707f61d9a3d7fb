// What one answer took: a line for people, a JSON document for programs.
#ifndef LEVEL1_SUMMARY_H
#define LEVEL1_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level1-user/reply.h"

struct summary {
    double ttft_ms;      // from sending the request to the first text; -1: no text came
    double tokens_per_s; // (completion - 1) / (last - first): decoding alone; -1: not known
    // For the document alone, and set by the caller, who knows a price.
    bool has_price;
    const char *cost_usd; // borrowed; a decimal, NULL: not known
};

// start_ns: on the clock that gave the reply its times.
struct summary summary_of(const struct reply *r, int64_t start_ns);

// "TTFT 85 ms, 42.1 tokens/s, 35 prompt (20 cached) + 48 completion tokens". What is not known is
// left out. Always NUL-terminated.
void summary_line(char *out, size_t out_bytes, const struct summary *s,
                  const struct reply *r);

// The document of `ask --json`, the caller's to free; NULL: no memory. failure: what went wrong, or
// NULL; then the answer is what came until then.
char *summary_json(const struct summary *s, const struct reply *r, const char *failure);

#endif
