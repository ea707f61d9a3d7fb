// Four ways to pay less.
#include "level1-user/lever.h"

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

const char *lever_name(enum lever lever) {
    static const char *const names[LEVER_COUNT] = {
        [LEVER_SHORTER_ANSWER] = "shorter-answer",
        [LEVER_MAX_TOKENS] = "max-tokens",
        [LEVER_FIXED_BLOCK_FIRST] = "fixed-block-first",
        [LEVER_SMALLER_MODEL] = "smaller-model",
    };
    return names[lever];
}

struct invoice_usage lever_pull(enum lever lever, const struct invoice_usage *used,
                                const struct lever_terms *terms) {
    struct invoice_usage pulled = *used;
    int64_t cacheable = smaller(terms->fixed, used->input - used->cache_write);
    if (lever == LEVER_SHORTER_ANSWER) pulled.output = used->output - used->output / 2;
    if (lever == LEVER_MAX_TOKENS) pulled.output = smaller(used->output, terms->max_tokens);
    if (lever == LEVER_FIXED_BLOCK_FIRST && cacheable > used->cached)
        pulled.cached = cacheable;
    return pulled;
}
