// What passes between the HTTP loop and the text worker. One exchange is one HTTP request and its
// reply. The loop knows sockets and never blocks; the worker knows JSON, templates and tokens.
//
//   HTTP loop ──jobs──▶ text worker ──submit──▶ engine
//       ▲                   │  ▲                  │
//       └───deliveries──────┘  └─────events───────┘
//
// Both queues are bounded rings. Bytes are malloc'd by the sender and freed by the receiver.
#ifndef LEVEL2_EXCHANGE_H
#define LEVEL2_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/os.h"
#include "common/ring.h"

struct served;

typedef uint64_t exchange_id; // never 0, never reused

enum route {
    ROUTE_CHAT,           // POST /v1/chat/completions
    ROUTE_COMPLETIONS,    // POST /v1/completions
    ROUTE_TOKENIZE,       // POST /tokenize
    ROUTE_DETOKENIZE,     // POST /detokenize
    ROUTE_APPLY_TEMPLATE, // POST /apply-template
    ROUTE_COUNT
};

enum job_kind {
    JOB_REQUEST, // a whole request
    JOB_GONE, // the client of this exchange left: cancel, say what he used and nothing more
    JOB_SERVE,  // requests may come for the model that is in this place now
    JOB_RETIRE, // no request will come for it any more, and none is left: forget it
    JOB_STOP    // cancel everything and return
};

struct job { // loop -> worker
    enum job_kind kind;
    exchange_id exchange;
    enum route route;
    int i_model; // the place of the model (lifecycle.h): JOB_REQUEST, JOB_SERVE, JOB_RETIRE
    const struct served *served; // JOB_SERVE: copied by the receiver
    char *body;                  // owned by the receiver; NUL-terminated behind n_body
    size_t n_body;
    uint64_t cache_scope; // of the API key
    int64_t arrived_ns;   // when the request was complete
};

enum delivery_kind {
    DELIVER_REPLY, // status and whole JSON body; the exchange is over
    DELIVER_HEAD, // an event stream: 200 and its headers go out with the first event or ping
    DELIVER_DATA, // bytes of the stream, whole events
    DELIVER_END,  // the stream is complete; the exchange is over
    DELIVER_USED  // the client has left; this is what his key pays for all the same
};

struct delivery { // worker -> loop
    enum delivery_kind kind;
    exchange_id exchange;
    int http_status;   // DELIVER_REPLY
    int retry_after_s; // DELIVER_REPLY; 0: no header
    char *bytes;       // owned by the receiver; NULL if none
    size_t n_bytes;
    bool has_failed;      // DELIVER_DATA: the stream ends with an error
    const char *code;     // DELIVER_REPLY of an error; NULL: null
    uint64_t cache_scope; // DELIVER_USED: of the job
    // DELIVER_REPLY and DELIVER_END of an answer, for log and metrics; the counts of DELIVER_USED
    int n_prompt, n_cached, n_completion;
    int64_t queue_ns;          // that its first choice waited for the engine
    int64_t first_ns;          // its first token was drawn; 0: there is none
    const char *finish_reason; // of the first choice; NULL: none
};

struct exchange_queues {
    struct ring jobs;             // of struct job
    struct os_signal jobs_signal; // raised after a put
    struct ring deliveries;       // of struct delivery
    struct os_signal deliveries_signal;
};

enum status exchange_queues_open(struct exchange_queues *q, struct arena *arena,
                                 struct error *err);
void exchange_queues_close(struct exchange_queues *q); // frees what is still inside

#endif
