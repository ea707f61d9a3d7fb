// One GET with libcurl. Each has a connection of its own: the one before may lead to a process that ends.
#include "level2-operator/rollout/ready_probe.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"

static const long patience_ms = 1000;

static size_t drop(char *bytes, size_t size, size_t n, void *nobody) {
    (void)bytes, (void)nobody;
    return size * n;
}

enum status ready_probe_open(struct ready_probe *p, struct error *err) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(err, ERR_MEMORY, "libcurl does not start");
    p->curl = curl_easy_init();
    if (p->curl) return OK;
    curl_global_cleanup();
    return error_set(err, ERR_MEMORY, "no memory for libcurl");
}

void ready_probe_close(struct ready_probe *p) {
    if (!p->curl) return;
    curl_easy_cleanup(p->curl);
    curl_global_cleanup();
    memset(p, 0, sizeof(*p));
}

bool ready_probe_ask(struct ready_probe *p, const char *address) {
    char url[LIMIT_REPLICA_NAME_BYTES + 32];
    long status = 0;

    snprintf(url, sizeof(url), "http://%s/ready", address);
    curl_easy_reset(p->curl);
    curl_easy_setopt(p->curl, CURLOPT_URL, url);
    curl_easy_setopt(p->curl, CURLOPT_NOPROXY, "*"); // a replica is not on the way out
    curl_easy_setopt(p->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(p->curl, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(p->curl, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(p->curl, CURLOPT_TIMEOUT_MS, patience_ms);
    curl_easy_setopt(p->curl, CURLOPT_WRITEFUNCTION, drop);
    if (curl_easy_perform(p->curl) != CURLE_OK) return false;
    curl_easy_getinfo(p->curl, CURLINFO_RESPONSE_CODE, &status);
    return status == 200;
}
