// Strict about types, easy about absence: servers differ in which fields they send, but a field of a
// wrong type means that this is not the API we think it is.
#include "level1-user/answer_json.h"

#include <stdio.h>

#include "common/json_size.h"
#include "common/limits.h"

enum status answer_json_parse(json_t **root, const char *bytes, size_t n_bytes,
                              struct error *err) {
    json_error_t at;
    *root = NULL;
    if (json_size_of(bytes, n_bytes) != JSON_FITS)
        return error_set(err, ERR_LIMIT,
                         "the server's answer holds more than %d values, or nests deeper "
                         "than %d levels",
                         LIMIT_JSON_VALUES, LIMIT_JSON_DEPTH);
    *root = json_loadb(bytes, n_bytes, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &at);

    // Without memory, jansson falls silent, or blames the text: then so do we.
    if (!*root && (!*at.text || json_error_code(&at) == json_error_out_of_memory)) {
        return error_set(err, ERR_MEMORY, "no memory for the server's answer");
    }
    if (!*root)
        return error_set(err, ERR_FORMAT, "the server's answer is no JSON: %s", at.text);
    return OK;
}

enum status answer_json_string(const json_t **string, const json_t *object,
                               const char *name, struct error *err) {
    *string = json_object_get(object, name);
    if (!*string || json_is_null(*string)) {
        *string = NULL;
        return OK;
    }
    if (json_is_string(*string)) return OK;
    return error_set(err, ERR_FORMAT, "the server's answer: \"%s\" is not a string", name);
}

enum status answer_json_copy(char *out, size_t out_bytes, const json_t *object,
                             const char *name, struct error *err) {
    const json_t *string;
    enum status st = answer_json_string(&string, object, name, err);
    if (st == OK && string) snprintf(out, out_bytes, "%s", json_string_value(string));
    return st;
}
