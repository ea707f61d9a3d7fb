// The quota of a request's key, at the door and at the end. Without keys, or for a key that is no
// longer known, nothing happens.
#ifndef LEVEL2_HTTP_QUOTA_H
#define LEVEL2_HTTP_QUOTA_H

#include "level2-operator/server/http_server.h"

// false: refused with 429, and answered. Else it is counted, and the reply will have OpenAI's
// headers x-ratelimit-{limit,remaining,reset}-{requests,tokens} as far as there are limits.
bool http_quota_enter(struct http_server *s, struct http_connection *c);

void http_quota_undo(struct http_server *s, struct http_connection *c); // others refused it
void http_quota_leave(struct http_server *s, struct http_connection *c, int n_tokens);

// What a request of this scope used whose client left before the end of its answer.
void http_quota_charge(struct http_server *s, uint64_t scope, int n_tokens);

// The keys were read again: who is inside counts for his key, also if it was forgotten for a while.
void http_quota_recount(struct http_server *s);

#endif
