// Bodies of POST /admin/models under a fuzzer: what is taken is a real path below the folder and a
// name; whatever is refused has a reason.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/api/swap_request.h"

static void check(bool claim) {
    if (!claim) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    static struct swap_request r;
    struct error err = {0};

    if (swap_request_parse(&r, (const char *)bytes, n_bytes, "tests/fuzz", &err) != OK) {
        check(err.text[0] != '\0' && !strchr(err.text, '\n'));
        return 0;
    }
    check(r.path[0] == '/' && strstr(r.path, "/tests/fuzz/") && !strstr(r.path, "/../"));
    check(r.id[0] != '\0' && strlen(r.id) < SWAP_ID_BYTES);
    return 0;
}
