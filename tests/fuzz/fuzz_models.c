// A server's list of models under a fuzzer: a context of a size that can be, or none.
#include <stdint.h>
#include <stdlib.h>

#include "common/limits.h"
#include "level1-user/client_models.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    int64_t n = models_context((const char *)bytes, n_bytes, "b");
    if (n < 0 || n > LIMIT_CONTEXT) abort();
    return 0;
}
