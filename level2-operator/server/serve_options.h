// The command line of serve.
#ifndef LEVEL2_SERVE_OPTIONS_H
#define LEVEL2_SERVE_OPTIONS_H

#include "common/arena.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/status.h"
#include "level2-operator/server/http_cors.h"
#include "level2-operator/server/http_keys.h"
#include "level2-operator/service/fault.h"

struct serve_options {
    const char *model;                   // path
    const char *pre, *chat;              // in place of the file's; NULL
    char model_id[LIMIT_MODEL_ID_BYTES]; // what clients call it
    bool api_sampling;                   // not the model's own defaults
    const char *host;
    int port;
    int n_threads;
    int n_ctx;     // 0: the engine's choice
    int step_rows; // prompt tokens in one step
    uint64_t memory_bytes;
    int max_waiting; // requests
    int drain_s;
    int ping_ms;
    double hourly_price; // of this machine; 0: unknown
    const char *trace;   // path; NULL: off
    int request_s;       // that a request may take
    int stall_s;         // that a step may take
    struct fault fault;
    struct log log;
    bool log_prompts;
    struct http_keys keys;
    const char *key_file;        // path; NULL: none
    struct http_keys admin_keys; // none: there are no paths of an administrator
    const char *admin_dir;       // below which other models lie
    struct http_cors cors;
};

// CLI_GO_ON, or the program's exit status; what was wrong has been printed.
int serve_options_parse(struct serve_options *o, int argc, char **argv,
                        struct arena *arena);

// The last words of a program that failed; its exit status.
int serve_fail(const struct error *err);

#endif
