// What an exchange got from the text worker, and what a client would read in it.
#ifndef TESTS_SUPPORT_OUTCOME_H
#define TESTS_SUPPORT_OUTCOME_H

#include <jansson.h>
#include <stdbool.h>

#include "level2-operator/api/exchange.h"

enum { MAX_CHOICES = 8, MAX_TEXT = 4096 };

// What one exchange got: the bytes of its reply or of its whole stream.
struct outcome {
    int n_heads, n_replies, n_ends, n_data, n_used;
    uint64_t key_scope; // that pays for what was used
    int http_status, retry_after_s;
    char *bytes;
    size_t n_bytes;
    int n_prompt, n_cached, n_completion;
    int64_t queue_ns;
};

// The texts of all choices, put together (a zero byte as \x01), and the usage.
struct reading {
    char text[MAX_CHOICES][MAX_TEXT];
    char finish[MAX_CHOICES][16];
    int n_choices;
    json_int_t n_prompt, n_cached, n_completion, n_total;
    bool has_usage;
    int n_roles;
};

// Adds a delivery and frees its bytes; nothing may come after the end.
void outcome_take(struct outcome *o, struct delivery *d);
void outcome_free(struct outcome *o);

// Both fail the test for what no client could read. A stream's events must be "data: {json}" and an
// empty line; the last is "data: [DONE]"; a usage chunk comes at most once, as the one before it.
struct reading outcome_read_body(const struct outcome *o);
struct reading outcome_read_stream(const struct outcome *o);

// A whole reply that is the error object with all its four keys. param and code NULL: null.
void outcome_assert_refused(const struct outcome *o, int http_status, const char *param,
                            const char *code);

#endif
