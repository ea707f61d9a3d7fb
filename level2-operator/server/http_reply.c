// Answers on evhttp. It would send a body with HEAD, and an HTML page with an error: both are done
// here instead.
#include "level2-operator/server/http_reply.h"

#include <event2/buffer.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char no_memory[] =
    "{\"error\":{\"message\":\"out of memory\",\"type\":"
    "\"server_error\",\"param\":null,\"code\":\"internal_error\"}}";

// What a status is called, where we send it: RFC 9110, section 15, and for 507 RFC 4918.
static const struct {
    int status;
    const char *reason;
} reasons[] = {
    {200, "OK"                   },
    {204, "No Content"           },
    {400, "Bad Request"          },
    {401, "Unauthorized"         },
    {404, "Not Found"            },
    {405, "Method Not Allowed"   },
    {408, "Request Timeout"      },
    {409, "Conflict"             },
    {413, "Content Too Large"    },
    {429, "Too Many Requests"    },
    {500, "Internal Server Error"},
    {503, "Service Unavailable"  },
    {504, "Gateway Timeout"      },
    {507, "Insufficient Storage" },
};

const char *http_reply_reason(int status) {
    for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
        if (reasons[i].status == status) return reasons[i].reason;
    }
    return ""; // the reason may be empty
}

static bool is_head(struct evhttp_request *req) {
    return evhttp_request_get_command(req) == EVHTTP_REQ_HEAD;
}

void http_reply_header(struct evhttp_request *req, const char *name, const char *value) {
    struct evkeyvalq *headers = evhttp_request_get_output_headers(req);
    evhttp_remove_header(headers, name);
    evhttp_add_header(headers, name, value);
}

static void number_header(struct evhttp_request *req, const char *name, size_t value) {
    char text[32];
    snprintf(text, sizeof(text), "%zu", value);
    http_reply_header(req, name, text);
}

void http_reply_body(struct evhttp_request *req, int status, const char *type,
                     const char *body, size_t n_body) {
    struct evbuffer *bytes = evbuffer_new();
    if (body) {
        http_reply_header(req, "Content-Type", type);
        number_header(req, "Content-Length", n_body);
        if (bytes && !is_head(req)) evbuffer_add(bytes, body, n_body);
    }
    evhttp_send_reply(req, status, http_reply_reason(status), bytes);
    if (bytes) evbuffer_free(bytes);
}

void http_reply_json(struct evhttp_request *req, int status, const char *body,
                     size_t n_body) {
    http_reply_body(req, status, "application/json", body, n_body);
}

void http_reply_error_body(struct evhttp_request *req, const struct api_error *e,
                           const char *body, size_t n_body) {
    if (e->retry_after_s > 0) number_header(req, "Retry-After", (size_t)e->retry_after_s);
    http_reply_json(req, e->http_status, body ? body : no_memory,
                    body ? n_body : sizeof(no_memory) - 1);
}

void http_reply_error(struct evhttp_request *req, const struct api_error *e,
                      const char *message) {
    size_t n_body = 0;
    char *body = api_error_body(e, message, NULL, &n_body);
    http_reply_error_body(req, e, body, n_body);
    free(body);
}

void http_stream_start(struct evhttp_request *req) {
    http_reply_header(req, "Content-Type", "text/event-stream");
    http_reply_header(req, "Cache-Control", "no-cache");
    http_reply_header(req, "X-Accel-Buffering", "no"); // nginx: pass each event on at once
    bool has_chunks = req->major > 1 || (req->major == 1 && req->minor >= 1);
    if (!has_chunks)
        http_reply_header(req, "Connection", "close"); // HTTP/1.0: ends by closing
    evhttp_send_reply_start(req, 200, http_reply_reason(200));
}

void http_stream_data(struct evhttp_request *req, const char *bytes, size_t n_bytes) {
    struct evbuffer *piece = evbuffer_new();
    if (!piece) return;
    evbuffer_add(piece, bytes, n_bytes);
    evhttp_send_reply_chunk(req, piece);
    evbuffer_free(piece);
}

void http_stream_end(struct evhttp_request *req) {
    evhttp_send_reply_end(req);
}
