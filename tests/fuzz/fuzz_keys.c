// Files of API keys under a fuzzer: what is taken can be found again by its key, is named, and
// has limits above zero; whatever is refused has a reason.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/server/http_keys.h"

static void check(bool claim) {
    if (!claim) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    static struct http_keys keys;
    struct error err = {0};

    memset(&keys, 0, sizeof(keys));
    if (http_keys_parse(&keys, (const char *)bytes, n_bytes, "drawn", &err) != OK) {
        check(err.text[0] != '\0' && !strchr(err.text, '\n'));
        return 0;
    }
    check(keys.n_keys > 0 && keys.n_keys <= LIMIT_API_KEYS);
    for (int i = 0; i < keys.n_keys; i++) {
        char header[LIMIT_API_KEY_BYTES + 16];
        uint64_t scope;
        const struct quota *q = &keys.keys[i].quota;
        snprintf(header, sizeof(header), "Bearer %s", keys.keys[i].text);
        check(http_keys_check(&keys, header, &scope) && http_keys_of(&keys, scope));
        check(keys.keys[i].name[0] != '\0');
        check(q->max_inside >= 0 && q->requests_per_minute >= 0 &&
              q->tokens_per_minute >= 0);
    }
    return 0;
}
