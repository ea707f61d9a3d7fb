// A price list under a fuzzer: whatever is taken can be found, printed and billed; whatever is refused has
// a reason.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level1-user/price_list.h"
#include "level1-user/statement.h"

static void check(bool claim) {
    if (!claim) abort();
}

static void bill_entry(const struct price_entry *e) {
    const struct workload work = {
        .used = {.input = 3200, .cached = 3000, .output = 300},
        .n_requests = 1000,
    };
    struct statement s;
    struct error err = {0};
    if (statement_of(&s, e, &work, &err) != OK) {
        check(err.text[0] != '\0');
        return;
    }
    check(s.all.with.total == 1000 * s.one.with.total);
    json_decref(statement_json(&s));
}

// An entry in dollars is found by its own words, or one that began later.
static void check_entry(const struct price_list *list, const struct price_entry *e) {
    const struct price_entry *found;
    const struct price_query query = {.model = e->model, .window = e->window};
    check(e->price.input >= PRICE_UNKNOWN && e->price.output >= PRICE_UNKNOWN);
    if (strcmp(e->currency, "USD") != 0) return;
    check(price_list_find(&found, list, &query, NULL) == OK);
    check(strcmp(found->model, e->model) == 0 && strcmp(found->window, e->window) == 0);
    bill_entry(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    const struct price_entry *found;
    const struct price_query nobody = {.model = "nobody", .date = "2025-02"};
    struct price_list list;
    struct error err = {0};

    if (price_list_parse(&list, (const char *)bytes, n_bytes, "list", &err) == OK) {
        check(list.n_entries >= 1);
        for (int i = 0; i < list.n_entries; i++) check_entry(&list, &list.entries[i]);
        price_list_find(&found, &list, &nobody, &err);
    }
    check(list.n_entries > 0 || err.text[0] != '\0');
    price_list_close(&list);
    return 0;
}
