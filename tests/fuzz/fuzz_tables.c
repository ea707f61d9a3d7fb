// The tables of fit under a fuzzer: whatever is taken can be reckoned with and printed; whatever is refused
// has a reason.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "level2-operator/fit/device_table.h"
#include "level2-operator/fit/fit_bars.h"
#include "level2-operator/fit/fit_constants.h"
#include "level2-operator/fit/fit_report.h"

static void check(bool claim) {
    if (!claim) abort();
}

static void reckon(const struct model_entry *e) {
    struct fit_subject s;
    struct fit_answer a;
    fit_subject_of_entry(&s, e);
    const struct fit_case c = {
        .subject = &s,
        .machine = {.name = "board",
                    .n_devices = 1,
                    .n_split = 1,
                    .device = {UINT64_C(1) << 36, 900, 1, 1},
                    .bandwidth = 1,
                    .ops = 1,
                    .load_rates = {1, 1, 1}},
        .weights = "f32",
        .kv = "bf16",
        .weight_type = {1, 4           },
        .kv_type = {1,                  2},
        .n_ctx = s.n_ctx,
        .n_seqs = 1000
    };
    fit_answer_of(&a, &c);
    check(a.fits == (a.max_sequences >= 1000));
    check(a.max_context <= s.n_ctx);
    json_decref(fit_json(&c, &a));
    FILE *out = fopen("/dev/null", "w");
    if (!out) return;
    fit_print(out, &c, &a);
    fit_bars_print(out, &c, &a);
    fclose(out);
}

static void read_as(const struct data_table_kind *kind, const char *bytes, size_t n_bytes) {
    struct data_table t;
    struct error err = {0};
    enum status st = data_table_parse(&t, kind, bytes, n_bytes, "table", &err);
    check(st == OK ? t.n_rows >= 1 : err.text[0] != '\0');
    if (st == OK && kind == &model_table) {
        const struct model_entry *rows = t.rows;
        for (int i = 0; i < t.n_rows && i < 8; i++) reckon(&rows[i]);
    }
    data_table_close(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    read_as(&model_table, (const char *)bytes, n_bytes);
    read_as(&device_table, (const char *)bytes, n_bytes);
    read_as(&fit_overhead_table, (const char *)bytes, n_bytes);
    read_as(&fit_rate_table, (const char *)bytes, n_bytes);
    return 0;
}
