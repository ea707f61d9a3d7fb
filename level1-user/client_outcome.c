// How a call of the client ended: one sentence for people, and what retry.h wants to know of a failure.
#include "level1-user/client_answer.h"

#include <stdio.h>
#include <string.h>

#include "level1-user/hidden.h"

// ---- in one sentence, for people ----------------------------------------------------------------

static enum status explain_time(const struct client_answer *a, struct error *err) {
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

static enum status explain_transfer(const struct client_answer *a, CURLcode result,
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
static enum status explain_refusal(struct client_answer *a, struct error *err) {
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

static enum status take_whole(struct client_answer *a, struct error *err) {
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

static enum status finish(struct client_answer *a, CURLcode result, struct error *err) {
    struct reply *r = a->call->reply;
    const char *where = a->client->where;

    if (client_is_cancelled(a->call)) return error_set(err, ERR_STATE, "cancelled");
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

// ---- in the words of retry.h --------------------------------------------------------------------

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

static enum retry_end end_of(const struct client_answer *a, CURLcode result,
                             enum status st) {
    if (st == ERR_STATE) return RETRY_HOPELESS; // cancelled
    if (a->http_status != 0 && a->http_status != 200) return RETRY_REFUSED;
    return st == ERR_IO && is_loss(result) ? RETRY_LOST : RETRY_HOPELESS;
}

static void note_failure(const struct client_answer *a, CURLcode result, enum status st) {
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

enum status client_answer_end(struct client_answer *a, CURLcode result, struct error *err) {
    enum status st = finish(a, result, err);
    if (st != OK) note_failure(a, result, st);
    if (st != OK && err) hide_secret(err->text, a->client->api_key);
    return st;
}
