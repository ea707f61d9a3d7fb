// Writing answers to one evhttp request: a JSON document, an error, or an event stream.
//
// do:    add headers of your own before the call
// don't: touch the request after http_reply_json, http_reply_error(_body) or http_stream_end: it is gone
#ifndef LEVEL2_HTTP_REPLY_H
#define LEVEL2_HTTP_REPLY_H

#include <stddef.h>

#include "level2-operator/api/api_error.h"

struct evhttp_request;

const char *http_reply_reason(int status); // "Not Found", ...; "": none that we send

void http_reply_header(struct evhttp_request *req, const char *name, const char *value);

// Status and a body of this media type; body NULL: none.
void http_reply_body(struct evhttp_request *req, int status, const char *type,
                     const char *body, size_t n_body);
void http_reply_json(struct evhttp_request *req, int status, const char *body,
                     size_t n_body);

// The OpenAI error object, and Retry-After if the error has one. The second takes the body that
// api_error_body made, for whom must know its length; NULL: there was no memory for it.
void http_reply_error(struct evhttp_request *req, const struct api_error *e,
                      const char *message);
void http_reply_error_body(struct evhttp_request *req, const struct api_error *e,
                           const char *body, size_t n_body);

// 200 and the headers of an event stream; bytes follow piece by piece, each sent at once.
void http_stream_start(struct evhttp_request *req);
void http_stream_data(struct evhttp_request *req, const char *bytes, size_t n_bytes);
void http_stream_end(struct evhttp_request *req);

#endif
