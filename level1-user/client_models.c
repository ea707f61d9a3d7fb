// A request on the side, with the options of the client: keys, proxy, protocols.
#include "level1-user/client_models.h"

#include <curl/curl.h>
#include <jansson.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/text.h"

// libcurl's write callback. Fewer bytes than it offered: it gives up.
static size_t take_bytes(char *bytes, size_t size, size_t n_bytes, void *ctx) {
    struct text *body = ctx;
    (void)size; // always 1
    bool fits =
        n_bytes <= LIMIT_MODELS_BYTES - body->n && text_append(body, bytes, n_bytes);
    return fits ? n_bytes : 0;
}

int64_t models_context(const char *body, size_t n_bytes, const char *model) {
    json_t *root = json_loadb(body, n_bytes, JSON_REJECT_DUPLICATES, NULL);
    const json_t *list = json_object_get(root, "data"), *found = NULL;

    if (json_array_size(list) == 1) found = json_array_get(list, 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const char *id = json_string_value(json_object_get(entry, "id"));
        if (id && strcmp(id, model) == 0) found = entry;
    }
    int64_t n = json_integer_value(json_object_get(found, "max_model_len")); // else 0
    json_decref(root);
    return n > 0 && n <= LIMIT_CONTEXT ? n : 0;
}

// libcurl's progress callback, called once a second or more often. Non-zero: it gives up.
static int is_cancelled(void *ctx, curl_off_t down, curl_off_t n_down, curl_off_t up,
                        curl_off_t n_up) {
    const volatile sig_atomic_t *cancelled = ctx;
    (void)down, (void)n_down, (void)up, (void)n_up;
    return cancelled && *cancelled;
}

int64_t client_context(const struct client *c, const char *model, int64_t patience_ms,
                       const volatile sig_atomic_t *cancelled) {
    struct text body = {0};
    int64_t n = 0;
    long status = 0;
    CURL *easy = curl_easy_duphandle(c->easy);

    if (easy) {
        curl_easy_setopt(easy, CURLOPT_URL, c->models_url);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, NULL);
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)patience_ms);
        curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
        curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, is_cancelled);
        curl_easy_setopt(easy, CURLOPT_XFERINFODATA, (void *)cancelled);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, NULL);
        curl_easy_setopt(easy, CURLOPT_HEADERDATA, NULL);
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_bytes);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &body);
        if (curl_easy_perform(easy) == CURLE_OK) {
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            if (status == 200) n = models_context(text_string(&body), body.n, model);
        }
    }
    curl_easy_cleanup(easy);
    text_free(&body);
    return n;
}
