// A JSON body from a stranger, and the fields of its objects. Every reader checks type and range
// and says in err->param which field is wrong: "temperature", "messages[0].content".
//
// do:    set a default, then read: absent and null leave the value as it is
// don't: keep a string past json_decref of the body
#ifndef LEVEL2_JSON_INPUT_H
#define LEVEL2_JSON_INPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/status.h"

// An object of the body and where it stands there.
struct json_input {
    const json_t *object; // borrowed
    char path[48];        // in front of its fields' names: "" or "messages[0]."
};

// The body must be one object: valid UTF-8, no NUL, no key twice, at most LIMIT_JSON_DEPTH deep and
// LIMIT_JSON_VALUES large. ERR_FORMAT, ERR_INPUT, ERR_LIMIT, ERR_MEMORY. *body is the caller's.
enum status json_input_parse(json_t **body, const char *bytes, size_t n_bytes,
                             struct error *err);

// The value of a field; NULL when it is absent or null.
const json_t *json_input_find(const struct json_input *in, const char *name);

// Ranges include both ends.
enum status json_input_int(int64_t *value, const struct json_input *in, const char *name,
                           int64_t low, int64_t high, struct error *err);
enum status json_input_double(double *value, const struct json_input *in, const char *name,
                              double low, double high, struct error *err);
enum status json_input_bool(bool *value, const struct json_input *in, const char *name,
                            struct error *err);
enum status json_input_string(const char **value, size_t *n_bytes,
                              const struct json_input *in, const char *name,
                              struct error *err);

// For checks of one's own: the error names the field with its path. what: "must be ...".
enum status json_input_refuse(const struct json_input *in, const char *name,
                              enum status code, const char *what, struct error *err);

// For an array of n entries where a limit allows n_most.
enum status json_input_refuse_count(const struct json_input *in, const char *name, size_t n,
                                    int n_most, struct error *err);

#endif
