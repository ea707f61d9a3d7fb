// Where two requests part, and who pays for it.
#include "level1-user/audit.h"

// [exercise audit.prefix drop]
#include <string.h>
// [end]

// [exercise audit.prefix drop]
static bool is_same(const struct chat_message *a, const struct chat_message *b) {
    return strcmp(a->role, b->role) == 0 && strcmp(a->text, b->text) == 0;
}

// How many bytes two texts have in common at their ends, not counting the first `from` of either.
static size_t common_end(const char *a, const char *b, size_t from) {
    size_t n_a = strlen(a), n_b = strlen(b), n = 0;
    while (n < n_a - from && n < n_b - from && a[n_a - 1 - n] == b[n_b - 1 - n]) n++;
    return n;
}

// Finds the first byte that differs, and says how many tokens the common end of the texts holds.
static int64_t compare_texts(struct audit_prefix *p, const struct chat_message *was,
                             const struct audit_request *second,
                             const struct token_meter *meter) {
    const struct chat_message *is = &second->messages[p->message];
    if (strcmp(was->role, is->role) != 0) return 0;

    const char *a = was->text, *b = is->text;
    while (a[p->byte] && a[p->byte] == b[p->byte]) p->byte++;

    size_t n = strlen(b), begin = n - common_end(a, b, p->byte);
    return token_meter_count(meter, second->messages, p->message, n) -
           token_meter_count(meter, second->messages, p->message, begin);
}
// [end]

void audit_compare(struct audit_prefix *p, const struct audit_request *first,
                   const struct audit_request *second, const struct token_meter *meter) {
    // [exercise audit.prefix]
    const struct chat_message *was = first->messages, *is = second->messages;
    int n = first->n_messages < second->n_messages ? first->n_messages : second->n_messages;

    *p = (struct audit_prefix){0};
    while (p->message < n && is_same(&was[p->message], &is[p->message])) p->message++;
    if (p->message < n) {
        p->tokens_behind = compare_texts(p, &was[p->message], second, meter);
    }
    p->tokens = token_meter_count(meter, is, p->message, p->byte);

    for (int i = p->message + 1; i < n; i++) {
        if (!is_same(&was[i], &is[i])) continue;
        p->tokens_behind +=
            token_meter_count(meter, is, i + 1, 0) - token_meter_count(meter, is, i, 0);
    }
    // [end]
}

// [exercise audit.credit drop]
static int64_t counts_as(const struct audit_rule *rule, int64_t n_tokens) {
    return n_tokens < rule->min_tokens ? 0 : n_tokens - n_tokens % rule->step_tokens;
}

static bool is_found(int mark, const struct audit_request *second, int look_back) {
    for (int i = 0; i < second->n_marks; i++) {
        if (second->marks[i] >= mark && second->marks[i] - mark <= look_back) return true;
    }
    return false;
}

// The last mark of the first request that the second reads from; 0: none.
static int last_read(const struct audit_prefix *p, const struct audit_request *first,
                     const struct audit_request *second, int look_back) {
    int last = 0;
    for (int i = 0; i < first->n_marks; i++) {
        int mark = first->marks[i];
        if (mark <= last || mark > p->message) continue;
        if (is_found(mark, second, look_back)) last = mark;
    }
    return last;
}

static int last_mark(const struct audit_request *r) {
    int last = 0;
    for (int i = 0; i < r->n_marks; i++) {
        if (r->marks[i] > last) last = r->marks[i];
    }
    return last;
}

static int64_t cost_of(const struct audit_credit *c, const struct audit_rule *rule) {
    bool is_unknown = (c->cached > 0 && rule->read_per_mille == AUDIT_UNKNOWN) ||
                      (c->written > 0 && rule->write_per_mille == AUDIT_UNKNOWN);
    if (is_unknown) return AUDIT_UNKNOWN;
    return c->cached * rule->read_per_mille + c->written * rule->write_per_mille +
           (c->input - c->cached - c->written) * 1000;
}
// [end]

void audit_apply(struct audit_credit *c, const struct audit_rule *rule,
                 const struct audit_prefix *p, const struct audit_request *first,
                 const struct audit_request *second, const struct token_meter *meter) {
    // [exercise audit.credit]
    const struct chat_message *messages = second->messages;
    c->input = token_meter_count(meter, messages, second->n_messages, 0);
    int64_t known = p->tokens, stored = c->input;
    if (rule->needs_marks) {
        int last = last_read(p, first, second, rule->look_back);
        known = token_meter_count(meter, messages, last, 0);
        stored = token_meter_count(meter, messages, last_mark(second), 0);
    }
    c->cached = counts_as(rule, known);
    c->written = counts_as(rule, stored) - c->cached;
    c->lost = counts_as(rule, p->tokens + p->tokens_behind) - c->cached;
    c->cost = cost_of(c, rule);
    // [end]
}
