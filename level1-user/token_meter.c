// Tokens without a tokenizer.
#include "level1-user/token_meter.h"

#include <string.h>

int64_t token_meter_count(const struct token_meter *meter,
                          const struct chat_message *messages, int n_messages,
                          size_t n_bytes) {
    return meter->count(meter->ctx, messages, n_messages, n_bytes);
}

static int64_t estimate(const void *ctx, const struct chat_message *messages,
                        int n_messages, size_t n_bytes) {
    const struct token_estimate *by = ctx;
    for (int i = 0; i < n_messages; i++) n_bytes += strlen(messages[i].text);
    return (int64_t)n_bytes / by->bytes_per_token + n_messages * by->tokens_per_message;
}

struct token_meter token_meter_estimate(const struct token_estimate *by) {
    return (struct token_meter){estimate, by};
}
