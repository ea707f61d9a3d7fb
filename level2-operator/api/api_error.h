// The error object of the OpenAI API, and which HTTP status an error of ours becomes.
//
//   {"error": {"message": "...", "type": "...", "param": "..." | null, "code": "..." | null}}
//
// All four keys are always there; code is a string, never the HTTP number.
#ifndef LEVEL2_API_ERROR_H
#define LEVEL2_API_ERROR_H

#include <stddef.h>

#include "common/status.h"

struct api_error {
    int http_status;
    const char *type;  // "invalid_request_error", "rate_limit_error", "server_error"
    const char *code;  // "context_length_exceeded", ...; NULL: null
    int retry_after_s; // 0: no Retry-After header
};

// The row of the table that err->code belongs to.
struct api_error api_error_of(const struct error *err);

// The body for any row: api_error_of's, or one that the caller writes down, as for 401, 404, 405
// and 413. param NULL or "": null. Invalid UTF-8 in message or param is repaired.
// malloc'd, NUL-terminated behind n_bytes (which may be NULL); NULL: no memory.
char *api_error_body(const struct api_error *e, const char *message, const char *param,
                     size_t *n_bytes);

#endif
