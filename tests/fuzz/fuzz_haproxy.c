// HAProxy's table under a fuzzer: what is taken has names that fit into a command and counters that add up;
// whatever is refused has a reason in one line.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "level2-operator/rollout/haproxy.h"

static void check(bool claim) {
    if (!claim) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes) {
    static struct haproxy_servers servers;
    struct error err = {0};

    memset(&servers, 0, sizeof(servers));
    if (haproxy_parse(&servers, (const char *)bytes, n_bytes, &err) != OK) {
        check(err.text[0] != '\0' && !strchr(err.text, '\n') && servers.n_items == 0);
        return 0;
    }
    check(servers.n_items >= 0 && servers.n_items <= LIMIT_REPLICAS);
    for (int i = 0; i < servers.n_items; i++) {
        const struct haproxy_server *s = &servers.items[i];
        check(haproxy_is_name(s->name) && haproxy_find(&servers, s->name) == i);
        check(haproxy_state_name(s->state)[0] != '\0');
        check(s->n_sessions >= 0 && s->n_errors >= 0 && s->n_requests >= s->n_errors);
    }
    return 0;
}
