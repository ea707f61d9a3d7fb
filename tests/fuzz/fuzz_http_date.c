// A Retry-After header under a fuzzer: whatever it says, it is a wait that a program can compute with.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/http_date.h"
#include "level1-user/retry.h"

static void check(bool claim) {
    if (!claim) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    const int64_t last_s = 253402300800; // a leap second at the end of 9999
    char *text = calloc(n_bytes + 1, 1);
    int64_t unix_s = -1;

    if (!text) return 0;
    if (n_bytes > 0) memcpy(text, bytes, n_bytes);
    bool is_date = http_date_parse(text, &unix_s);
    check(is_date ? unix_s >= 0 && unix_s <= last_s : unix_s == -1);

    int64_t told_ns = retry_told_ns(text, 1696004797);
    check(told_ns >= 0);
    if (is_date) check((told_ns > 0) == (unix_s > 1696004797));
    free(text);
    return 0;
}
