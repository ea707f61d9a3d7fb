// The client, on libcurl's multi interface: the loop is ours, so cancelling does not have to wait for
// bytes. Redirects are not followed: they would carry the key and the question somewhere else.
#include "level1-user/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/events.h"

enum {
    CONNECT_TIMEOUT_MS = 10000,
    POLL_MS = 100, // how late a cancel may be noticed
};

// ---- opening -----------------------------------------------------------------------------------

static bool is_http(CURLU *url) {
    char *scheme = NULL;
    bool is = curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
              (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    curl_free(scheme);
    return is;
}

// "/v1/" -> "/v1/chat/completions"
static bool append_path(CURLU *url) {
    static const char tail[] = "/chat/completions";
    char *path = NULL, *joined = NULL;
    bool is_set = false;

    if (curl_url_get(url, CURLUPART_PATH, &path, 0) != CURLUE_OK) return false;
    size_t n = strlen(path);
    while (n > 0 && path[n - 1] == '/') n--;
    joined = malloc(n + sizeof(tail));
    if (joined) {
        memcpy(joined, path, n);
        memcpy(joined + n, tail, sizeof(tail));
        is_set = curl_url_set(url, CURLUPART_PATH, joined, 0) == CURLUE_OK;
    }
    free(joined);
    curl_free(path);
    return is_set;
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

static enum status set_url(struct client *c, const char *base_url, struct error *err) {
    enum status st = OK;
    CURLU *url = curl_url();

    if (!url) return error_set(err, ERR_MEMORY, "no memory for the client");
    if (curl_url_set(url, CURLUPART_URL, base_url, 0) != CURLUE_OK || !is_http(url)) {
        st = error_set(err, ERR_INPUT,
                       "the base URL must look like http://127.0.0.1:8080/v1");
        goto done;
    }
    name_server(c->where, sizeof(c->where), url);
    if (!append_path(url) || curl_url_get(url, CURLUPART_URL, &c->url, 0) != CURLUE_OK) {
        st = error_set(err, ERR_MEMORY, "no memory for the client");
    }
done:
    curl_url_cleanup(url);
    return st;
}

static bool add_header(struct client *c, const char *line) {
    struct curl_slist *longer = curl_slist_append(c->headers, line);
    if (longer) c->headers = longer;
    return longer != NULL;
}

// A key with a line end in it could add headers of its own. Errors never show the key.
static enum status check_key(const char *key, struct error *err) {
    size_t n = strlen(key);
    if (n > LIMIT_CLIENT_KEY_BYTES) {
        return error_set(err, ERR_INPUT, "the API key has %zu bytes, at most %d are sent",
                         n, LIMIT_CLIENT_KEY_BYTES);
    }
    for (const char *k = key; *k; k++) {
        if (*k > ' ' && *k <= '~') continue;
        return error_set(err, ERR_INPUT,
                         "the API key holds a space, a line end or a strange character");
    }
    return OK;
}

static enum status set_headers(struct client *c, const char *api_key, struct error *err) {
    char line[LIMIT_CLIENT_KEY_BYTES + 64];
    bool is_set = add_header(c, "Content-Type: application/json");

    is_set &= add_header(c, "Accept: text/event-stream, application/json");
    is_set &= add_header(c, "Expect:"); // no round trip before a long question
    if (api_key && *api_key) {
        enum status st = check_key(api_key, err);
        if (st != OK) return st;
        snprintf(line, sizeof(line), "Authorization: Bearer %s", api_key);
        is_set &= add_header(c, line);
    }
    return is_set ? OK : error_set(err, ERR_MEMORY, "no memory for the client");
}

// A proxy for the world is of no use on the way to this machine.
static bool is_this_machine(const char *where) {
    return strncmp(where, "http://127.", 11) == 0 ||
           strncmp(where, "http://localhost", 16) == 0 ||
           strncmp(where, "http://[::1]", 12) == 0;
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
    failed |= curl_easy_setopt(c->easy, CURLOPT_TIMEOUT_MS, (long)options->timeout_ms) !=
              CURLE_OK;
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
    c->timeout_ms = options->timeout_ms;
    c->easy = curl_easy_init();
    c->multi = curl_multi_init();

    enum status st = set_url(c, options->base_url, err);
    if (st == OK) st = set_headers(c, options->api_key, err);
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
    curl_global_cleanup();
    memset(c, 0, sizeof(*c));
}

// ---- one answer --------------------------------------------------------------------------------

// What is known about the answer under way.
struct answer {
    struct client *client;
    struct client_call *call;
    struct sse_parser events;
    struct text body; // of what is not an event stream
    bool has_begun;   // status and type are known
    bool is_stream;
    long http_status;
    char type[64]; // "text/html", "" if none
    enum status status;
    struct error err; // if status is not OK
};

static bool take_event(void *ctx, const struct sse_event *event) {
    struct answer *a = ctx;
    struct client_call *call = a->call;
    struct reply *r = call->reply;
    size_t n_before = r->n_choices > 0 ? r->choices[0].text.n : 0;

    a->status =
        reply_push(r, event->data, event->n_data, clock_now(a->client->clock), &a->err);
    size_t n_after = r->n_choices > 0 ? r->choices[0].text.n : 0;
    if (n_after > n_before && call->on_text) {
        call->on_text(call->ctx, reply_text(r) + n_before, n_after - n_before);
    }
    return a->status == OK && !r->is_done && !r->has_error;
}

// "text/html; charset=utf-8" -> "text/html"
static void note_begin(struct answer *a) {
    char *type = NULL;
    curl_easy_getinfo(a->client->easy, CURLINFO_RESPONSE_CODE, &a->http_status);
    curl_easy_getinfo(a->client->easy, CURLINFO_CONTENT_TYPE, &type);
    snprintf(a->type, sizeof(a->type), "%.*s", type ? (int)strcspn(type, "; ") : 0,
             type ? type : "");
    a->is_stream = a->http_status == 200 && strcmp(a->type, "text/event-stream") == 0;
    a->has_begun = true;
}

static void take_body(struct answer *a, const char *bytes, size_t n_bytes) {
    bool is_error = a->http_status != 200;
    size_t limit = is_error ? LIMIT_REFUSAL_BYTES : LIMIT_REPLY_BYTES;

    if (n_bytes > limit - a->body.n) {
        if (is_error) return; // what came so far says enough
        a->status = error_set(&a->err, ERR_LIMIT, "the server's answer is above %d bytes",
                              LIMIT_REPLY_BYTES);
    } else if (!text_append(&a->body, bytes, n_bytes)) {
        a->status = error_set(&a->err, ERR_MEMORY, "no memory for the server's answer");
    }
}

// libcurl's write callback. Fewer bytes than it offered: it gives up.
static size_t take_bytes(char *bytes, size_t size, size_t n_bytes, void *ctx) {
    struct answer *a = ctx;
    (void)size; // always 1

    if (!a->has_begun) note_begin(a);
    if (!a->is_stream) {
        take_body(a, bytes, n_bytes);
    } else if (!a->events.is_stopped) {
        enum status st = sse_push(&a->events, bytes, n_bytes, &a->err);
        if (a->status == OK) a->status = st;
    }
    return a->status == OK ? n_bytes : 0;
}

static bool is_cancelled(const struct answer *a) {
    return a->call->cancelled && *a->call->cancelled;
}

// Runs the transfer to its end, or to ours. CURLE_OK also when we left it.
static CURLcode transfer(struct answer *a) {
    CURLM *multi = a->client->multi;
    CURLcode result = CURLE_OK;
    int n_running = 1, n_messages = 0;
    bool is_last = false; // [DONE] came: one more look for the end keeps the connection

    while (n_running > 0 && !is_cancelled(a)) {
        if (curl_multi_perform(multi, &n_running) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
        if (n_running == 0 || is_last) break;
        is_last = a->events.is_stopped;
        curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
    }
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &n_messages)) != NULL;) {
        if (m->msg == CURLMSG_DONE) result = m->data.result;
    }
    return result;
}

// ---- what went wrong, in one sentence ----------------------------------------------------------

static enum status explain_transfer(const struct answer *a, CURLcode result,
                                    struct error *err) {
    const char *where = a->client->where;
    if (result == CURLE_OPERATION_TIMEDOUT && a->http_status > 0) {
        return error_set(err, ERR_IO, "%s: no end of the answer within %d ms", where,
                         a->client->timeout_ms);
    }
    if (result == CURLE_OPERATION_TIMEDOUT) {
        return error_set(err, ERR_IO, "%s: no answer in time", where);
    }
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST) {
        return error_set(err, ERR_IO, "%s: %s; is the server running there?", where,
                         curl_easy_strerror(result));
    }
    return error_set(err, ERR_IO, "%s: %s", where, curl_easy_strerror(result));
}

static const char *hint_for(long http_status) {
    switch (http_status) {
    case 401:
    case 403:
        return "; check the API key";
    case 404:
        return "; check the model, and that the base URL ends in /v1";
    case 429:
    case 503:
        return "; try again later";
    default:
        return "";
    }
}

static enum status code_for(long http_status) {
    if (http_status == 429 || http_status == 503) return ERR_BUSY;
    if (http_status >= 400 && http_status < 500) return ERR_INPUT;
    return ERR_IO;
}

// An OpenAI error object, or whatever a proxy sends in its place.
static enum status explain_refusal(struct answer *a, struct error *err) {
    struct reply *r = a->call->reply;
    enum status code = code_for(a->http_status);
    const char *hint = hint_for(a->http_status);

    reply_whole(r, text_string(&a->body), a->body.n, 0, NULL);
    if (r->has_error) {
        return error_set(err, code, "%s: %ld: %.120s%s", a->client->where, a->http_status,
                         r->error_message, hint);
    }
    return error_set(err, code, "%s: %ld, with %s in place of an error object%s",
                     a->client->where, a->http_status, *a->type ? a->type : "no type",
                     hint);
}

static enum status take_whole(struct answer *a, struct error *err) {
    struct reply *r = a->call->reply;
    enum status st = reply_whole(r, text_string(&a->body), a->body.n,
                                 clock_now(a->client->clock), &a->err);
    if (st != OK) {
        return error_set(err, st, "%s: %.150s (it came as %s)", a->client->where,
                         a->err.text, *a->type ? a->type : "no type");
    }
    if (a->call->on_text && r->n_choices > 0) {
        a->call->on_text(a->call->ctx, reply_text(r), r->choices[0].text.n);
    }
    return OK;
}

static enum status finish(struct answer *a, CURLcode result, struct error *err) {
    struct reply *r = a->call->reply;
    const char *where = a->client->where;

    if (!a->has_begun) note_begin(a); // no answer, or one without a body
    if (is_cancelled(a)) return error_set(err, ERR_STATE, "cancelled");
    if (a->status != OK) return error_set(err, a->status, "%s: %s", where, a->err.text);
    if (result == CURLE_OK && a->http_status != 200) return explain_refusal(a, err);
    if (result == CURLE_OK && !a->is_stream) {
        enum status st = take_whole(a, err);
        if (st != OK) return st;
    }
    if (r->has_error) return error_set(err, ERR_IO, "%s: %.180s", where, r->error_message);
    if (r->is_done) return OK;
    if (result != CURLE_OK) return explain_transfer(a, result, err);
    return error_set(err, ERR_IO, "%s: the stream ended without [DONE]: the answer is cut",
                     where);
}

enum status client_chat(struct client *c, struct client_call *call, struct error *err) {
    struct answer a = {.client = c, .call = call};
    CURLcode result = CURLE_OUT_OF_MEMORY;

    sse_init(&a.events, LIMIT_EVENT_BYTES, take_event, &a);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, &a);
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, call->body);
    call->start_ns = clock_now(c->clock);

    if (curl_multi_add_handle(c->multi, c->easy) == CURLM_OK) {
        result = transfer(&a);
        curl_multi_remove_handle(c->multi, c->easy);
    }
    enum status st = finish(&a, result, err);
    sse_free(&a.events);
    text_free(&a.body);
    return st;
}
