// Opening a client: URL, key, headers, and libcurl's options. What comes of a call stands in client.c.
#include "level1-user/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"

enum { CONNECT_TIMEOUT_MS = 10000 };

static bool is_http(CURLU *url) {
    char *scheme = NULL;
    bool is = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
              (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    curl_free(scheme);
    return is;
}

// "/v1/" and "/models": the path of url becomes "/v1/models". The whole of it is returned, NULL: no memory.
static char *url_with(CURLU *url, const char *base, const char *tail) {
    size_t n = strlen(base), n_tail = strlen(tail);
    char *path = NULL, *whole = NULL;

    while (n > 0 && base[n - 1] == '/') n--;
    path = malloc(n + n_tail + 1);
    if (!path) return NULL;
    memcpy(path, base, n);
    memcpy(path + n, tail, n_tail + 1);
    if (curl_url_set(url, CURLUPART_PATH, path, 0) == CURLUE_OK)
        curl_url_get(url, CURLUPART_URL, &whole, 0);
    free(path);
    return whole;
}

// What errors may show: no user, no password, no query.
static void name_server(char *out, size_t out_bytes, CURLU *url) {
    char *scheme = NULL, *host = NULL, *port = NULL;
    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0);
    curl_url_get(url, CURLUPART_HOST, &host, 0);
    curl_url_get(url, CURLUPART_PORT, &port, 0);
    snprintf(out, out_bytes, "%s://%s%s%s", scheme ? scheme : "", host ? host : "",
             port ? ":" : "", port ? port : "");
    curl_free(scheme);
    curl_free(host);
    curl_free(port);
}

static enum status set_urls(struct client *c, const char *base_url, struct error *err) {
    enum status st = OK;
    char *base = NULL;
    CURLU *url = curl_url();

    if (!url) return error_set(err, ERR_MEMORY, "no memory for the client");
    if (curl_url_set(url, CURLUPART_URL, base_url, 0) != CURLUE_OK || !is_http(url)) {
        st = error_set(err, ERR_INPUT,
                       "the base URL must look like http://127.0.0.1:8080/v1");
        goto done;
    }
    name_server(c->where, sizeof(c->where), url);
    if (curl_url_get(url, CURLUPART_PATH, &base, 0) == CURLUE_OK) {
        c->url = url_with(url, base, "/chat/completions");
        c->models_url = url_with(url, base, "/models");
    }
    if (!c->url || !c->models_url)
        st = error_set(err, ERR_MEMORY, "no memory for the client");
done:
    curl_free(base);
    curl_url_cleanup(url);
    return st;
}

static bool add_header(struct client *c, const char *line) {
    struct curl_slist *longer = curl_slist_append(c->headers, line);
    if (longer) c->headers = longer;
    return longer != NULL;
}

// What goes out with each request in a header of its own.
struct secret {
    const char *what, *header, *value;
    size_t max_bytes;
};

// A key with a line end in it could add headers of its own. Errors never show the key.
static enum status check_secret(const struct secret *s, struct error *err) {
    size_t n = strlen(s->value);
    if (n > s->max_bytes) {
        return error_set(err, ERR_INPUT, "the %s has %zu bytes, at most %zu are sent",
                         s->what, n, s->max_bytes);
    }
    for (const char *k = s->value; *k; k++) {
        if (*k > ' ' && *k <= '~') continue;
        return error_set(err, ERR_INPUT,
                         "the %s holds a space, a line end or a strange character",
                         s->what);
    }
    return OK;
}

static enum status add_secret(struct client *c, const struct secret *s, struct error *err) {
    char line[LIMIT_CLIENT_KEY_BYTES + 64];
    if (!s->value || !*s->value) return OK;
    enum status st = check_secret(s, err);
    if (st != OK) return st;
    snprintf(line, sizeof(line), "%s%s", s->header, s->value);
    return add_header(c, line) ? OK
                               : error_set(err, ERR_MEMORY, "no memory for the client");
}

static enum status set_headers(struct client *c, const struct client_options *options,
                               struct error *err) {
    const struct secret api_key = {"API key", "Authorization: Bearer ", options->api_key,
                                   LIMIT_CLIENT_KEY_BYTES};
    const struct secret prefix_key = {"prefix key", "X-Prefix-Key: ", options->prefix_key,
                                      LIMIT_PREFIX_KEY_BYTES};
    bool is_set = add_header(c, "Content-Type: application/json");

    is_set &= add_header(c, "Accept: text/event-stream, application/json");
    is_set &= add_header(c, "Accept-Encoding: identity"); // a packed stream comes late
    is_set &= add_header(c, "Expect:"); // no round trip before a long question
    if (!is_set) return error_set(err, ERR_MEMORY, "no memory for the client");
    enum status st = add_secret(c, &api_key, err);
    return st == OK ? add_secret(c, &prefix_key, err) : st;
}

// A proxy for the world is of no use on the way to this machine.
static bool is_this_machine(const char *where) {
    const char *host = strstr(where, "://") + 3;
    return strncmp(host, "127.", 4) == 0 || strncmp(host, "localhost", 9) == 0 ||
           strncmp(host, "[::1]", 5) == 0;
}

static bool set_options(struct client *c, const struct client_options *options) {
    long connect_ms =
        options->connect_timeout_ms > 0 ? options->connect_timeout_ms : CONNECT_TIMEOUT_MS;
    int failed = 0;

    failed |= curl_easy_setopt(c->easy, CURLOPT_URL, c->url) != CURLE_OK;
    failed |= curl_easy_setopt(c->easy, CURLOPT_PROTOCOLS_STR, "http,https") != CURLE_OK;
    failed |= curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers) != CURLE_OK;
    failed |= curl_easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L) != CURLE_OK;
    failed |= curl_easy_setopt(c->easy, CURLOPT_TCP_KEEPALIVE, 1L) != CURLE_OK;
    failed |= curl_easy_setopt(c->easy, CURLOPT_CONNECTTIMEOUT_MS, connect_ms) != CURLE_OK;
    // We ask for no packing, and unpack what comes packed nevertheless.
    failed |= curl_easy_setopt(c->easy, CURLOPT_ACCEPT_ENCODING, "") != CURLE_OK;
#if LIBCURL_VERSION_NUM >= 0x075700
    // A name that nobody resolves must not hold up who gives up: the thread that asks is left behind.
    failed |= curl_easy_setopt(c->easy, CURLOPT_QUICK_EXIT, 1L) != CURLE_OK;
#endif
    if (is_this_machine(c->where)) {
        failed |= curl_easy_setopt(c->easy, CURLOPT_PROXY, "") != CURLE_OK;
    }
    return failed == 0;
}

enum status client_open(struct client *c, const struct client_options *options,
                        struct clock *clock, struct error *err) {
    memset(c, 0, sizeof(*c));
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return error_set(err, ERR_MEMORY, "no memory for the client");
    }
    c->clock = clock;
    c->api_key = options->api_key;
    c->silence_timeout_ms = options->silence_timeout_ms;
    c->easy = curl_easy_init();
    c->multi = curl_multi_init();

    enum status st = set_urls(c, options->base_url, err);
    if (st == OK) st = set_headers(c, options, err);
    if (st == OK && (!c->easy || !c->multi || !set_options(c, options))) {
        st = error_set(err, ERR_MEMORY, "no memory for the client");
    }
    if (st != OK) client_close(c);
    return st;
}

void client_close(struct client *c) {
    if (!c->clock) return; // all-zero is the closed state
    curl_easy_cleanup(c->easy);
    curl_multi_cleanup(c->multi);
    curl_slist_free_all(c->headers);
    curl_free(c->url);
    curl_free(c->models_url);
    curl_global_cleanup();
    memset(c, 0, sizeof(*c));
}
