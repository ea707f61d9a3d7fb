// What `ask --audit` prints: where two requests part, and what each provider's rule makes of it.
#ifndef LEVEL1_AUDIT_REPORT_H
#define LEVEL1_AUDIT_REPORT_H

#include <stdio.h>

#include "common/status.h"
#include "level1-user/cache_rules.h"
#include "level1-user/request_file.h"
#include "level1-user/token_meter.h"

// At most 80 columns, unless names are very long. Of the texts only a few characters around the place
// are shown; what is no printable UTF-8 shows as '?'.
void audit_report_print(FILE *out, const struct request_file *first,
                        const struct request_file *second, const struct cache_rules *rules,
                        const struct token_estimate *estimate);

// The same, of files. Errors as in request_file_open and cache_rules_open; nothing is printed then.
enum status audit_report_files(FILE *out, const char *first, const char *second,
                               const char *rules, const struct token_estimate *estimate,
                               struct error *err);

#endif
