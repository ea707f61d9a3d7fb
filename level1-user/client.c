// The client, on libcurl's multi interface: the loop is ours, so cancelling does not have to wait for
// bytes. Redirects are not followed: they would carry the key and the question somewhere else.
#include "level1-user/client.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "common/limits.h"
#include "level1-user/events.h"

enum {
    POLL_MS = 100, // how late a cancel may be noticed
    NS_PER_MS = 1000000,
};

// What is known about the answer under way.
struct answer {
    struct client *client;
    struct client_call *call;
    struct sse_parser events;
    struct text body; // of what is not an event stream
    bool has_begun;   // status and type are known
    bool is_stream;
    long http_status;
    char type[64];      // "text/html", "" if none
    int64_t n_received; // bytes of an answer with status 200
    int64_t heard_ns;   // when the last byte came, of a header too; or the start
    enum { IN_TIME, TOO_SILENT, TOO_LATE } time;
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
    a->heard_ns = clock_now(a->client->clock);
    if (a->http_status == 200) a->n_received += (int64_t)n_bytes;
    if (!a->is_stream) {
        take_body(a, bytes, n_bytes);
    } else if (!a->events.is_stopped) {
        enum status st = sse_push(&a->events, bytes, n_bytes, &a->err);
        if (a->status == OK) a->status = st;
    }
    return a->status == OK ? n_bytes : 0;
}

// libcurl's header callback.
static size_t take_header(char *bytes, size_t size, size_t n_bytes, void *ctx) {
    struct answer *a = ctx;
    (void)bytes;
    (void)size; // always 1
    a->heard_ns = clock_now(a->client->clock);
    return n_bytes;
}

static bool is_cancelled(const struct answer *a) {
    return a->call->cancelled && *a->call->cancelled;
}

// How long the next byte may be waited for, at most POLL_MS; 0: no longer, and a->time says why.
static int patience_ms(struct answer *a) {
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
static CURLcode transfer(struct answer *a) {
    CURLM *multi = a->client->multi;
    CURLcode result = CURLE_OK;
    int n_running = 1, n_messages = 0, wait_ms;
    bool is_last = false; // [DONE] came: one more look for the end keeps the connection

    while (n_running > 0 && !is_cancelled(a)) {
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

// ---- what went wrong, in one sentence ----------------------------------------------------------

static enum status explain_time(const struct answer *a, struct error *err) {
    const char *where = a->client->where;
    const char *cut = a->n_received > 0 ? ": the answer is cut" : "";

    if (a->time == TOO_LATE) {
        return error_set(err, ERR_IO,
                         "%s: the deadline came before the end of the answer%s", where,
                         cut);
    }
    if (a->time == TOO_SILENT) {
        return error_set(err, ERR_IO, "%s: not a byte for %.3g s%s", where,
                         a->client->silence_timeout_ms / 1000.0, cut);
    }
    return error_set(err, ERR_IO, "%s: no connection in time", where);
}

static enum status explain_transfer(const struct answer *a, CURLcode result,
                                    struct error *err) {
    const char *where = a->client->where, *why = curl_easy_strerror(result);
    switch (result) {
    case CURLE_OPERATION_TIMEDOUT:
        return explain_time(a, err);
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
        return error_set(err, ERR_IO, "%s: %s; is the server running there?", where, why);
    case CURLE_PEER_FAILED_VERIFICATION:
        return error_set(err, ERR_IO, "%s: %s; nothing was sent", where, why);
    default:
        return error_set(err, ERR_IO, "%s: %s%s", where, why,
                         a->n_received > 0 ? ": the answer is cut" : "");
    }
}

static const char *hint_for(long http_status) {
    switch (http_status) {
    case 401:
    case 403:
        return "; check the API key";
    case 404:
        return "; check the model, and that the base URL ends in /v1";
    default:
        return http_status / 100 == 3
                   ? "; a redirect is not followed: give the URL it leads to"
                   : "";
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
    if (a->http_status != 200 && a->http_status != 0) return explain_refusal(a, err);
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

// ---- what retry.h wants to know of it ----------------------------------------------------------

// What may go better next time; all other results of libcurl will not.
static bool is_loss(CURLcode result) {
    static const CURLcode losses[] = {
        CURLE_OK, // a stream without its end, or with an error in it
        CURLE_COULDNT_RESOLVE_HOST,
        CURLE_COULDNT_CONNECT,
        CURLE_OPERATION_TIMEDOUT,
        CURLE_GOT_NOTHING,
        CURLE_PARTIAL_FILE,
        CURLE_SEND_ERROR,
        CURLE_RECV_ERROR,
        CURLE_HTTP2,
        CURLE_HTTP2_STREAM,
    };
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        if (losses[i] == result) return true;
    }
    return false;
}

static enum retry_end end_of(const struct answer *a, CURLcode result, enum status st) {
    if (st == ERR_STATE) return RETRY_HOPELESS; // cancelled
    if (a->http_status != 0 && a->http_status != 200) return RETRY_REFUSED;
    return st == ERR_IO && is_loss(result) ? RETRY_LOST : RETRY_HOPELESS;
}

static void note_failure(const struct answer *a, CURLcode result, enum status st) {
    struct client_call *call = a->call;
    struct curl_header *header = NULL;

    call->failure = (struct retry_failure){
        .end = end_of(a, result, st),
        .http_status = (int)a->http_status,
        .n_received = a->n_received,
    };
    if (curl_easy_header(a->client->easy, "Retry-After", 0, CURLH_HEADER, -1, &header) !=
        CURLHE_OK) {
        return;
    }
    snprintf(call->retry_after, sizeof(call->retry_after), "%s", header->value);
    call->failure.retry_after = call->retry_after;
}

enum status client_chat(struct client *c, struct client_call *call, struct error *err) {
    struct answer a = {.client = c, .call = call};
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
    enum status st = finish(&a, result, err);
    if (st != OK) note_failure(&a, result, st);
    sse_free(&a.events);
    text_free(&a.body);
    return st;
}
