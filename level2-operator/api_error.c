// Errors as the OpenAI API writes them.
#include "level2-operator/api_error.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "common/utf8.h"

static const char invalid[] = "invalid_request_error";
static const char server[] = "server_error";

struct api_error api_error_of(const struct error *err) {
    switch (err->code) {
    case ERR_FORMAT:
    case ERR_INPUT:
    case ERR_UNSUPPORTED:
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

// A JSON string, or null for NULL and "". NULL: no memory.
static json_t *string_or_null(const char *text) {
    if (!text || !*text) return json_null();
    size_t n = strlen(text);
    if (utf8_valid(text, n)) return json_stringn(text, n);

    char *repaired = malloc(3 * n);
    if (!repaired) return NULL;
    json_t *value = json_stringn(repaired, utf8_repair(repaired, text, n));
    free(repaired);
    return value;
}

char *api_error_body(const struct api_error *e, const char *message, const char *param,
                     size_t *n_bytes) {
    // json_pack takes all references ("o"), also when it fails; a NULL among them fails it.
    json_t *body =
        json_pack("{s:{s:o, s:s, s:o, s:s?}}", "error", "message", string_or_null(message),
                  "type", e->type, "param", string_or_null(param), "code", e->code);
    char *bytes = body ? json_dumps(body, JSON_COMPACT) : NULL;
    json_decref(body);
    if (bytes && n_bytes) *n_bytes = strlen(bytes);
    return bytes;
}
