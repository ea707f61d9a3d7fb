// Errors as the OpenAI API writes them.
#include "level2-operator/api/api_error.h"

#include <jansson.h>
#include <string.h>

#include "level2-operator/text/json_output.h"

static const char invalid[] = "invalid_request_error";
static const char server[] = "server_error";

struct api_error api_error_of(const struct error *err) {
    switch (err->code) {
    case ERR_UNSUPPORTED:
        if (strcmp(err->param, "model") == 0) { // well formed, but not what is served
            return (struct api_error){404, invalid, "model_not_found", 0};
        }
        return (struct api_error){400, invalid, NULL, 0};
    case ERR_FORMAT:
    case ERR_INPUT:
    case ERR_LIMIT:
        return (struct api_error){400, invalid, NULL, 0};
    case ERR_CONTEXT:
        return (struct api_error){400, invalid, "context_length_exceeded", 0};
    case ERR_BUSY:
        return (struct api_error){429, "rate_limit_error", "queue_full", 1};
    case ERR_STATE:
        return (struct api_error){503, server, "unavailable", 1};
    default:
        return (struct api_error){500, server, "internal_error", 0};
    }
}

static json_t *text_or_null(const char *text) {
    return text && *text ? json_output_text(text, strlen(text)) : json_null();
}

char *api_error_body(const struct api_error *e, const char *message, const char *param,
                     size_t *n_bytes) {
    // json_pack takes all references ("o"), also when it fails; a NULL among them fails it.
    json_t *body =
        json_pack("{s:{s:o, s:s, s:o, s:s?}}", "error", "message", text_or_null(message),
                  "type", e->type, "param", text_or_null(param), "code", e->code);
    char *bytes = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (bytes && n_bytes) *n_bytes = strlen(bytes);
    return bytes;
}
