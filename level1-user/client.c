// The client, on libcurl's multi interface: the loop is ours, so cancelling does not have to wait for
// bytes. Redirects are not followed: they would carry the key and the question somewhere else.
#include "level1-user/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/events.h"

enum { POLL_MS = 100 }; // how late a cancel may be noticed

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
