// Recorded requests and cache rules under a fuzzer: whatever is taken can be audited and printed, and its
// figures add up; whatever is refused has a reason.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/audit_report.h"

static void check(bool claim) {
    if (!claim) abort();
}

static const char rules[] =
    "{\"rules\": [{\"provider\": \"A\", \"min_tokens\": 8, \"step_tokens\": 4, "
    "\"write_factor\": \"1\"}, {\"provider\": \"B\", \"min_tokens\": 2, \"step_tokens\": "
    "1, "
    "\"look_back\": 1, \"write_factor\": \"1.25\", \"read_factor\": \"0.1\"}]}";

static void check_pair(const struct request_file *first, const struct request_file *second,
                       const struct cache_rules *list) {
    const struct token_estimate estimate = {3, 2};
    const struct token_meter meter = token_meter_estimate(&estimate);
    struct audit_prefix p;
    audit_compare(&p, &first->request, &second->request, &meter);
    check(p.message <= first->request.n_messages &&
          p.message <= second->request.n_messages);
    check(p.tokens >= 0 && p.tokens_behind >= 0);
    for (int i = 0; i < list->n_entries; i++) {
        struct audit_credit c;
        audit_apply(&c, &list->entries[i].rule, &p, &first->request, &second->request,
                    &meter);
        check(c.cached >= 0 && c.written >= 0 && c.lost >= 0);
        check(c.cached + c.written <= c.input);
    }
    FILE *out = fopen("/dev/null", "w");
    check(out != NULL);
    audit_report_print(out, first, second, list, &estimate);
    fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

// The bytes are a request, beside one that is fixed, or a list of rules.
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    static const char fixed[] =
        "{\"messages\": [{\"role\": \"user\", \"content\": \"ab\"}]}";
    struct request_file drawn, other = {0};
    struct cache_rules list = {0};
    struct error err = {0};

    check(request_file_parse(&other, fixed, strlen(fixed), "fixed", NULL) == OK);
    if (request_file_parse(&drawn, (const char *)bytes, n_bytes, "drawn", &err) == OK) {
        check(cache_rules_parse(&list, rules, strlen(rules), "rules", NULL) == OK);
        check_pair(&drawn, &drawn, &list);
        check_pair(&drawn, &other, &list);
        check_pair(&other, &drawn, &list);
    } else {
        check(err.text[0] != '\0');
    }
    cache_rules_close(&list);
    err.text[0] = '\0';
    if (cache_rules_parse(&list, (const char *)bytes, n_bytes, "drawn", &err) == OK)
        check_pair(&other, &other, &list);
    else
        check(err.text[0] != '\0');
    cache_rules_close(&list);
    request_file_close(&drawn);
    request_file_close(&other);
    return 0;
}
