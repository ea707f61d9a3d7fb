// What the suite of the audit shares: ways to count tokens, and what a failing test says.
#include "tests/support/audit_rig.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/suite.h"

// ---- meters -------------------------------------------------------------------------------------

static int64_t text_count(const struct grain *grain, const char *text, size_t n_bytes) {
    int64_t n = 0;
    if (grain->bytes > 0) return (int64_t)n_bytes / grain->bytes;
    for (size_t i = 0; i < n_bytes; i++) n += text[i] != text[i + 1];
    return n;
}

int64_t grain_count(const void *ctx, const struct chat_message *messages, int n_messages,
                    size_t n_bytes) {
    const struct grain *grain = ctx;
    int64_t n = 0;
    for (int i = 0; i < n_messages; i++) {
        size_t length = strlen(messages[i].text);
        size_t padding = grain->bytes > 1 ? (size_t)grain->bytes - 1 : 0;
        n += text_count(grain, messages[i].text, length + (length ? padding : 0));
        n += grain->extra;
    }
    return n + (n_bytes ? text_count(grain, messages[n_messages].text, n_bytes) : 0);
}

struct token_meter grain_meter(const struct grain *grain) {
    return (struct token_meter){grain_count, grain};
}

int64_t table_count(const void *ctx, const struct chat_message *messages, int n_messages,
                    size_t n_bytes) {
    const int64_t *before = ctx;
    (void)messages;
    (void)n_bytes;
    return before[n_messages];
}

// ---- what a failing test says -------------------------------------------------------------------

enum { ONE_BYTES = 64 }; // a message, or a few numbers

void put_text(char what[WHAT_BYTES], const char *text) {
    size_t n = strlen(what);
    snprintf(what + n, WHAT_BYTES - n, "%s", text);
}

static void put_request(char what[WHAT_BYTES], const struct audit_request *r) {
    char one[ONE_BYTES];
    for (int i = 0; i < r->n_messages; i++) {
        snprintf(one, sizeof(one), "%s%s \"%s\"", i ? ", " : "", r->messages[i].role,
                 r->messages[i].text);
        put_text(what, one);
    }
}

static void name_pair(char what[WHAT_BYTES], const struct audit_request *first,
                      const struct audit_request *second) {
    what[0] = '\0';
    put_text(what, "audit_compare([");
    put_request(what, first);
    put_text(what, "], [");
    put_request(what, second);
    put_text(what, "])");
}

void assert_tokens(const char *call, const char *field, int64_t got, int64_t want) {
    char what[WHAT_BYTES + 32];
    snprintf(what, sizeof(what), "%s: %s", call, field);
    assert_number(what, got, want);
}

static void assert_prefix(const char *call, const struct audit_prefix *got,
                          const struct audit_prefix *want) {
    assert_tokens(call, "message", got->message, want->message);
    assert_tokens(call, "byte", (int64_t)got->byte, (int64_t)want->byte);
    assert_tokens(call, "tokens", got->tokens, want->tokens);
    assert_tokens(call, "tokens_behind", got->tokens_behind, want->tokens_behind);
}

void assert_credit(const char *call, const struct audit_credit *got,
                   const struct audit_credit *want) {
    assert_tokens(call, "input", got->input, want->input);
    assert_tokens(call, "cached", got->cached, want->cached);
    assert_tokens(call, "written", got->written, want->written);
    assert_tokens(call, "lost", got->lost, want->lost);
    assert_tokens(call, "cost", got->cost, want->cost);
}

void check_prefix(const struct audit_request *first, const struct audit_request *second,
                  const struct token_meter *meter, const struct audit_prefix *want) {
    char what[WHAT_BYTES];
    struct audit_prefix got = {7, 7, 7, 7}; // what was there before does not count
    name_pair(what, first, second);
    audit_compare(&got, first, second, meter);
    assert_prefix(what, &got, want);
}

void name_rule(char what[WHAT_BYTES], const struct audit_rule *rule) {
    snprintf(what, WHAT_BYTES,
             "audit_apply(min %" PRId64 ", step %" PRId64 ", marks %s, look back %d, "
             "write %" PRId64 ", read %" PRId64 "; ",
             rule->min_tokens, rule->step_tokens, rule->needs_marks ? "yes" : "no",
             rule->look_back, rule->write_per_mille, rule->read_per_mille);
}

void put_numbers(char what[WHAT_BYTES], const char *name, const int *x, int n) {
    char one[32];
    put_text(what, name);
    for (int i = 0; i < n; i++) {
        snprintf(one, sizeof(one), " %d", x[i]);
        put_text(what, one);
    }
}
