// An audit for people.
#include "level1-user/audit_report.h"

#include <inttypes.h>
#include <string.h>

#include "common/utf8.h"

enum { SHOWN_BEFORE = 20, SHOWN_BEHIND = 30 };

// A few characters around a byte of a text, on one line.
static void print_around(FILE *out, const char *who, const char *text, size_t byte) {
    size_t n = strlen(text), n_used;
    size_t begin = byte > SHOWN_BEFORE ? byte - SHOWN_BEFORE : 0;
    size_t end = n - byte > SHOWN_BEHIND ? byte + SHOWN_BEHIND : n;
    while (begin > 0 && ((unsigned char)text[begin] & 0xc0) == 0x80) begin--;

    fprintf(out, "  %-7s %s", who, begin > 0 ? "..." : "");
    for (size_t i = begin; i < end; i += n_used) {
        int32_t c = utf8_next(text + i, n - i, &n_used);
        if (c < 0 || utf8_is_control(c))
            fputc(c == '\n' || c == '\t' ? ' ' : '?', out);
        else
            fwrite(text + i, 1, n_used, out);
    }
    fprintf(out, "%s\n", end < n ? "..." : "");
}

static void print_place(FILE *out, const struct audit_prefix *p,
                        const struct request_file *first,
                        const struct request_file *second) {
    const struct audit_request *a = &first->request, *b = &second->request;
    bool in_first = p->message < a->n_messages, in_second = p->message < b->n_messages;
    if (!in_first && !in_second) {
        fprintf(out, "the two requests say the same\n");
    } else if (!in_first) {
        fprintf(out, "the second request begins with the first and goes on at %s\n",
                second->places[p->message].name);
    } else if (!in_second) {
        fprintf(out, "the second request ends where the first goes on at %s\n",
                first->places[p->message].name);
    } else if (strcmp(a->messages[p->message].role, b->messages[p->message].role) != 0) {
        fprintf(out, "the two requests part at the role of %s\n",
                second->places[p->message].name);
    } else {
        fprintf(out, "the two requests part at %s, byte %zu\n",
                second->places[p->message].name, p->byte);
        print_around(out, "first", a->messages[p->message].text, p->byte);
        print_around(out, "second", b->messages[p->message].text, p->byte);
    }
}

// What is paid for the input, beside a request that no cache knows.
static void print_paid(FILE *out, const struct audit_credit *c) {
    if (c->cost == AUDIT_UNKNOWN || c->input == 0)
        fprintf(out, "  %12s\n", "not known");
    else
        fprintf(out, "  %10.1f %%\n", (double)c->cost / (double)c->input / 10);
}

static void print_rule(FILE *out, const struct cache_rule *rule,
                       const struct audit_credit *c) {
    char name[64];
    bool has_from = *rule->valid_from, has_to = *rule->valid_to;
    snprintf(name, sizeof(name), "%s%s%s%s%s", rule->provider, has_from ? ", from " : "",
             rule->valid_from, has_to ? " to " : "", rule->valid_to);
    fprintf(out, "%-34s  %8" PRId64 "  %8" PRId64 "  %8" PRId64, name, c->cached,
            c->written, c->lost);
    print_paid(out, c);
}

void audit_report_print(FILE *out, const struct request_file *first,
                        const struct request_file *second, const struct cache_rules *rules,
                        const struct token_estimate *estimate) {
    const struct token_meter meter = token_meter_estimate(estimate);
    struct audit_prefix p;
    struct audit_credit c;
    audit_compare(&p, &first->request, &second->request, &meter);
    print_place(out, &p, first, second);
    fprintf(out,
            "tokens of the second (estimated, %" PRId64 " bytes each): %" PRId64
            " the same in front\n  of that place, %" PRId64 " the same behind it\n\n",
            estimate->bytes_per_token, p.tokens, p.tokens_behind);

    fprintf(out, "%-34s  %8s  %8s  %8s  %12s\n", "", "cached", "written", "lost",
            "input costs");
    for (int i = 0; i < rules->n_entries; i++) {
        audit_apply(&c, &rules->entries[i].rule, &p, &first->request, &second->request,
                    &meter);
        print_rule(out, &rules->entries[i], &c);
    }
}

enum status audit_report_files(FILE *out, const char *first, const char *second,
                               const char *rules, const struct token_estimate *estimate,
                               struct error *err) {
    struct request_file a = {0}, b = {0};
    struct cache_rules list = {0};
    enum status st = request_file_open(&a, first, err);
    if (st == OK) st = request_file_open(&b, second, err);
    if (st == OK) st = cache_rules_open(&list, rules, err);
    if (st == OK) audit_report_print(out, &a, &b, &list, estimate);
    request_file_close(&a);
    request_file_close(&b);
    cache_rules_close(&list);
    return st;
}
