// Two requests that are drawn, and what must come of them, counted the slow way.
#include "tests/support/audit_oracle.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 24 };

static const char *const roles[] = {"system", "user", "assistant"};

static char *draw_text(struct draw *d) {
    int n = draw_int(d, 0, TEXT_BYTES - 1);
    char *text = malloc((size_t)n + 1);
    MUST(text);
    for (int i = 0; i < n; i++) text[i] = (char)draw_int(d, 'a', 'c');
    text[n] = '\0';
    return text;
}

void draw_request(struct drawn_request *r, struct draw *d) {
    r->n_messages = draw_int(d, 0, DRAWN_MESSAGES - 1);
    for (int i = 0; i < r->n_messages; i++)
        r->messages[i] = (struct chat_message){roles[draw_int(d, 0, 2)], draw_text(d)};
}

void draw_change(struct drawn_request *to, const struct drawn_request *from,
                 struct draw *d) {
    to->n_messages = from->n_messages;
    for (int i = 0; i < from->n_messages; i++) {
        char *text = strdup(from->messages[i].text);
        MUST(text);
        int kind = draw_int(d, 0, 9);
        size_t n = strlen(text);
        if (kind == 0 && n > 0) text[draw_int(d, 0, (int)n - 1)] = 'z';
        if (kind == 1 && n > 0) text[n - 1] = '\0';
        to->messages[i] = (struct chat_message){from->messages[i].role, text};
        if (kind == 2) to->messages[i].role = roles[draw_int(d, 0, 2)];
    }
    if (draw_int(d, 0, 3) == 0)
        to->messages[to->n_messages++] = (struct chat_message){"user", draw_text(d)};
}

void release_request(struct drawn_request *r) {
    for (int i = 0; i < r->n_messages; i++) free((char *)r->messages[i].text);
}

struct audit_request request_from(const struct drawn_request *r) {
    return (struct audit_request){r->messages, r->n_messages, NULL, 0};
}

// ---- where they part ----------------------------------------------------------------------------

static bool is_equal(const struct audit_request *a, const struct audit_request *b, int i) {
    return !strcmp(a->messages[i].role, b->messages[i].role) &&
           !strcmp(a->messages[i].text, b->messages[i].text);
}

// Whether the ends of n bytes are the same and stand behind byte `from` of both.
static bool has_end(const char *a, const char *b, size_t n, size_t from) {
    size_t n_a = strlen(a), n_b = strlen(b);
    if (n_a < from + n || n_b < from + n) return false;
    return strcmp(a + n_a - n, b + n_b - n) == 0;
}

struct audit_prefix parted_slowly(const struct audit_request *a,
                                  const struct audit_request *b, const struct grain *g) {
    struct audit_prefix want = {0};
    int n = a->n_messages < b->n_messages ? a->n_messages : b->n_messages;
    for (int i = n - 1; i >= 0; i--) {
        if (!is_equal(a, b, i)) want.message = i;
    }
    bool is_parted = n > 0 && !is_equal(a, b, want.message);
    if (!is_parted) want.message = n;

    const char *role_a = is_parted ? a->messages[want.message].role : "";
    if (is_parted && strcmp(role_a, b->messages[want.message].role) == 0) {
        const char *x = a->messages[want.message].text, *y = b->messages[want.message].text;
        size_t end = TEXT_BYTES;
        want.byte = TEXT_BYTES;
        while (strncmp(x, y, want.byte) != 0 || want.byte > strlen(x) ||
               want.byte > strlen(y))
            want.byte--;
        while (!has_end(x, y, end, want.byte)) end--;
        want.tokens_behind = grain_count(g, b->messages, want.message, strlen(y)) -
                             grain_count(g, b->messages, want.message, strlen(y) - end);
    }
    want.tokens = grain_count(g, b->messages, want.message, want.byte);
    for (int i = n - 1; i > want.message; i--) {
        if (is_equal(a, b, i)) want.tokens_behind += grain_count(g, b->messages + i, 1, 0);
    }
    return want;
}

// ---- what a rule makes of it --------------------------------------------------------------------

static int64_t steps_in(const struct audit_rule *rule, int64_t n_tokens) {
    int64_t n = 0;
    if (n_tokens < rule->min_tokens) return 0;
    while (n + rule->step_tokens <= n_tokens) n += rule->step_tokens;
    return n;
}

static bool has_mark(const struct audit_request *r, int from, int to) {
    for (int i = 0; i < r->n_marks; i++) {
        if (from <= r->marks[i] && r->marks[i] <= to) return true;
    }
    return false;
}

struct audit_credit credited_slowly(const struct audit_rule *rule,
                                    const struct audit_prefix *p,
                                    const struct audit_request *first,
                                    const struct audit_request *second,
                                    const int64_t *before) {
    struct audit_credit want = {.input = before[second->n_messages]};
    int64_t read = p->tokens, kept = want.input;
    if (rule->needs_marks) {
        read = kept = 0;
        for (int m = 1; m <= second->n_messages; m++) {
            if (has_mark(second, m, m)) kept = before[m];
            if (m > p->message || !has_mark(first, m, m)) continue;
            if (has_mark(second, m, m + rule->look_back)) read = before[m];
        }
    }
    want.cached = steps_in(rule, read);
    want.written = steps_in(rule, kept) - want.cached;
    want.lost = steps_in(rule, p->tokens + p->tokens_behind) - want.cached;
    want.cost = 1000 * (want.input - want.cached - want.written);
    want.cost += want.cached * rule->read_per_mille + want.written * rule->write_per_mille;
    if ((want.cached && rule->read_per_mille < 0) ||
        (want.written && rule->write_per_mille < 0))
        want.cost = AUDIT_UNKNOWN;
    return want;
}
