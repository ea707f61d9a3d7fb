// What fit says, for people and for programs.
#ifndef LEVEL2_FIT_REPORT_H
#define LEVEL2_FIT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "level2-operator/fit/fit_case.h"

// Verdict, ledger, limits, seconds, advice.
void fit_print(FILE *out, const struct fit_case *c, const struct fit_answer *a);
void fit_print_sources(FILE *out, const struct fit_case *c); // the last line

// {"fits", "weight_bytes", "kv_bytes_per_token", "kv_bytes", "overhead_bytes", "usable_bytes",
//  "max_sequences", "max_context", "devices_needed", "load_seconds", "suggestions", and what was asked}.
// devices_needed is null when no split is enough, tokens_per_s when the machine's bandwidth is not known.
// NULL: no memory.
json_t *fit_json(const struct fit_case *c, const struct fit_answer *a);

#endif
