// One request and its reply, from begin to the reply handed over. Exactly one line in the access
// log for each, whatever happens; and every count taken at the door is given back there.
//
//   begin ──▶ refuse                      an error, found by the loop
//         ──▶ reply                       known to the loop (health, models)
//         ──▶ job ──▶ deliver: REPLY      the worker's answer
//                 ──▶ deliver: HEAD, DATA ..., END
//                 ──▶ gone                the client left
#ifndef LEVEL2_HTTP_EXCHANGE_H
#define LEVEL2_HTTP_EXCHANGE_H

#include "level2-operator/api/api_error.h"
#include "level2-operator/server/http_server.h"

// Also writes the headers that every reply has: X-Request-Id, and what CORS allows.
void http_exchange_begin(struct http_server *s, struct http_connection *c,
                         struct evhttp_request *req);

// body NULL: none. All three end the exchange.
void http_exchange_reply(struct http_server *s, struct http_connection *c, int status,
                         const char *body, size_t n_body);
void http_exchange_text(struct http_server *s, struct http_connection *c, const char *type,
                        const char *body, size_t n_body);
void http_exchange_refuse(struct http_server *s, struct http_connection *c,
                          const struct api_error *e, const char *message);

// Hands the request to the worker. ERR_BUSY: the queue is full, the body is freed.
enum status http_exchange_job(struct http_server *s, struct http_connection *c,
                              struct job *job, struct error *err);

// From the worker. Takes d->bytes; a delivery for somebody who has left is thrown away.
void http_exchange_deliver(struct http_server *s, struct delivery *d);

// Ends all requests that are with the worker before their answers are there: by an error if nothing of
// the answer is out yet, else by an event that says so. The worker is told to drop them.
void http_exchange_abort_all(struct http_server *s, const struct api_error *e,
                             const char *message);

// For struct http_connections.
void http_exchange_refused(void *server, const struct api_error *e);
void http_exchange_gone(void *server, struct http_connection *c);
void http_exchange_silent(void *server, struct http_connection *c);
void http_exchange_expired(void *server, struct http_connection *c);

// Tells the worker what it does not know yet: who has left, and which models come and go. What finds
// no room in its queue is told soon.
void http_exchange_tell(struct http_server *s);

#endif
