// A request of /v1/chat/completions or /v1/completions, from JSON to checked values. What is not
// here is either ignored (metadata, unknown names) or refused by name (not built yet).
//
//   body ──json_input──▶ fields ──▶ api_chat | api_completions ──▶ messages | prompts
//                           └─────▶ api_sampling ────────────────▶ engine_params
#ifndef LEVEL2_API_REQUEST_H
#define LEVEL2_API_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/engine.h"
#include "common/log.h"
#include "common/status.h"
#include "level2-operator/api/exchange.h"
#include "level2-operator/api/stop.h"
#include "level2-operator/model/sampling_defaults.h"
#include "level2-operator/template/chat.h"
#include "level2-operator/text/json_input.h"

// One prompt of /v1/completions: a text, or ids that are already checked.
struct api_prompt {
    const char *text; // NULL: ids
    size_t n_text;
    const token_id *ids;
    int n_ids;
};

struct api_request {
    // owned: strings below point into it; arrays live in the arena of the parse
    json_t *body;
    // what is asked
    enum route route;
    const char *model;             // not checked: only the caller knows what is served
    struct chat_message *messages; // (n_messages), chat
    int n_messages;
    bool add_generation_prompt;
    const json_t *template_variables; // an object, or NULL
    struct api_prompt *prompts;       // (n_prompts), completions
    int n_prompts;
    // how it is to be answered
    int n; // answers per prompt, >= 1; times n_prompts at most LIMIT_CHOICES
    // prompt and choice are left to the caller; max_tokens 0: as many as the context leaves
    struct engine_params params;
    bool has_seed;
    struct stop_string stops[LIMIT_STOP_STRINGS];
    int n_stops;
    bool include_stop; // the stop string is part of the answer
    bool show_special; // so are control tokens
    bool stream, include_usage;
    const char *cache_salt; // NULL: none
};

// What a request is read against.
struct api_model {
    int n_vocab; // ids must be below it
    // of fields that are left out; NULL: the API's
    const struct sampling_defaults *sampling;
};

// Unknown fields are named on the log. On failure r is closed.
enum status api_request_parse(struct api_request *r, enum route route, const char *bytes,
                              size_t n_bytes, const struct api_model *model,
                              const struct log *log, struct arena *arena,
                              struct error *err);

// Safe on a zeroed request.
void api_request_free(struct api_request *r);

// Its parts, one file each. All read the body's fields into r.
enum status api_fields_check(const struct json_input *in, const struct log *log,
                             struct error *err);
enum status api_chat_read(struct api_request *r, const struct json_input *in,
                          struct arena *arena, struct error *err);
// What its template is given. n_body: bytes of the request.
struct chat_request api_chat_request(const struct api_request *r, size_t n_body);
enum status api_completions_read(struct api_request *r, const struct json_input *in,
                                 int n_vocab, struct arena *arena, struct error *err);
enum status api_sampling_read(struct api_request *r, const struct json_input *in,
                              const struct api_model *model, struct arena *arena,
                              struct error *err);

// An array of token ids, each below n_vocab, as `prompt`, `stop_token_ids` and /detokenize take
// it. name: the field, for errors. *ids lies in the arena.
enum status api_ids_read(const token_id **ids, int *n_ids, const json_t *array,
                         const struct json_input *in, const char *name, int n_vocab,
                         struct arena *arena, struct error *err);

#endif
