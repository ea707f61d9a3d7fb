// Reading JSON from strangers: depth and size are bounded before the library sees a byte.
#include "level2-operator/text/json_input.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/json_size.h"
#include "common/limits.h"

static enum status check_size(const char *bytes, size_t n_bytes, struct error *err) {
    switch (json_size_of(bytes, n_bytes)) {
    case JSON_TOO_DEEP:
        return error_set(err, ERR_LIMIT, "the body nests deeper than %d levels",
                         LIMIT_JSON_DEPTH);
    case JSON_TOO_MANY:
        return error_set(err, ERR_LIMIT, "the body holds more than %d values",
                         LIMIT_JSON_VALUES);
    default:
        return OK;
    }
}

enum status json_input_parse(json_t **body, const char *bytes, size_t n_bytes,
                             struct error *err) {
    json_error_t why;

    *body = NULL;
    enum status st = check_size(bytes, n_bytes, err);
    if (st) return st;

    json_t *root = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES, &why);
    if (!root) {
        bool has_reason = why.text[0] && json_error_code(&why) != json_error_out_of_memory;
        if (!has_reason) { // the library falls silent where it cannot allocate
            return error_set(err, ERR_MEMORY, "no memory for a body of %zu bytes", n_bytes);
        }
        return error_set(err, ERR_FORMAT,
                         "the body is not valid JSON: %s (line %d, column %d)", why.text,
                         why.line, why.column);
    }
    if (!json_is_object(root)) {
        json_decref(root);
        return error_set(err, ERR_INPUT, "the body must be a JSON object");
    }
    *body = root;
    return OK;
}

const json_t *json_input_find(const struct json_input *in, const char *name) {
    const json_t *value = json_object_get(in->object, name);
    return json_is_null(value) ? NULL : value;
}

enum status json_input_refuse(const struct json_input *in, const char *name,
                              enum status code, const char *what, struct error *err) {
    char param[sizeof(err->param)];
    snprintf(param, sizeof(param), "%s%s", in->path, name);
    return error_set_param(err, code, param, "%s %s", param, what);
}

enum status json_input_refuse_count(const struct json_input *in, const char *name, size_t n,
                                    int n_most, struct error *err) {
    char what[80];
    snprintf(what, sizeof(what), "holds %zu entries; at most %d are taken", n, n_most);
    return json_input_refuse(in, name, ERR_LIMIT, what, err);
}

enum status json_input_int(int64_t *value, const struct json_input *in, const char *name,
                           int64_t low, int64_t high, struct error *err) {
    const json_t *field = json_input_find(in, name);
    char what[96];

    if (!field) return OK;
    if (!json_is_integer(field)) {
        return json_input_refuse(in, name, ERR_INPUT, "must be an integer", err);
    }
    if (json_integer_value(field) < low || json_integer_value(field) > high) {
        snprintf(what, sizeof(what), "must be from %" PRId64 " to %" PRId64, low, high);
        return json_input_refuse(in, name, ERR_INPUT, what, err);
    }
    *value = json_integer_value(field);
    return OK;
}

enum status json_input_double(double *value, const struct json_input *in, const char *name,
                              double low, double high, struct error *err) {
    const json_t *field = json_input_find(in, name);
    char what[96];

    if (!field) return OK;
    if (!json_is_number(field)) {
        return json_input_refuse(in, name, ERR_INPUT, "must be a number", err);
    }
    if (json_number_value(field) < low || json_number_value(field) > high) {
        snprintf(what, sizeof(what), "must be from %g to %g", low, high);
        return json_input_refuse(in, name, ERR_INPUT, what, err);
    }
    *value = json_number_value(field);
    return OK;
}

enum status json_input_bool(bool *value, const struct json_input *in, const char *name,
                            struct error *err) {
    const json_t *field = json_input_find(in, name);

    if (!field) return OK;
    if (!json_is_boolean(field)) {
        return json_input_refuse(in, name, ERR_INPUT, "must be true or false", err);
    }
    *value = json_is_true(field);
    return OK;
}

enum status json_input_string(const char **value, size_t *n_bytes,
                              const struct json_input *in, const char *name,
                              struct error *err) {
    const json_t *field = json_input_find(in, name);

    if (!field) return OK;
    if (!json_is_string(field)) {
        return json_input_refuse(in, name, ERR_INPUT, "must be a string", err);
    }
    *value = json_string_value(field);
    *n_bytes = json_string_length(field);
    return OK;
}
