// Recorded usage under a fuzzer: whatever is taken can be billed; whatever is refused names its line.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/usage_file.h"
#include "level1-user/workload.h"

static void check(bool claim) {
    if (!claim) abort();
}

static enum status take(void *ctx, const struct invoice_usage *used, struct error *err) {
    check(invoice_usage_check(used, NULL) == OK);
    return workload_add(ctx, used, err);
}

static void bill(const struct workload *work) {
    // On both sides of the step a token has the same price, so the sum knows the amount.
    const struct price price = {1, 1, 1, 1};
    const struct price_entry entry = {
        .price = price, .step = {100, price}
    };
    struct invoice invoice;
    int64_t n_tokens = work->used.input + work->used.output; // below 2^63: two short sums
    check(workload_bill(&invoice, work, &entry, NULL) == OK);
    check(invoice.total == n_tokens);
    check(workload_n_above(work, &entry) <= work->n_requests);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    const struct price_list list = {.steps = {100}, .n_steps = 1};
    struct workload work = workload_recorded(&list);
    struct error err = {0};
    if (n_bytes == 0) return 0; // no stream can be opened on nothing
    FILE *in = fmemopen((void *)bytes, n_bytes, "r");
    if (!in) return 0;
    if (usage_file_read(in, "file", take, &work, &err) == OK) {
        check(work.n_requests >= 1);
        if (work.used.input < INT64_MAX / 4 && work.used.output < INT64_MAX / 4)
            bill(&work);
    } else {
        check(strncmp(err.text, "file:", 5) == 0);
    }
    fclose(in);
    return 0;
}
