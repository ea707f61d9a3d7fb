// The JSON of a server's answer: parsed once, then asked for fields. Absent and null are the same
// here: nothing was told. What json_object_get and its like return belongs to the object: no decref.
#ifndef LEVEL1_ANSWER_JSON_H
#define LEVEL1_ANSWER_JSON_H

#include <jansson.h>
#include <stddef.h>

#include "common/status.h"

// *root: the caller's, to json_decref. A key that stands twice is refused; "\u0000" in a string is a
// byte like any other. ERR_FORMAT: no JSON, or bytes that are no UTF-8; ERR_MEMORY. After an error
// *root is NULL.
enum status answer_json_parse(json_t **root, const char *bytes, size_t n_bytes,
                              struct error *err);

// *string: NULL when the field is absent or null. ERR_FORMAT: it is no string. object may be NULL or
// null: then all its fields are absent.
enum status answer_json_string(const json_t **string, const json_t *object,
                               const char *name, struct error *err);

// The same, copied to out and cut to out_bytes with its NUL. An absent or null field leaves out alone.
enum status answer_json_copy(char *out, size_t out_bytes, const json_t *object,
                             const char *name, struct error *err);

#endif
