// An answer under way, between client.c, which takes it in, and client_outcome.c, which says how it ended.
// For these two files alone.
#ifndef LEVEL1_CLIENT_ANSWER_H
#define LEVEL1_CLIENT_ANSWER_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "level1-user/client.h"
#include "level1-user/events.h"

struct client_answer {
    struct client *client;
    struct client_call *call;
    struct sse_parser events;
    struct text body; // of what is not an event stream
    bool has_begun;   // status and type are known
    bool is_stream;
    bool is_enough; // of an error: the rest is not read
    long http_status;
    char type[64];      // "text/html", "" if none
    int64_t n_received; // bytes of an answer with status 200
    int64_t heard_ns;   // when the last byte came, of a header too; or the start
    enum { IN_TIME, TOO_SILENT, TOO_LATE } time;
    enum status status;
    struct error err; // if status is not OK
};

// How the call ended: OK, or a status and one sentence as client_chat promises them. result: what
// libcurl says of the transfer. A failure goes into call->failure, too, in the words of retry.h.
enum status client_answer_end(struct client_answer *a, CURLcode result, struct error *err);

#endif
