// The client, on libcurl's multi interface: the loop is ours, so cancelling does not have to wait for
// bytes. Redirects are not followed: they would carry the key and the question somewhere else. How a call
// ended is said in client_outcome.c.
#include "level1-user/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/client_answer.h"

enum {
    POLL_MS = 100, // how late a cancel may be noticed
    NS_PER_MS = 1000000,
};

static bool take_event(void *ctx, const struct sse_event *event) {
    struct client_answer *a = ctx;
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
static void begin(struct client_answer *a) {
    char *type = NULL;
    curl_easy_getinfo(a->client->easy, CURLINFO_RESPONSE_CODE, &a->http_status);
    curl_easy_getinfo(a->client->easy, CURLINFO_CONTENT_TYPE, &type);
    snprintf(a->type, sizeof(a->type), "%.*s", type ? (int)strcspn(type, "; ") : 0,
             type ? type : "");
    a->is_stream = a->http_status == 200 && strcmp(a->type, "text/event-stream") == 0;
    a->has_begun = true;
}

static void take_body(struct client_answer *a, const char *bytes, size_t n_bytes) {
    bool is_error = a->http_status != 200;
    size_t limit = is_error ? LIMIT_REFUSAL_BYTES : LIMIT_REPLY_BYTES;

    if (n_bytes > limit - a->body.n) {
        a->is_enough = is_error; // what came so far says it, and a page may have no end
        if (is_error) return;
        a->status = error_set(&a->err, ERR_LIMIT, "the server's answer is above %d bytes",
                              LIMIT_REPLY_BYTES);
    } else if (!text_append(&a->body, bytes, n_bytes)) {
        a->status = error_set(&a->err, ERR_MEMORY, "no memory for the server's answer");
    }
}

// libcurl's write callback. Fewer bytes than it offered: it gives up.
static size_t take_bytes(char *bytes, size_t size, size_t n_bytes, void *ctx) {
    struct client_answer *a = ctx;
    (void)size; // always 1

    if (!a->has_begun) begin(a);
    a->heard_ns = clock_now(a->client->clock);
    if (a->http_status == 200) a->n_received += (int64_t)n_bytes;
    if (!a->is_stream) {
        take_body(a, bytes, n_bytes);
    } else if (!a->events.is_stopped) {
        enum status st = sse_push(&a->events, bytes, n_bytes, &a->err);
        if (a->status == OK) a->status = st;
    }
    return a->status == OK && !a->is_enough ? n_bytes : 0;
}

// libcurl's header callback.
static size_t take_header(char *bytes, size_t size, size_t n_bytes, void *ctx) {
    struct client_answer *a = ctx;
    (void)bytes;
    (void)size; // always 1
    a->heard_ns = clock_now(a->client->clock);
    return n_bytes;
}

// How long the next byte may be waited for, at most POLL_MS; 0: no longer, and a->time says why.
static int patience_ms(struct client_answer *a) {
    int64_t now_ns = clock_now(a->client->clock), deadline_ns = a->call->deadline_ns;
    int64_t silence_ns = (int64_t)a->client->silence_timeout_ms * NS_PER_MS;
    int64_t left_ns = POLL_MS * NS_PER_MS;

    if (silence_ns > 0 && a->heard_ns + silence_ns - now_ns < left_ns) {
        left_ns = a->heard_ns + silence_ns - now_ns;
        if (left_ns <= 0) a->time = TOO_SILENT;
    }
    if (deadline_ns > 0 && deadline_ns - now_ns < left_ns) {
        left_ns = deadline_ns - now_ns;
        if (left_ns <= 0) a->time = TOO_LATE;
    }
    return left_ns <= 0 ? 0 : (int)((left_ns + NS_PER_MS - 1) / NS_PER_MS);
}

// Runs the transfer to its end, or to ours. CURLE_OK also when we left it, unless time was up.
static CURLcode transfer(struct client_answer *a) {
    CURLM *multi = a->client->multi;
    CURLcode result = CURLE_OK;
    int n_running = 1, n_messages = 0, wait_ms;
    bool is_last = false; // [DONE] came: one more look for the end keeps the connection

    while (n_running > 0 && !client_is_cancelled(a->call)) {
        if (curl_multi_perform(multi, &n_running) != CURLM_OK) return CURLE_OUT_OF_MEMORY;
        if (n_running == 0 || is_last) break;
        is_last = a->events.is_stopped;
        wait_ms = patience_ms(a);
        if (wait_ms == 0) return CURLE_OPERATION_TIMEDOUT;
        curl_multi_poll(multi, NULL, 0, wait_ms, NULL);
    }
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &n_messages)) != NULL;) {
        if (m->msg == CURLMSG_DONE) result = m->data.result;
    }
    return result;
}

bool client_is_cancelled(const struct client_call *call) {
    return call->cancelled && *call->cancelled;
}

enum status client_chat(struct client *c, struct client_call *call, struct error *err) {
    struct client_answer a = {.client = c, .call = call};
    CURLcode result = CURLE_OUT_OF_MEMORY;

    sse_init(&a.events, LIMIT_EVENT_BYTES, take_event, &a);
    curl_easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(c->easy, CURLOPT_WRITEDATA, &a);
    curl_easy_setopt(c->easy, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(c->easy, CURLOPT_HEADERDATA, &a);
    curl_easy_setopt(c->easy, CURLOPT_POSTFIELDS, call->body);
    call->start_ns = a.heard_ns = clock_now(c->clock);

    if (curl_multi_add_handle(c->multi, c->easy) == CURLM_OK) {
        result = transfer(&a);
        curl_multi_remove_handle(c->multi, c->easy);
    }
    if (!a.has_begun) begin(&a); // no answer, or one without a body
    enum status st = client_answer_end(&a, result, err);
    sse_free(&a.events);
    text_free(&a.body);
    return st;
}
