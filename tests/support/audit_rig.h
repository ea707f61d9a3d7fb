// Calls of audit.h, and what is judged of them: each assertion names the call with its requests.
#ifndef TESTS_SUPPORT_AUDIT_RIG_H
#define TESTS_SUPPORT_AUDIT_RIG_H

#include "level1-user/audit.h"

// ---- meters -------------------------------------------------------------------------------------

// Each message by itself: a token for each `bytes` of its text, the last one short, and `extra` for what
// stands around it. Unlike the estimate it starts anew with each message. With 0 bytes a run of one
// letter is a token: what stands behind a place then says which token ends there, as in real ones.
struct grain {
    int bytes, extra;
};
int64_t grain_count(const void *grain, const struct chat_message *messages, int n_messages,
                    size_t n_bytes);
struct token_meter grain_meter(const struct grain *grain);

// For rules, which see the beginnings of messages only. before: tokens in front of each.
int64_t table_count(const void *before, const struct chat_message *messages, int n_messages,
                    size_t n_bytes);

// ---- what a failing test says -------------------------------------------------------------------

enum { WHAT_BYTES = 1024 };

// "audit_apply(min 64, step 64, ...; " and then what is put behind it.
void name_rule(char what[WHAT_BYTES], const struct audit_rule *rule);
void put_text(char what[WHAT_BYTES], const char *text);
void put_numbers(char what[WHAT_BYTES], const char *name, const int *x, int n);

void assert_tokens(const char *call, const char *field, int64_t got, int64_t want);
void assert_credit(const char *call, const struct audit_credit *got,
                   const struct audit_credit *want);

// audit_compare says want.
void check_prefix(const struct audit_request *first, const struct audit_request *second,
                  const struct token_meter *meter, const struct audit_prefix *want);

#endif
